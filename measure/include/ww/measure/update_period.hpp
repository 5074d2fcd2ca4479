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
  // Not resolved, and neighbouring polls do both show new values: it is refreshed at least once a
  // poll, so that each poll is as good as a refresh.
  bool within_poll{};
  double within_s{};  // how often at least, if so; a little more than a poll where polls are few
  // Shortest time between two steps of power above the noise, if each poll has noise of its own and
  // power is renewed less often. 0 without two steps.
  double steps_apart_s{};
  // Not resolved, because the sensor has two rates: for a good part of the time it holds its value
  // for about so long [s], and refreshes faster at other times. 0 where it has one.
  double held_s{};
  double period_s{};
  double phase_s{};    // one refresh
  double coherence{};  // |mean exp(2 pi i t / period)| of the changes, 0..1
  double contained{};  // share of the changes that a refresh explains
  double poll_s{};     // median time between polls
  std::size_t changes{};
  // The longest usual time between two refreshes [s], as far as the polls show it.
  [[nodiscard]] double refresh_s() const {
    return resolved ? period_s : held_s > 0 ? held_s : poll_s;
  }
};

// Finds the largest period whose multiples explain when the value changed. Each change lies between
// two polls. Equal values in a row (a steady load, a coarse sensor) are refreshes that do not show,
// so an interval between changes need not be the period. A period is reported only where the
// changes keep to it more than the polls themselves do, where it is longer than a poll by more than
// the polls' stamps leave open, and where neither a load that repeats nor a ramp over the readings'
// steps would show such a rhythm. The oldest poll comes first.
[[nodiscard]] UpdatePeriod find_update_period(std::span<const PowerPoint> polls);

// Returns the value of each refresh, at the time of the refresh; of a sensor that is refreshed at
// least once a poll, the polls. Refreshes that no poll saw are left out.
[[nodiscard]] std::vector<PowerPoint> refreshes(std::span<const PowerPoint> polls,
                                                const UpdatePeriod& period);

}  // namespace ww::measure
