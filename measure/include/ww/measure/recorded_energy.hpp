// Joules of a recorded run, by a power register or by an energy counter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ww/energy/energy.hpp"
#include "ww/measure/sensor_recording.hpp"
#include "ww/measure/sensor_response.hpp"
#include "ww/measure/update_period.hpp"

namespace ww::measure {

// Readings of one poll that stand out of those around them by more than a quarter of their level
// and by four times their scatter. They are found only of a sensor that is refreshed at least once
// a poll, and polls of 20 ms at most: of any other, one poll shows a whole refresh, or a load.
struct Spikes {
  std::vector<std::size_t> at;  // indices of polls
  double largest_w{};           // how far the largest one stands out
};
[[nodiscard]] Spikes find_spikes(std::span<const PowerPoint> polls, const UpdatePeriod& period);

// Joules from the first poll to the last by the trapezoidal rule, without spikes. What a lag, a
// window or a value that is held still withholds at the end, and showed of the time before, is put
// right. A register whose response is not known may be late by as much as any that is, or as its
// fastest step leaves open: its interval reaches to that side alone. The 95% interval covers the
// response, the time that no reading sees (a step of power lies anywhere between two refreshes),
// gaps, the noise and the step of the readings and what energy_between() covers, and not the
// sensor's gain. `reason` says what limits the figure.
[[nodiscard]] energy::Energy register_energy(std::span<const PowerPoint> polls,
                                             const UpdatePeriod& period,
                                             const SensorResponse& response, const Spikes& spikes);

// Joules from the first poll to the last by a counter, by the rules of energy_between().
[[nodiscard]] energy::Energy counter_energy(const EnergyColumn& counter);

}  // namespace ww::measure
