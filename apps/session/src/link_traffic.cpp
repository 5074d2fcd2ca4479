#include "ww/session/link_traffic.hpp"

#include <chrono>

namespace ww::session {

void MovedBytes::add(const measure::NvidiaTraffic& rates) {
  const bool first = seconds == 0;
  for (const measure::NamedTraffic& named : measure::kNamedTraffic) {
    auto& sum = bytes.*named.rate;
    const auto& rate = rates.*named.rate;
    if (rate && (first || sum)) {
      sum = sum.value_or(0) + *rate * rates.seconds;
    } else {
      sum.reset();
    }
  }
  seconds += rates.seconds;
}

std::unique_ptr<LinkTraffic> LinkTraffic::beside(const measure::TelemetryGpu& gpu) {
  if (!gpu.nvidia) return nullptr;
  return std::make_unique<LinkTraffic>(measure::NvidiaTrafficMeter::open(gpu.pci));
}

LinkTraffic::LinkTraffic(Result<std::unique_ptr<measure::NvidiaTrafficMeter>> meter) {
  if (!meter) {
    moved_.reason = meter.error().text();
    return;
  }
  meter_ = std::move(*meter);
  thread_ = std::thread([this] { watch(); });
}

LinkTraffic::~LinkTraffic() {
  (void)finish();
}

void LinkTraffic::take() {
  const auto taken = meter_->take();
  if (!taken) {
    moved_.reason = taken.error().text();
    return;
  }
  if (*taken) moved_.add(**taken);
}

void LinkTraffic::watch() {
  constexpr std::chrono::seconds kBetween{1};
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetween, [this] { return ending_; })) take();
  take();
}

MovedBytes LinkTraffic::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  return moved_;
}

}  // namespace ww::session
