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

// `toggle_rate`: of the application's data; absent: the prior. Errors: out_of_range (the rate),
// those of reading.
[[nodiscard]] Result<CrossingTraffic> crossing_traffic(const model::CrossingModel& model,
                                                       const std::vector<std::string>& counters,
                                                       const std::string& architecture,
                                                       std::optional<double> toggle_rate);

}  // namespace ww::cli
