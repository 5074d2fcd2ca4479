#include "ww/energy/rail_power.hpp"

#include <cmath>

#include "ww/core/energy_tick.hpp"
#include "ww/core/mean.hpp"

namespace ww::energy {

std::optional<double> rail_power(const StoredRun& run, std::string_view rail, double settle_s) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  const RailReading* first = nullptr;
  const RailReading* last = nullptr;
  int readings = 0;
  int moves = 0;
  for (const RailReading& reading : run.rails) {
    if (reading.rail != rail || reading.poll_ns < begin || reading.poll_ns > run.end_ns) continue;
    if (first == nullptr) first = &reading;
    if (last != nullptr) {
      if (reading.value < last->value) return std::nullopt;
      if (reading.value > last->value) ++moves;
    }
    last = &reading;
    ++readings;
  }
  // A rail that rests while others run, or most of the time, is not metering.
  if (readings < 3 || 2 * moves < readings - 1) return std::nullopt;
  const bool own_time = first->source_ns && last->source_ns;
  const auto ns = own_time ? *last->source_ns - *first->source_ns : last->poll_ns - first->poll_ns;
  if (ns <= 0) return std::nullopt;
  return static_cast<double>(last->value - first->value) * kJoulesPerTick /
         (static_cast<double>(ns) * 1e-9);
}

std::optional<double> sensor_power(const StoredRun& run, double settle_s) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  const SensorReading* first = nullptr;
  const SensorReading* last = nullptr;
  Mean power_w;
  for (const SensorReading& reading : run.samples) {
    if (reading.time_ns < begin || reading.time_ns > run.end_ns) continue;
    if (reading.power_uw) power_w.add(static_cast<double>(*reading.power_uw) * 1e-6);
    if (!reading.energy_ticks) continue;
    if (first == nullptr) first = &reading;
    if (last != nullptr && *reading.energy_ticks < *last->energy_ticks) return std::nullopt;
    last = &reading;
  }
  if (first != last && *last->energy_ticks != *first->energy_ticks) {
    return static_cast<double>(*last->energy_ticks - *first->energy_ticks) * kJoulesPerTick /
           (static_cast<double>(last->time_ns - first->time_ns) * 1e-9);
  }
  if (first != nullptr || power_w.count == 0) return std::nullopt;
  return power_w.value();
}

}  // namespace ww::energy
