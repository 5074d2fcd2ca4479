#include "energy_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ww::session {
namespace {

constexpr double joules_per_tick = 1.0 / 65536;
constexpr double nano = 1e-9;

double seconds(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * nano;
}

}  // namespace

Joules energy_between(const std::vector<StoredSample>& readings, std::int64_t from_ns,
                      std::int64_t to_ns, double gain_tolerance_95) {
  std::vector<StoredSample> inside;
  for (const StoredSample& reading : readings) {
    if (reading.time_ns < from_ns || reading.time_ns > to_ns) continue;
    if (reading.energy_ticks || reading.power_uw) inside.push_back(reading);
  }
  Joules result;
  if (inside.size() < 3) {
    result.reason = fmt::format(
        "{} readings of the sensor fall into {:.3g} s; three are needed: bracket more work",
        inside.size(), seconds(from_ns, to_ns));
    return result;
  }
  const StoredSample& first = inside.front();
  const StoredSample& last = inside.back();
  const double span = seconds(first.time_ns, last.time_ns);
  if (span <= 0) {
    result.reason = "the sensor's readings bear one time";
    return result;
  }
  double energy = 0;
  double most_w = 0;
  const bool counted = std::ranges::all_of(
      inside, [](const StoredSample& reading) { return reading.energy_ticks.has_value(); });
  for (std::size_t i = 1; i < inside.size(); ++i) {
    const double step = seconds(inside[i - 1].time_ns, inside[i].time_ns);
    if (counted) {
      const double joules =
          static_cast<double>(*inside[i].energy_ticks - *inside[i - 1].energy_ticks) *
          joules_per_tick;
      if (joules < 0) {
        result.status = RowStatus::rejected;
        result.reason = "the energy accumulator ran backward";
        return result;
      }
      energy += joules;
      if (step > 0) most_w = std::max(most_w, joules / step);
    } else if (inside[i - 1].power_uw && inside[i].power_uw) {
      const double watts =
          static_cast<double>(*inside[i - 1].power_uw + *inside[i].power_uw) / 2 * 1e-6;
      energy += watts * step;
      most_w = std::max(most_w, watts);
    }
  }
  if (energy <= 0) {
    result.status = RowStatus::rejected;
    result.reason = "the sensor stood still";
    return result;
  }
  // What lies before the first reading and behind the last is taken at the mean power.
  const double open = seconds(from_ns, first.time_ns) + seconds(last.time_ns, to_ns);
  const double value = energy * (1 + open / span);
  const double half = std::hypot(open * most_w, gain_tolerance_95 * value);
  result.status = RowStatus::ok;
  result.energy = model::Interval{value, std::max(0.0, value - half), value + half};
  if (!counted) result.reason = "integrated from power readings";
  return result;
}

}  // namespace ww::session
