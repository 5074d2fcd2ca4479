#include "ww/energy/run_power.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "ww/core/mean.hpp"
#include "ww/energy/energy.hpp"

namespace ww::energy {
namespace {

// Mean of the readings from `settle_s` after the run's start to its end, times `unit`.
std::optional<double> mean_of(const StoredRun& run, double settle_s,
                              std::optional<std::int32_t> SensorReading::*field, double unit) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  Mean mean;
  for (const SensorReading& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns || !(sample.*field)) continue;
    mean.add(static_cast<double>(*(sample.*field)) * unit);
  }
  return mean.count > 0 ? std::optional(mean.value()) : std::nullopt;
}

}  // namespace

std::optional<double> power_of(const StoredRun& run, double settle_s) {
  const auto energy =
      energy_between(energy_series(run.samples), run.start_ns, run.end_ns, {.settle_s = settle_s});
  return energy.ok() ? std::optional(energy.power_w) : std::nullopt;
}

std::optional<double> voltage_of(const StoredRun& run, double settle_s) {
  return mean_of(run, settle_s, &SensorReading::voltage_uv, 1e-6);
}

double voltage_step_of(std::span<const StoredRun> runs) {
  std::set<std::int32_t> values;
  for (const StoredRun& run : runs) {
    std::int32_t last = -1;
    for (const SensorReading& sample : run.samples) {
      if (!sample.voltage_uv || *sample.voltage_uv == last) continue;
      last = *sample.voltage_uv;
      values.insert(last);
    }
  }
  std::int32_t least = 0;
  for (auto it = values.begin(); it != values.end(); ++it) {
    const auto next = std::next(it);
    if (next == values.end()) break;
    least = least == 0 ? *next - *it : std::min(least, *next - *it);
  }
  return 1e-6 * least;
}

std::optional<double> temperature_of(const StoredRun& run, double settle_s) {
  return mean_of(run, settle_s, &SensorReading::temperature_mc, 1e-3);
}

}  // namespace ww::energy
