// Collects a sensor's readings over a stretch of any length.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/sensor_reading.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::session {

struct CollectorLimits {
  // How often the sensor's readings are taken. A polled sensor keeps those of one minute.
  std::chrono::milliseconds every{10'000};
  // Readings that are kept. Where there are more, every second one is left out, again and again:
  // those that are left still cover the whole stretch at even distances.
  std::size_t most = std::size_t{1} << 20U;
};

// A thread that takes a sensor's readings now and then. Without it, a sensor that is not read for
// longer than its own store lasts loses its newest readings.
//
// Threading: from the constructor to finish() nobody else may read the sensor.
class ReadingCollector {
 public:
  explicit ReadingCollector(measure::Sensor& sensor, CollectorLimits limits = {});
  ~ReadingCollector();
  ReadingCollector(const ReadingCollector&) = delete;
  ReadingCollector& operator=(const ReadingCollector&) = delete;

  // Ends the collection and returns the readings since its beginning. Errors: those of the sensor.
  [[nodiscard]] Result<std::vector<SensorReading>> finish();

 private:
  void run();
  void stop();
  void take();
  void keep(const SensorReading& reading);

  measure::Sensor& sensor_;
  CollectorLimits limits_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_{};
  std::vector<SensorReading> kept_;
  std::size_t seen_{};
  std::size_t stride_{1};  // of the readings that were seen, each of this distance is kept
  std::optional<Error> error_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ww::session
