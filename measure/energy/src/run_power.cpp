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

// Standard deviation of the same readings about a value near their mean, so that no digits are
// lost.
template <class Value>
std::optional<double> spread_of(const StoredRun& run, double settle_s,
                                std::optional<Value> SensorReading::*field, double unit,
                                double about) {
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  Mean off, square;
  for (const SensorReading& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns || !(sample.*field)) continue;
    const double one = static_cast<double>(*(sample.*field)) * unit - about;
    off.add(one);
    square.add(one * one);
  }
  if (off.count < 2) return std::nullopt;
  return std::sqrt(std::max(0.0, square.value() - off.value() * off.value()));
}

// Smallest difference between two values that a field showed; 0 where none differ.
template <class Value>
Value smallest_step(std::span<const StoredRun> runs, std::optional<Value> SensorReading::*field) {
  std::set<Value> values;
  for (const StoredRun& run : runs) {
    std::optional<Value> last;
    for (const SensorReading& sample : run.samples) {
      if (!(sample.*field) || sample.*field == last) continue;
      last = sample.*field;
      values.insert(*last);
    }
  }
  Value least = 0;
  for (auto it = values.begin(); it != values.end(); ++it) {
    const auto next = std::next(it);
    if (next == values.end()) break;
    least = least == 0 ? *next - *it : std::min(least, *next - *it);
  }
  return least;
}

}  // namespace

std::optional<double> power_of(const StoredRun& run, double settle_s) {
  const auto energy =
      energy_between(energy_series(run.samples), run.start_ns, run.end_ns, {.settle_s = settle_s});
  return energy.ok() ? std::optional(energy.power_w) : std::nullopt;
}

std::optional<double> power_spread_of(const StoredRun& run, double settle_s) {
  const auto energy =
      energy_between(energy_series(run.samples), run.start_ns, run.end_ns, {.settle_s = settle_s});
  if (!energy.ok() || energy.source != EnergySource::power_register) return std::nullopt;
  return spread_of(run, settle_s, &SensorReading::power_uw, 1e-6, energy.power_w);
}

std::optional<double> voltage_of(const StoredRun& run, double settle_s) {
  return mean_of(run, settle_s, &SensorReading::voltage_uv, 1e-6);
}

std::optional<double> voltage_spread_of(const StoredRun& run, double settle_s) {
  const auto mean_v = voltage_of(run, settle_s);
  if (!mean_v) return std::nullopt;
  return spread_of(run, settle_s, &SensorReading::voltage_uv, 1e-6, *mean_v);
}

double voltage_step_of(std::span<const StoredRun> runs) {
  return 1e-6 * static_cast<double>(smallest_step(runs, &SensorReading::voltage_uv));
}

double power_step_of(std::span<const StoredRun> runs) {
  return 1e-6 * static_cast<double>(smallest_step(runs, &SensorReading::power_uw));
}

std::optional<double> temperature_of(const StoredRun& run, double settle_s) {
  return mean_of(run, settle_s, &SensorReading::temperature_mc, 1e-3);
}

}  // namespace ww::energy
