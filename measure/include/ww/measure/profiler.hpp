// Starts the vendors' profilers on a program of the user. counter_file.hpp reads their output.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::measure {

// CUPTI is a library that counts inside the program, by wirewatt's own, where ncu is not installed.
enum class Profiler { rocprof_v3, rocprof_v1, ncu, cupti };
[[nodiscard]] std::string_view to_string(Profiler profiler);  // the program's name, or "CUPTI"

// The profilers that can count on an architecture ("gfx90a", "sm_90"; empty: any), best first.
[[nodiscard]] std::vector<Profiler> profilers_for(std::string_view architecture);

struct InstalledProfiler {
  Profiler profiler{};
  std::filesystem::path program;  // of CUPTI the library
};
// Those of them that are on PATH, in the folders of ROCm that rocm_library.hpp knows, or in
// /usr/local/cuda/bin. CUPTI is looked for in LD_LIBRARY_PATH and in CUDA_HOME, else in
// /usr/local/cuda.
[[nodiscard]] std::vector<InstalledProfiler> installed_profilers(std::string_view architecture);

// The counters that the byte mapping of an architecture needs, by the profiler's names, without
// those that stand in for another. Empty if there is no mapping.
[[nodiscard]] std::vector<std::string> mapped_counters(std::string_view architecture);
// The counters of a table, whose architectures all have the same ones.
[[nodiscard]] std::vector<std::string> mapped_counters(const ArchitectureMap& map);
// `counters` without the one that a profiler refused, and with those that stand in for it. Absent
// where the mapping cannot do without it.
[[nodiscard]] std::optional<std::vector<std::string>> without_counter(
    std::string_view architecture, std::vector<std::string> counters, std::string_view refused);

struct ProfileRequest {
  std::string architecture;           // "gfx90a", "sm_90"
  std::vector<std::string> counters;  // empty: mapped_counters(architecture)
  std::vector<std::string> command;   // the program and its arguments
  std::string kernels;                // CUPTI: counts those whose names match it; empty: all
  std::filesystem::path folder;       // keeps the profiler's files; empty: they are removed
  std::chrono::milliseconds limit{std::chrono::minutes(10)};  // for each pass of the program
};

// The file under the profiler's folder that ncu writes its table into, and its messages.
inline constexpr std::string_view kNcuTable = "counters.csv";
// The command line that would be run, with the profiler's input and output under `folder`. ncu
// and CUPTI leave caches and clocks as the program finds them, and count the time of each kernel as
// well.
[[nodiscard]] std::vector<std::string> profiler_command(const InstalledProfiler& profiler,
                                                        const ProfileRequest& request,
                                                        const std::filesystem::path& folder);
// How often the program runs to count so many counters: once for each pass of rocprof; under ncu
// once, where each kernel is repeated instead.
[[nodiscard]] int program_runs(Profiler profiler, std::span<const std::string> counters);
// Shell commands that count a program with the profiler of an architecture, its files
// in the folder "counters"; for users who count it themselves. Empty if there is no mapping.
[[nodiscard]] std::string profiler_line(std::string_view architecture,
                                        const std::vector<std::string>& command);
// The input file of rocprof: "pmc:" lines of at most four counters, one pass of the program each.
[[nodiscard]] std::string rocprof_input(std::span<const std::string> counters);

struct Profile {
  CounterFile counters;
  std::vector<std::string> command;  // as it was run
};
// Runs the program under the profiler and reads its output. Passes are joined by dispatch. Where
// the request names no counters and ncu refuses one that the mapping can do without, the program
// runs again without it.
// Errors: missing_dependency (no profiler, or a library of its own: names the package),
// permission_denied (with the command that allows it), unsupported (a counter that the device has
// not: named), device_error (the profiler or the program failed, or ran past the limit: with its
// last words), not_found (the program), bad_data (passes that do not match, nothing counted), and
// those of parse_counter_file.
[[nodiscard]] Result<Profile> profile(const InstalledProfiler& profiler,
                                      const ProfileRequest& request);
// Profiles with the best installed profiler.
[[nodiscard]] Result<Profile> profile(const ProfileRequest& request);

}  // namespace ww::measure
