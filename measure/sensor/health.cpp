#include "ww/measure/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ww/energy/energy.hpp"

namespace ww::measure {
namespace {

constexpr auto absurd_power_uw = static_cast<std::int64_t>(energy::kMaxDeviceWatts * 1e6);
constexpr std::int32_t kColdestMc = -100'000;
constexpr std::int32_t hottest_mc = 200'000;
constexpr std::int32_t absurd_voltage_uv = 10'000'000;

tl::unexpected<Error> trouble(std::string_view sensor, std::string what) {
  return fail(ErrorCode::bad_data, std::move(what), fmt::format("sensor {}", sensor));
}

}  // namespace

Status check_health(std::span<const SensorReading> readings, std::string_view sensor,
                    const HealthExpectation& expectation) {
  std::size_t answered = 0;
  bool all_zero = true;
  bool moved = false;
  std::optional<std::int64_t> last_power, last_energy, last_time;
  for (const SensorReading& reading : readings) {
    if (last_time && reading.time_ns < *last_time) {
      return trouble(sensor, fmt::format("time runs backwards, from {} to {} ns", *last_time,
                                         reading.time_ns));
    }
    last_time = reading.time_ns;
    if (reading.temperature_mc &&
        (*reading.temperature_mc < kColdestMc || *reading.temperature_mc > hottest_mc)) {
      return trouble(sensor,
                     fmt::format("absurd temperature, {} C", *reading.temperature_mc / 1000));
    }
    if (reading.voltage_uv &&
        (*reading.voltage_uv < 0 || *reading.voltage_uv > absurd_voltage_uv)) {
      return trouble(sensor, fmt::format("absurd voltage, {} uV", *reading.voltage_uv));
    }
    if (reading.energy_ticks) {
      if (last_energy && !energy::ticks_between(*last_energy, *reading.energy_ticks)) {
        return trouble(sensor, fmt::format("the energy counter runs backwards, from {} to {}",
                                           *last_energy, *reading.energy_ticks));
      }
      if (last_energy && *reading.energy_ticks != *last_energy && !reading.power_uw) moved = true;
      last_energy = reading.energy_ticks;
    }
    if (!reading.power_uw) {
      if (reading.energy_ticks) {
        ++answered;
        all_zero = all_zero && *reading.energy_ticks == 0;
      }
      continue;
    }
    ++answered;
    if (*reading.power_uw < 0) {
      return trouble(sensor, fmt::format("negative power, {} uW", *reading.power_uw));
    }
    if (*reading.power_uw > absurd_power_uw) {
      return trouble(sensor, fmt::format("absurd power, {} W", *reading.power_uw / 1'000'000));
    }
    all_zero = all_zero && *reading.power_uw == 0;
    if (last_power && *reading.power_uw != *last_power) moved = true;
    last_power = reading.power_uw;
  }
  if (answered == 0) return trouble(sensor, "no answer: not one reading of power or energy");
  if (answered * 5 < readings.size() * 4) {
    return trouble(sensor, fmt::format("only {} of {} ticks answered", answered, readings.size()));
  }
  if (all_zero) return trouble(sensor, "all readings are zero");
  if (expectation.load_changes && !moved) {
    return trouble(sensor, "frozen: the reading did not move while the load changed");
  }
  return {};
}

Result<std::int64_t> microwatts(double watts, std::string_view sensor) {
  if (!std::isfinite(watts) || std::abs(watts) > 1e12) {
    return trouble(sensor, fmt::format("the reading is not a power: {} W", watts));
  }
  return std::llround(watts * 1e6);
}

}  // namespace ww::measure
