// An application's crossings of the L2, from a profiler's files and a calibration of crossings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traffic.hpp"
#include "ww/core/result.hpp"
#include "ww/model/crossing_use.hpp"

namespace ww::cli {

struct CrossingTraffic {
  CountedTraffic traffic;
  model::Interval pj_per_bit;            // of the application's data
  std::vector<model::CrossingUse> uses;  // a row for each kernel, then one for all
};

// `toggle_rate`: of the application's data; absent: the prior. A calibration of another
// architecture than the counters' is refused, or used with the status `transferred` if `anyway` is
// set. Errors: out_of_range (the rate), invalid_argument (another architecture), those of reading.
[[nodiscard]] Result<CrossingTraffic> crossing_traffic(const model::CrossingModel& model,
                                                       const std::vector<std::string>& counters,
                                                       const std::string& architecture,
                                                       std::optional<double> toggle_rate,
                                                       bool anyway);

}  // namespace ww::cli
