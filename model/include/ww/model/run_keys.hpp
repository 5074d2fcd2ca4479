// Keys of StoredRun::counters that no device counts.
#pragma once

#include <fmt/format.h>

#include <string>

namespace ww::run_keys {

// Share of a run's time in which launches ran. Absent where nothing times single launches.
inline constexpr const char* busy_share = "busy_share";
// That share of one pair's turns, in a lock_in run.
[[nodiscard]] inline std::string busy_share_of_turns(int engine, int quadrant) {
  return fmt::format("{}_{}_{}", busy_share, engine, quadrant);
}

}  // namespace ww::run_keys
