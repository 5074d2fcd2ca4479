#include "reading_collector.hpp"

#include <algorithm>
#include <utility>

namespace ww::session {

ReadingCollector::ReadingCollector(measure::Sensor& sensor, CollectorLimits limits)
    : sensor_(sensor), limits_(limits), thread_([this] { run(); }) {}

ReadingCollector::~ReadingCollector() {
  stop();
}

void ReadingCollector::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, limits_.every, [this] { return stopping_; })) take();
}

void ReadingCollector::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ReadingCollector::take() {
  const auto readings = sensor_.new_readings();
  if (!readings) {
    if (!error_) error_ = readings.error();
    return;
  }
  for (const SensorReading& reading : *readings) keep(reading);
}

void ReadingCollector::keep(const SensorReading& reading) {
  if (seen_++ % stride_ != 0) return;
  if (kept_.size() >= limits_.most) {
    std::size_t halved = 0;
    for (std::size_t i = 0; i < kept_.size(); i += 2) kept_[halved++] = kept_[i];
    kept_.resize(halved);
    stride_ *= 2;
    if ((seen_ - 1) % stride_ != 0) return;
  }
  kept_.push_back(reading);
}

Result<std::vector<SensorReading>> ReadingCollector::finish() {
  stop();
  take();
  if (error_) return tl::unexpected(*error_);
  return std::exchange(kept_, {});
}

}  // namespace ww::session
