// The contract of a power sensor and of the clock and voltage states beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/dvfs_state.hpp"
#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"

namespace ww::measure {

// Statements of documentation or driver about a sensor, before any test. Absent: not said.
struct SensorFacts {
  std::string name;
  std::optional<double> stated_period_s;
  std::optional<double> power_resolution_w;
  std::optional<double> temperature_resolution_c;
  std::optional<double> gain_tolerance_95;             // relative, 95% half-width
  std::optional<double> regulator_slope_tolerance_95;  // of the marginal regulator efficiency
  std::string counter_unit{"units of 2^-16 J"};        // of its energy, before it is converted
};

enum class FieldStatus {
  ok,
  missing,  // the device or its driver does not offer it
  denied,   // it is there, and this user may not read it
  failed,   // it is there and answers with an error
};
[[nodiscard]] std::string_view to_string(FieldStatus status);

// The state of one field when the source was opened.
struct FieldState {
  std::string name;  // "power_instant", "energy", "temperature_edge", ...
  FieldStatus status{FieldStatus::missing};
  std::string reason;  // where it was looked for and what came back
};

// The field that says what else is in the sensor's power: the other die, other partitions, the
// cores of a processor. Its reason is a sentence. A device that the sensor measures alone has none.
inline constexpr std::string_view kPackageField = "package";
// The reasons of these fields, joined; empty where the sensor measures the device alone.
[[nodiscard]] std::string measured_besides(const std::vector<FieldState>& fields);

// The field of a device that has no sensor of its own and is read at another one's, which reports
// the same joules. Its reason is the PCI address of the other.
inline constexpr std::string_view kOtherSensorField = "sensor_of";
// That address; empty where the sensor is the device's own.
[[nodiscard]] std::string sensor_of(const std::vector<FieldState>& fields);

// One device's sensor. Times are nanoseconds of the device's clock: the chip's own on virtual
// devices, the steady clock on real ones. Threading: one caller at a time.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual const SensorFacts& facts() const = 0;
  // States of its fields; one that is not listed is offered, as far as is known.
  [[nodiscard]] virtual std::vector<FieldState> fields() const { return {}; }

  [[nodiscard]] virtual std::int64_t now_ns() = 0;
  // Waits, or lets the virtual chip idle, until the time; returns at once if it has passed. Either
  // way a polled sensor takes its readings, which its queue keeps for about a minute.
  virtual void sleep_until(std::int64_t time_ns) = 0;

  // Raw readings since the last call, oldest first, each field absent when the sensor did not give
  // it. A tick without any answer is a reading whose fields are absent. Errors: device_error,
  // bad_data (not a number).
  virtual Result<std::vector<SensorReading>> new_readings() = 0;
  // Accumulators of parts of the package since the last call, oldest first: the energies of the
  // dies and of the memory, the bytes of links. Empty where the device has none.
  [[nodiscard]] virtual std::vector<RailReading> new_rails() { return {}; }
  // Why the device held its clocks down while it gave the last new_readings(), in words. Empty
  // where it did not, or where it does not report it.
  [[nodiscard]] virtual std::string throttling() const { return {}; }

  // Clock and voltage states that can be selected; empty where the device offers none.
  [[nodiscard]] virtual std::vector<DvfsState> dvfs_states() const = 0;
  [[nodiscard]] virtual int dvfs_current() const = 0;
  // Errors: unsupported, out_of_range, device_error.
  virtual Status select_dvfs(int state) = 0;
};

}  // namespace ww::measure
