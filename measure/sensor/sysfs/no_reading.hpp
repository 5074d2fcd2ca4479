// Answers that succeed and hold no reading: 0, and the ones of a field that nobody fills.
#pragma once

#include <cstdint>
#include <optional>

#include "ww/measure/power_source.hpp"

namespace ww::measure {

// Makes values absent that are no readings: temperatures, voltages and clocks of 0 (what works is
// not at 0 C, and a clock that rests has none), an energy of 0, and all ones of 8 (temperatures
// alone), 16 or 32 bits in the unit in which sensors count. A power of 0 W stays: it is a fault
// that the health check names.
inline void drop_empty(RawReading& reading) {
  constexpr std::int64_t kOnes8 = 0xFF, kOnes16 = 0xFFFF, kOnes32 = 0xFFFFFFFF;
  const auto drop = [](auto& value, auto... none) {
    if (value && ((static_cast<std::int64_t>(*value) == none) || ...)) value.reset();
  };
  constexpr std::int64_t kMillidegrees = 1000, kMicrovolts = 1000, kKilohertz = 1000;
  for (auto* celsius : {&reading.edge_mc, &reading.junction_mc, &reading.memory_mc}) {
    drop(*celsius, std::int64_t{0}, kOnes8 * kMillidegrees, kOnes16 * kMillidegrees);
  }
  drop(reading.voltage_uv, std::int64_t{0}, kOnes16 * kMicrovolts);
  for (auto* clock : {&reading.clock_khz, &reading.memory_clock_khz}) {
    drop(*clock, std::int64_t{0}, kOnes16 * kKilohertz);
  }
  constexpr std::int64_t kMicrowatts = 1'000'000, kMicrowattsPerMilliwatt = 1000;
  for (auto* power : {&reading.power_uw, &reading.second_power_uw}) {
    drop(*power, kOnes16 * kMicrowatts, kOnes32 * kMicrowattsPerMilliwatt, kOnes32);
  }
  drop(reading.energy_ticks, std::int64_t{0});
}

}  // namespace ww::measure
