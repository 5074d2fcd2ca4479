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

// A part of a package that has an accumulator of its own.
struct RailJoules {
  std::string rail;  // "socket", "xcd", "aid", "hbm", "ccd"
  std::string says;  // what it covers
  Joules joules;
};
// Says by its name which parts a rail covers; empty for an unknown name.
[[nodiscard]] std::string_view rail_covers(std::string_view rail);

struct MeterReading {
  double seconds{};  // from the start
  Joules device;
  bool by_accumulator{};          // else its power was integrated, and the reason says why
  std::optional<double> power_w;  // mean of the device; absent without joules
  std::vector<RailJoules> rails;
};

// Threading: one caller at a time. The sensor outlives the meter, and nobody else reads it.
class DeviceMeter {
 public:
  // Starts now, by the sensor's clock.
  explicit DeviceMeter(measure::Sensor& sensor);

  // Takes what the sensor has read since the last call, and returns it. Call it at least once a
  // minute, because a polled sensor's queue is of that length. Errors: those of the sensor.
  Result<std::vector<SensorReading>> take();
  // From the start to the newest reading, for who watches a device that goes on.
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
  };
  void add_rail(const RailReading& reading);
  [[nodiscard]] MeterReading reading_of(const energy::Energy& device, std::int64_t to_ns) const;

  measure::Sensor& sensor_;
  std::int64_t start_ns_;
  std::int64_t newest_ns_;
  energy::RunningEnergy device_;
  std::map<std::string, Rail> rails_;
};

}  // namespace ww::session
