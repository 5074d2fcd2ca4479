#include "ww/session/card.hpp"

#include <algorithm>
#include <fstream>

#include "ww/measure/nvidia_gpu.hpp"

namespace ww::session {

std::optional<double> busy_share(const measure::TelemetryGpu& gpu) {
  std::optional<double> percent;
  if (gpu.amd) {
    std::ifstream file(gpu.amd->folder + "/gpu_busy_percent");
    double read = 0;
    if (file >> read) percent = read;
  } else if (gpu.nvidia) {
    percent = measure::nvidia_busy_percent(gpu.pci);
  }
  if (!percent) return std::nullopt;
  return std::clamp(*percent / 100, 0.0, 1.0);
}

model::KernelEstimate at_share(model::KernelEstimate estimate, double share) {
  const auto scale = [&](std::optional<model::Interval>& power) {
    if (power) power = power->times(share);
  };
  for (auto& segment : estimate.segments) {
    scale(segment.power_w);
    if (segment.upper_w) *segment.upper_w *= share;
  }
  scale(estimate.power_w);
  return estimate;
}

}  // namespace ww::session
