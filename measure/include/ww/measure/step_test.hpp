// The step test: a load is switched on and off. From the sensor's readings follow its update
// period, the delay until it sees a change, and the time until it shows all of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww::measure {

// One step of the load. It was on from on_ns to off_ns, and off for about as long before and after.
struct LoadStep {
  std::int64_t on_ns{};
  std::int64_t off_ns{};
};

// The response to steps. A moving average over W that is L late has delay L and rise W. A
// first-order lag has delay 0, and its rise lasts until 98% of the step are shown.
struct StepResponse {
  bool resolved{};  // false: only the period is known; `reason` says why
  std::string reason;
  double period_s{};  // between refreshes
  double delay_s{};   // from the switch until the reading begins to move
  double rise_s{};    // from then until the reading has arrived; at least one period
  bool lag{};         // the curve bends as a first-order lag's, not as a moving average's
  double time_s{};    // the moving average's window, or the lag's time constant; 0 where the curve
                      // is over within three periods
  double step_w{};    // mean height
  double noise_w{};   // standard deviation of a reading while the load is constant
};

// Analyses readings and steps, both in the same clock and oldest first. All edges are normalised.
// The slow drift of the loaded power (heating) is removed by a line through the last half of each
// level. The edges are then superimposed. Error bad_data if there is nothing to analyse (no steps,
// no readings with power).
[[nodiscard]] Result<StepResponse> analyse_steps(std::span<const SensorReading> readings,
                                                 std::span<const LoadStep> steps);

}  // namespace ww::measure
