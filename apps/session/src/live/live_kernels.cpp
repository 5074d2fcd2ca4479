#include "ww/session/live_kernels.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ww::session {

void LiveKernels::take(const LiveNews& news) {
  if (several_ || full_) return;
  for (const LiveSample& sample : news.samples) {
    if (process_.empty()) process_ = sample.process;
    if (sample.process != process_) {
      several_ = true;
      return;
    }
    series_.readings.push_back({sample.time_ns, sample.energy_ticks.value_or(energy::kAbsent),
                                static_cast<std::int64_t>(std::llround(sample.power_w * 1e6))});
  }
  log_.add(news.dispatches);
  full_ = log_.launches().size() > max_launches_;
}

KernelEnergies LiveKernels::energies(const KernelSensor& sensor) const {
  return several_ ? KernelEnergies() : kernel_energies(log_, series_, sensor);
}

std::string LiveKernels::note() const {
  if (several_) return "several processes used the chip, so kernels have no joules of their own";
  if (full_) return fmt::format("joules of kernels cover the first {} launches", max_launches_);
  return {};
}

}  // namespace ww::session
