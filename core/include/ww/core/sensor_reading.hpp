#pragma once
// One reading of a GPU's sensor, as the sensors give it, the energy rule uses it and a campaign
// stores it.

#include <cstdint>
#include <optional>

namespace ww {

// One sensor reading. A field that the sensor did not give is absent, never 0.
struct SensorReading {
  std::int64_t time_ns{};  // when the sensor refreshed it, in the device's clock
  std::int64_t poll_ns{};  // when it was read, in the same clock
  std::optional<std::int64_t> power_uw;
  std::optional<std::int64_t> energy_ticks;  // 2^-16 J
  std::optional<std::int32_t> temperature_mc;
  std::optional<std::int32_t> voltage_uv;
  std::optional<std::int32_t> clock_khz;
  bool changed{};  // differs from the reading before it
};

}  // namespace ww
