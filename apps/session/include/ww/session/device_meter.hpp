// The joules of a card and of the parts of its package while something runs on it, without any
// calibration: from the accumulators that its driver keeps, by measure/energy.
//
// `wirewatt top` and `wirewatt meter` use it. A library's stretch (bracket.hpp) has joules by the
// same rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"
#include "ww/energy/running_energy.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/session/bracket.hpp"

namespace ww::session {

// How the joules of a device follow from the readings of its sensor.
[[nodiscard]] energy::EnergyOptions energy_options(const measure::SensorFacts& facts);

// Joules as the ruler has them.
[[nodiscard]] Joules joules_of(const energy::Energy& energy);

// Joules of several devices whose sensors may err alike, so that the ends of their intervals add. A
// device without a figure leaves the sum without one, and the reason names that device.
struct DeviceJoules {
  std::string device;  // "gpu:0"
  Joules joules;
};
[[nodiscard]] Joules joules_together(const std::vector<DeviceJoules>& devices);

// An accumulator beside the device's own counts for a part of the device, for all of it by another
// meter, or for the node that it sits in. All devices of a node have the node's rails in common, so
// that a sum over devices must not have them.
enum class RailOf { part, device, node };

// Something beside the device that has an accumulator of its own.
struct RailJoules {
  std::string rail;  // "socket", "xcd", "aid", "hbm", "ccd", "cray_node"
  RailOf of{};
  std::string says;  // what it covers
  double seconds{};  // from the start to where its joules end
  Joules joules;
};

struct MeterReading {
  double seconds{};  // from the start
  Joules device;
  bool by_accumulator{};          // else its power was integrated, and the reason says why
  std::optional<double> power_w;  // mean of the device; absent without joules
  std::vector<RailJoules> rails;
};

// Joules between two moments of a series that has ended.
[[nodiscard]] MeterReading reading_between(const energy::EnergySeries& series, std::int64_t from_ns,
                                           std::int64_t to_ns);

// Threading: one caller at a time. The sensor outlives the meter, and nobody else reads it.
class DeviceMeter {
 public:
  // Starts now, by the sensor's clock.
  explicit DeviceMeter(measure::Sensor& sensor);

  // Takes what the sensor has read since the last call, and returns it. Call it at least once a
  // minute, because a polled sensor's queue is of that length. Errors: those of the sensor.
  Result<std::vector<SensorReading>> take();
  // From the start to the newest reading, for who watches a device that goes on. Rails are read
  // less often, and those joules end at their own newest reading.
  [[nodiscard]] MeterReading so_far() const;
  // From the start to `to_ns`, for a stretch that has ended; take() came after that moment.
  [[nodiscard]] MeterReading until(std::int64_t to_ns) const;
  [[nodiscard]] std::int64_t now_ns() { return sensor_.now_ns(); }

 private:
  // A rail is stamped by the firmware's clock, which runs beside the sensor's.
  struct Rail {
    energy::RunningEnergy energy;
    std::optional<std::int64_t> last_ns;   // of the firmware, of its newest reading
    std::optional<std::int64_t> ahead_ns;  // of the sensor's clock before the firmware's
    std::int64_t newest_ns{};              // of its newest reading, in the sensor's clock
  };
  void add_rail(const RailReading& reading);
  // Rails end at `to_ns` where the stretch has `ended`, else at their newest readings.
  [[nodiscard]] MeterReading reading_of(const energy::Energy& device, std::int64_t to_ns,
                                        bool ended) const;
  [[nodiscard]] double seconds_to(std::int64_t to_ns) const {
    return static_cast<double>(to_ns - start_ns_) * 1e-9;
  }

  measure::Sensor& sensor_;
  std::int64_t start_ns_;
  std::int64_t newest_ns_;
  energy::RunningEnergy device_;
  std::map<std::string, Rail> rails_;
};

}  // namespace ww::session
