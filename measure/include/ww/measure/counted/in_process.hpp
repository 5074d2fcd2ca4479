// Counts a program from inside, through rocprofiler-sdk and wirewatt's tool library: without a
// profiler, on cards of AMD.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"

namespace ww::measure {

struct CountingSdk {
  std::string library;  // its file
  std::string release;  // "1.0.0"
  // Whether rocprofiler-register finds it by itself: by the name without a version.
  bool found_by_name{};
};
// Looks for the SDK, in a child. Errors: missing_dependency (what was looked for), unsupported (a
// release whose counts are wrong, or a newer interface), and those of run_in_child.
[[nodiscard]] Result<CountingSdk> find_counting_sdk();

// Finds the SDK for a part. It looks for nothing where the part is not AMD's, or where wirewatt's
// own library is missing. Errors: also unsupported (a part that the SDK does not count on).
[[nodiscard]] Result<CountingSdk> find_counting_sdk(std::string_view architecture);

// wirewatt's tool library beside the running program. Errors: missing_dependency (not there),
// unsupported (a path that the list of tools cannot hold), those of check_loadable.
[[nodiscard]] Result<std::filesystem::path> tool_library();

// Says how counting changes a part's clocks and power; empty where nothing is known. `release`: of
// the SDK.
[[nodiscard]] std::string counting_disturbs(std::string_view architecture,
                                            const std::string& release);

// Whether programs of this machine can load a library: a tool that cannot be loaded ends them. The
// machine's own loader is asked, since a bundle's wirewatt may run on a C library that it brought
// along. Error unsupported: the loader's words.
[[nodiscard]] Status check_loadable(const std::filesystem::path& library);

struct InProcessRequest {
  std::string architecture;             // "gfx90a"
  std::vector<std::string> command;     // the program and its arguments
  std::vector<std::string> counters{};  // empty: mapped_counters(architecture)
  bool quiet{};                         // throw the program's stdout away
  bool silent{};                        // and its stderr
  std::string kernels{};  // regular expression of the names of those to count; empty: all
  // Longest time of a run. The program is then ended: kernels that await one another never end.
  std::optional<std::chrono::milliseconds> limit{};
};
struct InProcessProfile {
  CounterFile counters;
  int exit_code{};                    // of the program's first run
  int runs{};                         // of the program
  std::vector<std::string> warnings;  // what may be wrong with the counts
};

// How often the program runs for the counters.
[[nodiscard]] int in_process_runs(const std::vector<std::string>& counters);

// Runs the program once for each set of counters that the hardware counts together, in the
// foreground, with its own output in the first run only. Launches run one at a time. A counter that
// was not counted is missing from its launches, with the reason. Errors: bad_data (no kernel ran;
// passes that do not match), device_error (the tool library was never loaded), unsupported (the SDK
// refused), invalid_argument (no kernel has such a name), out_of_range (the limit was not enough),
// cancelled, and those of run_in_foreground.
[[nodiscard]] Result<InProcessProfile> profile_in_process(const CountingSdk& sdk,
                                                          const InProcessRequest& request);

// Whether an error of profile_in_process says that the program never loaded the tool library: a
// profiler may still count it.
[[nodiscard]] bool was_never_loaded(const Error& error);

struct CountedCommand {
  CounterFile counters;
  std::string by;                     // "rocprofiler-sdk 1.0.0 inside it", "rocprofv3"
  std::vector<std::string> warnings;  // what may be wrong with the counts
};
// Counts a program whose output nobody wants to see: from inside where the SDK is installed, else
// by the best profiler. Errors: those of profile_in_process and profile.
[[nodiscard]] Result<CountedCommand> count_command(const std::string& architecture,
                                                   const std::vector<std::string>& command);

// The value of ROCP_TOOL_LIBRARIES: those of the user first. It ends with a colon, since the SDK
// forgets what follows the last one.
[[nodiscard]] std::string tool_list(const std::string& of_user, const std::string& tool);

}  // namespace ww::measure
