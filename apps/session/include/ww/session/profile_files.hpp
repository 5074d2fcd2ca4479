// Finds the counter files of a profile that is named as users name it: a file, or the folder that a
// profiler filled.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::session {

// Lists a profile's counter files, in order of name. A file is its own profile. A folder is
// searched, with the folders in it, for the first of these that is there:
//   pmc_perf.csv                (rocprof-compute; else its pmc_perf_*.csv of single passes)
//   *.db                        (rocpd)
//   *counter_collection.csv     (rocprofv3)
//   the only .csv file          (ncu, rocprof)
// Errors: not_found (no such path; a folder without counters, whose message says what was looked
// for), invalid_argument (several workloads in the folder, which it names), io_error.
[[nodiscard]] Result<std::vector<std::string>> profile_files(const std::string& path);

// Whether a word of a command line names a profile and not a program: a folder, or a name with the
// ending of a profiler's file (.csv, .db), or a file that ncu's table stands in.
[[nodiscard]] bool names_profile(const std::string& word);

}  // namespace ww::session
