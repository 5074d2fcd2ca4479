// Keeps a sensor's readings as one unbroken series, run after run.
#pragma once

#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

class Recorder {
 public:
  explicit Recorder(Sensor& sensor) : sensor_(sensor) {}
  // All readings since the last call, with `changed` set against the reading before, also across
  // calls. Errors as Sensor::new_readings.
  Result<std::vector<StoredSample>> take();

 private:
  Sensor& sensor_;
  StoredSample last_;
  bool any_{};
};

}  // namespace ww::measure
