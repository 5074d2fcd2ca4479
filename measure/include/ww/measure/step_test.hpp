// The step test: a load is switched on and off, and the sensor's readings tell its update period,
// how late it sees a change, and how long it takes to show all of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::measure {

// The load was on from on_ns to off_ns, and off for about as long before and after.
struct LoadStep {
  std::int64_t on_ns{};
  std::int64_t off_ns{};
};

// For a moving average of W that is L late: delay L, rise W. For a first-order lag: delay 0, rise
// until 98% of the step are shown.
struct StepResponse {
  bool resolved{};  // false: period alone is known; `reason` says why
  std::string reason;
  double period_s{};  // between refreshes
  double delay_s{};   // from the switch until the reading begins to move
  double rise_s{};    // from there until it has arrived; at least one period
  bool lag{};         // the curve bends as a first-order lag's, not as a moving average's
  double time_s{};    // the moving average's window, or the lag's time constant; 0 where the curve
                      // is over within three periods
  double step_w{};    // mean height
  double noise_w{};   // standard deviation of a reading while the load is constant
};

// Readings and steps in the same clock, readings oldest first. All edges are normalised, the slow
// drift of the loaded power (heating) is taken out by a line through the last half of each level,
// and the edges are laid over each other. Error bad_data when there is nothing to analyse (no
// steps, no readings with power).
[[nodiscard]] Result<StepResponse> analyse_steps(std::span<const StoredSample> readings,
                                                 std::span<const LoadStep> steps);

}  // namespace ww::measure
