#include "ww/session/background_meter.hpp"

#include <chrono>
#include <utility>

namespace ww::session {
namespace {

// The sensor's queue is much longer.
constexpr std::chrono::seconds kEvery{2};

}  // namespace

BackgroundMeter::BackgroundMeter(std::unique_ptr<measure::PolledSensor> sensor)
    : sensor_(std::move(sensor)),
      meter_(*sensor_),
      thread_([this](const std::stop_token& stop) { run(stop); }) {
  sensor_->poll_now();  // the stretch begins with a reading, and ends with one
}

BackgroundMeter::~BackgroundMeter() = default;

void BackgroundMeter::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kEvery, [] { return false; });
    const auto taken = meter_.take();
    if (!taken && !error_) error_ = taken.error();
  }
}

Result<MeterReading> BackgroundMeter::finish() {
  sensor_->poll_now();
  const std::int64_t to_ns = meter_.now_ns();
  thread_.request_stop();
  thread_.join();
  const auto taken = meter_.take();
  if (error_) return tl::unexpected(*error_);
  if (!taken) return tl::unexpected(taken.error());
  return meter_.until(to_ns);
}

}  // namespace ww::session
