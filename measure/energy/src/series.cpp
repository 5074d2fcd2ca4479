#include <algorithm>

#include "ww/energy/energy.hpp"

namespace ww::energy {
namespace {

constexpr std::int64_t kWrap = std::int64_t{1} << 32;

}  // namespace

EnergySeries energy_series(std::span<const SensorReading> samples) {
  EnergySeries series;
  series.readings.reserve(samples.size());
  for (const SensorReading& sample : samples) {
    if (!sample.energy_ticks && !sample.power_uw) continue;  // a poll without an answer
    series.readings.push_back(
        {sample.time_ns, sample.energy_ticks.value_or(kAbsent), sample.power_uw.value_or(kAbsent)});
    series.stamped = series.stamped || sample.poll_ns != sample.time_ns;
  }
  return series;
}

std::optional<std::int64_t> ticks_between(std::int64_t before, std::int64_t after) {
  if (after >= before) return after - before;
  // A counter of 32 bits that wrapped falls by nearly all of its range; one that was reset or is
  // broken seldom does.
  if (after >= 0 && before < kWrap && before - after > kWrap / 2) return after + kWrap - before;
  return std::nullopt;
}

}  // namespace ww::energy
