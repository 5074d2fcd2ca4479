#include "sensor_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "ww/model/energy_steps.hpp"

namespace ww::microbench {

std::optional<double> energy_interval_s(std::span<const StoredRun> runs, double period_s) {
  std::vector<model::EnergyReading> readings;
  bool stamped = false;
  for (const StoredRun& run : runs) {
    for (const StoredSample& sample : run.samples) {
      if (!sample.power_uw) continue;
      readings.push_back({sample.time_ns, sample.energy_ticks.value_or(-1)});
      stamped = stamped || sample.poll_ns != sample.time_ns;
    }
  }
  const auto steps = model::energy_steps(readings, stamped);
  if (!steps) return {};
  return steps->interval_s > 0 ? steps->interval_s : period_s;
}

double smallest_step_w(std::span<const StoredRun> runs) {
  std::set<std::int64_t> values;
  for (const StoredRun& run : runs) {
    for (const StoredSample& sample : run.samples) {
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
