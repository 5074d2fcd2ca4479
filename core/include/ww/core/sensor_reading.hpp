#pragma once
// One reading of a GPU's sensor, as the sensors give it, the energy rule uses it and a campaign
// stores it.

#include <cstdint>
#include <optional>
#include <string>

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

// One value of an accumulator beside the power sensor: a part's energy, a link's bytes. It is kept
// raw; differences and powers are derived.
struct RailReading {
  std::int64_t poll_ns{};  // when it was read, in the device's clock
  // When the firmware filled it, in the firmware's own clock; absent where it does not say.
  std::optional<std::int64_t> source_ns;
  std::string rail;      // "socket_energy", "aid_energy", "xgmi_read_3"
  std::string unit;      // "2^-16 J", "kB"
  std::int64_t value{};  // counts since some start; a part that has none is left out
};

}  // namespace ww
