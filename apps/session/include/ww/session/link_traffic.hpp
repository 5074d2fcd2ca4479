// The bytes that a card's memory and links moved while a program ran, where its driver counts them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "ww/measure/counted/nvidia_traffic.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::session {

// Bytes of a stretch; a quantity that was not counted in all of it is absent.
struct MovedBytes {
  double seconds{};
  measure::NvidiaTraffic bytes;  // its rates times time
  std::string reason;            // why nothing was counted, or why not to the end

  void add(const measure::NvidiaTraffic& rates);
};

// Asks the driver each second, because nobody knows how long its counters run without wrapping.
class LinkTraffic {
 public:
  // Null for a card of another maker.
  static std::unique_ptr<LinkTraffic> beside(const measure::TelemetryGpu& gpu);
  explicit LinkTraffic(Result<std::unique_ptr<measure::NvidiaTrafficMeter>> meter);
  ~LinkTraffic();
  LinkTraffic(const LinkTraffic&) = delete;
  LinkTraffic& operator=(const LinkTraffic&) = delete;

  MovedBytes finish();

 private:
  void watch();
  void take();

  std::unique_ptr<measure::NvidiaTrafficMeter> meter_;
  MovedBytes moved_;
  bool ending_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace ww::session
