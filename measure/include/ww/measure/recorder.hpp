// Records a sensor's readings as one unbroken series, run after run.
#pragma once

#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

class Recorder {
 public:
  explicit Recorder(Sensor& sensor) : sensor_(sensor) {}
  // Returns all readings since the last call. `changed` compares each with the previous reading,
  // also across calls. Errors: those of Sensor::new_readings.
  Result<std::vector<SensorReading>> take();

 private:
  Sensor& sensor_;
  SensorReading last_;
  bool any_{};
};

}  // namespace ww::measure
