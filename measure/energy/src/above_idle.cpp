#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "moves.hpp"
#include "ww/core/statistics.hpp"

namespace ww::energy {
namespace {

EnergySeries window_of(const EnergySeries& series, std::int64_t from_ns, std::int64_t to_ns) {
  EnergySeries window;
  window.stamped = series.stamped;
  for (const EnergyReading& reading : series.readings) {
    if (reading.time_ns >= from_ns && reading.time_ns <= to_ns) window.readings.push_back(reading);
  }
  return window;
}

}  // namespace

EnergyAboveIdle energy_above_idle(const EnergySeries& series, const BusyWindow& window) {
  EnergyAboveIdle result;
  const EnergyOptions counted{.only = EnergySource::accumulator};
  const Energy before = energy_between(series, window.idle_from_ns, window.busy_from_ns, counted);
  const Energy busy = energy_between(series, window.busy_from_ns, window.busy_to_ns, counted);
  const Energy after = energy_between(series, window.busy_to_ns, window.idle_to_ns, counted);
  const EnergySeries idle = window_of(series, window.idle_from_ns, window.busy_from_ns);
  const EnergySteps steps = energy_steps(idle);
  const auto explain = [&](const char* when, RowStatus status, const std::string& reason) {
    result.status = status;
    result.reason = fmt::format("{}: {}", when, reason);
    return result;
  };
  if (!before.ok()) return explain("idle before the load", before.status, before.reason);
  if (!busy.ok()) return explain("under the load", busy.status, busy.reason);
  if (!after.ok()) return explain("idle after the load", after.status, after.reason);
  if (steps.status != RowStatus::ok) {
    return explain("idle before the load", steps.status, steps.reason);
  }
  const double seconds =
      static_cast<double>(window.busy_to_ns - window.busy_from_ns) * kSecondsPerNs;
  result.idle_w = (before.power_w + after.power_w) / 2;
  result.energy_j = busy.energy_j - result.idle_w * seconds;
  double squares = 0;
  for (std::size_t i = 1; i < steps.moves.size(); ++i) {
    const double off = static_cast<double>(steps.power_w[steps.moves[i]]) - before.power_w;
    squares += off * off;
  }
  const auto count = static_cast<double>(steps.moves.size() - 1);
  const double scatter_w = std::sqrt(squares / (count - 1));
  const auto& first = idle.readings[steps.moves.front()];
  const auto& last = idle.readings[steps.moves.back()];
  const double step_s = static_cast<double>(last.time_ns - first.time_ns) * kSecondsPerNs / count;
  const double half_j = std::hypot(kNormal95 * scatter_w * std::sqrt(seconds * step_s),
                                   kNormal95 * scatter_w / std::sqrt(2 * count) * seconds,
                                   std::abs(after.power_w - before.power_w) / 2 * seconds);
  result.low_j = result.energy_j - half_j;
  result.high_j = result.energy_j + half_j;
  result.status = RowStatus::ok;
  return result;
}

}  // namespace ww::energy
