// Accumulators that a sampler's thread reads now and then and its consumer takes.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "ww/core/sensor_reading.hpp"

namespace ww::measure {

// Threading: one writer, one reader. Both wait for each other, which at some tens of readings a
// second costs neither anything.
class RailLog {
 public:
  void add(std::vector<RailReading> readings) {
    // Some minutes of a package with all its links; nobody need take them.
    constexpr std::size_t most = 100'000;
    const std::lock_guard lock(mutex_);
    if (readings_.size() + readings.size() > most) readings_.clear();
    for (RailReading& reading : readings) readings_.push_back(std::move(reading));
  }
  [[nodiscard]] std::vector<RailReading> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(readings_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<RailReading> readings_;
};

}  // namespace ww::measure
