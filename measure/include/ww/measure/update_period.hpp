// Finds out from polls how often a sensor's value is refreshed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ww/measure/sensor_recording.hpp"

namespace ww::measure {

struct UpdatePeriod {
  bool resolved{};
  std::string reason;  // why not
  double period_s{};
  double phase_s{};    // one refresh
  double coherence{};  // |mean exp(2 pi i t / period)| of the changes, 0..1
  double contained{};  // share of the changes that a refresh explains
  double poll_s{};     // median time between polls
  std::size_t changes{};
};

// Finds the largest period whose multiples explain when the value changed. Each change lies between
// two polls. Equal values in a row (a steady load, a coarse sensor) are refreshes that do not show,
// so an interval between changes need not be the period. The oldest poll comes first.
[[nodiscard]] UpdatePeriod find_update_period(std::span<const PowerPoint> polls);

// Returns the value of each refresh, at the time of the refresh. Refreshes that no poll saw are
// left out.
[[nodiscard]] std::vector<PowerPoint> refreshes(std::span<const PowerPoint> polls,
                                                const UpdatePeriod& period);

}  // namespace ww::measure
