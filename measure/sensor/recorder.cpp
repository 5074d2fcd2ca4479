#include "ww/measure/recorder.hpp"

namespace ww::measure {
namespace {

bool same_values(const SensorReading& a, const SensorReading& b) {
  return a.power_uw == b.power_uw && a.energy_ticks == b.energy_ticks &&
         a.temperature_mc == b.temperature_mc && a.voltage_uv == b.voltage_uv &&
         a.clock_khz == b.clock_khz;
}

}  // namespace

Result<std::vector<SensorReading>> Recorder::take() {
  WW_ASSIGN(readings, sensor_.new_readings());
  for (SensorReading& reading : readings) {
    reading.changed = !any_ || !same_values(reading, last_);
    last_ = reading;
    any_ = true;
  }
  return readings;
}

}  // namespace ww::measure
