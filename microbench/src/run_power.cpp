#include "run_power.hpp"

#include <cmath>

#include "mean.hpp"

namespace ww::microbench {

std::optional<double> power_of(const StoredRun& run, double settle_s) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  constexpr double joules_per_tick = 1.0 / 65536;
  std::optional<StoredSample> first;
  std::optional<StoredSample> last;
  int steps = 0;
  double sum = 0;
  int readings = 0;
  std::optional<std::int64_t> previous;
  for (const StoredSample& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns) continue;
    if (sample.energy_ticks) {
      // The reading at which the counter moved is stamped well; the others repeat it.
      if (previous && *sample.energy_ticks != *previous) {
        if (!first) {
          first = sample;
        } else {
          ++steps;
        }
        last = sample;
      }
      previous = sample.energy_ticks;
    }
    if (sample.power_uw) {
      sum += static_cast<double>(*sample.power_uw) * 1e-6;
      ++readings;
    }
  }
  if (steps >= 4) {
    const double joules =
        static_cast<double>(*last->energy_ticks - *first->energy_ticks) * joules_per_tick;
    return joules / (static_cast<double>(last->time_ns - first->time_ns) * 1e-9);
  }
  if (readings >= 3) return sum / readings;
  return std::nullopt;
}

std::optional<double> voltage_of(const StoredRun& run, double settle_s) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  Mean mean;
  for (const StoredSample& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns || !sample.voltage_uv) continue;
    mean.add(static_cast<double>(*sample.voltage_uv) * 1e-6);
  }
  return mean.count > 0 ? std::optional(mean.value()) : std::nullopt;
}

}  // namespace ww::microbench
