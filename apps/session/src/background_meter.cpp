#include "ww/session/background_meter.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace ww::session {
namespace {

// The sensor's queue is much longer.
constexpr std::chrono::seconds kEvery{2};

// Two polls, of which the second one shows a refresh that is at most so old. Accumulators that are
// refreshed less often are followed by the sampler.
void read_end(measure::PolledSensor& sensor) {
  constexpr std::chrono::milliseconds kApart{2};
  sensor.poll_now();
  std::this_thread::sleep_for(kApart);
  sensor.poll_now();
}

}  // namespace

BackgroundMeter::BackgroundMeter(std::unique_ptr<measure::PolledSensor> sensor)
    : sensor_(std::move(sensor)),
      meter_(*sensor_),
      thread_([this](const std::stop_token& stop) { run(stop); }) {
  read_end(*sensor_);  // the stretch begins with a reading, and ends with one
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
  read_end(*sensor_);
  const std::int64_t to_ns = meter_.now_ns();
  thread_.request_stop();
  thread_.join();
  const auto taken = meter_.take();
  if (error_) return tl::unexpected(*error_);
  if (!taken) return tl::unexpected(taken.error());
  return meter_.until(to_ns);
}

}  // namespace ww::session
