// The contract of a source that a sampler polls: one GPU's registers behind a vendor's library or
// the kernel's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

// The values of one poll. A missing value is absent, never 0.
struct RawReading {
  std::optional<std::int64_t> power_uw;         // the faster of the power fields there are
  std::optional<std::int64_t> second_power_uw;  // the other one
  std::optional<std::int64_t> energy_ticks;     // 2^-16 J
  std::optional<std::int32_t> edge_mc;
  std::optional<std::int32_t> junction_mc;
  std::optional<std::int32_t> memory_mc;
  std::optional<std::int32_t> voltage_uv;
  std::optional<std::int32_t> clock_khz;
  std::optional<std::int32_t> memory_clock_khz;
  std::optional<std::uint64_t> throttle;  // bits; throttle_text() names them
};

// Threading: one caller at a time, which is the sampler's thread once it runs.
class PowerSource {
 public:
  virtual ~PowerSource() = default;
  [[nodiscard]] virtual const SensorFacts& facts() const = 0;
  // Names of `power_uw` and `second_power_uw`; empty where there is none.
  [[nodiscard]] virtual std::string power_name() const = 0;
  [[nodiscard]] virtual std::string second_power_name() const = 0;
  [[nodiscard]] virtual const std::vector<FieldState>& fields() const = 0;
  // Reads power and energy.
  virtual void read_fast(RawReading& reading) = 0;
  // Reads temperatures, voltage, clocks and throttling.
  virtual void read_slow(RawReading& reading) = 0;
  // Accumulators of parts of the package, as read_slow() found them since the last call, oldest
  // first; the oldest are dropped where nobody takes them. May be called while another thread
  // reads. Empty where the device has none.
  [[nodiscard]] virtual std::vector<RailReading> take_rails() { return {}; }
  // The reason for throttled clocks; empty if no bit of `throttle` gives one. Idle is no
  // throttling.
  [[nodiscard]] virtual std::string throttle_text(std::uint64_t bits) const = 0;
};

}  // namespace ww::measure
