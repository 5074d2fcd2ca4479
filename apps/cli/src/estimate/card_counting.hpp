// Counting a program on a real card before its wires are estimated.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/session/traffic.hpp"

namespace ww::cli {

// Describes the runs before anything runs.
struct CountingPlan {
  microbench::DeviceChoice card;
  std::string architecture;                        // without features: "gfx90a"
  std::optional<measure::CountingSdk> inside;      // counts in the program, without a profiler
  measure::InstalledProfiler profiler;             // else
  int runs{};                                      // of the program
  std::string kernels;                             // regular expression of names; empty: all
  std::optional<std::chrono::milliseconds> limit;  // of each run
};

// `asked`: --arch, which is used where the card's own is not known. Errors, none of which costs a
// run: invalid_argument (the architecture is not known, or not the card's), unsupported (no
// counters are known for it), missing_dependency (no profiler; with the line that counts the
// program elsewhere), not_found (no such program).
[[nodiscard]] Result<CountingPlan> plan_counting(const microbench::DeviceChoice& card,
                                                 const std::string& asked,
                                                 const std::vector<std::string>& command);

// "counting ./app on hip:0 (gfx90a) with rocprofv3, which runs it 2 times".
[[nodiscard]] std::string to_text(const CountingPlan& plan,
                                  const std::vector<std::string>& command);

struct CountedOnCard {
  session::CountedDispatches counted;
  int exit_code{};  // of the program
};
// `quiet`: throws the program's stdout away. Errors: those of measure::profile and
// measure::profile_in_process.
[[nodiscard]] Result<CountedOnCard> count_on_card(const CountingPlan& plan,
                                                  const std::vector<std::string>& command,
                                                  bool quiet);

}  // namespace ww::cli
