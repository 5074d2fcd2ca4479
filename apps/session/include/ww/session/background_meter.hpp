// Meters a card in a thread of its own, while this process waits for a program.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "ww/core/result.hpp"
#include "ww/measure/polled_sensor.hpp"
#include "ww/session/device_meter.hpp"

namespace ww::session {

class BackgroundMeter {
 public:
  explicit BackgroundMeter(std::unique_ptr<measure::PolledSensor> sensor);
  ~BackgroundMeter();

  // Ends the metering. Joules from the constructor to now. Call once. Errors: those of the sensor.
  [[nodiscard]] Result<MeterReading> finish();
  [[nodiscard]] const measure::PolledSensor& sensor() const { return *sensor_; }

 private:
  void run(const std::stop_token& stop);

  std::unique_ptr<measure::PolledSensor> sensor_;
  DeviceMeter meter_;  // the thread's alone until it has ended
  std::optional<Error> error_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace ww::session
