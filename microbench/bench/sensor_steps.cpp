#include "bench/sensor_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "ww/energy/energy.hpp"

namespace ww::microbench {
namespace {

// An accumulator that departs further from the register counts something else, and the fit takes
// the register.
constexpr double kCounterAgreement = 0.05;

}  // namespace

std::optional<double> energy_interval_s(std::span<const StoredRun> runs, double period_s) {
  energy::EnergySeries series;
  for (const StoredRun& run : runs) {
    const auto more = energy::energy_series(run.samples);
    series.readings.insert(series.readings.end(), more.readings.begin(), more.readings.end());
    series.stamped = series.stamped || more.stamped;
  }
  const auto steps = energy::energy_steps(series);
  if (steps.status != RowStatus::ok) return {};
  const auto ratio = energy::counter_over_register(series, series.readings.front().time_ns,
                                                   series.readings.back().time_ns);
  if (!ratio || std::abs(*ratio - 1) > kCounterAgreement) return {};
  return steps.interval_s > 0 ? steps.interval_s : period_s;
}

double smallest_step_w(std::span<const StoredRun> runs) {
  std::set<std::int64_t> values;
  for (const StoredRun& run : runs) {
    for (const SensorReading& sample : run.samples) {
      if (sample.power_uw) values.insert(*sample.power_uw);
    }
  }
  std::int64_t least = 0;
  for (auto it = values.begin(); it != values.end(); ++it) {
    const auto next = std::next(it);
    if (next == values.end()) break;
    least = least == 0 ? *next - *it : std::min(least, *next - *it);
  }
  return static_cast<double>(least) * 1e-6;
}

}  // namespace ww::microbench
