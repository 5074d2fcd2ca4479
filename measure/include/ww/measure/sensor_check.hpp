// The doctor's look at a sensor: a load is switched on and off, faster and then slower, until it is
// known how often the sensor refreshes, which stretch of time a reading averages, how late it is,
// how much it scatters, and whether it is to be believed.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/finding.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/reading_status.hpp"
#include "ww/measure/sensor_response.hpp"
#include "ww/measure/step_test.hpp"

namespace ww::measure {

// Something that makes the GPU draw more power while it runs.
class Load {
 public:
  virtual ~Load() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  // Runs for about so long, in the sensor's time; gives when it began and ended. Errors:
  // device_error, io_error, cancelled.
  virtual Result<LoadStep> run_for(double seconds) = 0;
};

// One power reading of a sensor as a series; power_uw is what is looked at.
struct SensorColumn {
  std::string name;
  std::vector<SensorReading> readings;
};

struct SensorCheck {
  std::string name;
  Verdict verdict{};
  std::string detail;
  StatusRow status;        // of the readings themselves
  bool period_resolved{};  // false: period_s is no more than a bound set by the polls
  double period_s{};       // 0: unknown
  ResponseKind kind{ResponseKind::not_resolved};
  std::string reason;        // why window or lag is not resolved
  double time_s{};           // window, or time constant of the lag
  double low_s{}, high_s{};  // others that fit nearly as well; both 0 where not known
  double delay_s{};
  double seen{1};     // share of the time that readings see
  double settle_s{};  // after a switch, until readings can be used
  double step_w{}, noise_w{}, resolution_w{};
};
// Keys as the members; absent numbers are null.
[[nodiscard]] nlohmann::json to_json(const SensorCheck& check);

// Judges one series under known load steps.
[[nodiscard]] SensorCheck check_column(const SensorColumn& column, std::span<const LoadStep> steps);

struct SensorReport {
  std::vector<SensorCheck> columns;  // the sensor's power, its second power, its energy counter
  std::vector<StatusRow> statuses;
  std::string load;
  double seconds{};  // how long it took, in the sensor's time
};

struct CheckProgress {
  double done{}, total{};
  std::string note;
};

// Switches the load through up to three stages (half cycles of 0.25 to 0.45 s, 2.5 to 3.5 s, 11 to
// 13 s; a slower one only where the faster one did not resolve the sensor). Errors: those of load
// and sensor.
[[nodiscard]] Result<SensorReport> check_sensor(
    Sensor& sensor, Load& load, const std::function<void(const CheckProgress&)>& progress = {});

}  // namespace ww::measure
