// Which real GPUs there are to compute on, and which have a sensor.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {

struct RealDevice {
  DeviceListing listing;  // where not usable for a campaign, the reason says what it lacks
  bool is_gpu{};
  std::string sensor;  // "NVML"; empty where its power cannot be read
};
// OpenCL's, HIP's and CUDA's devices. Each driver is asked in a process of its own.
[[nodiscard]] std::vector<RealDevice> list_real_devices(const measure::Telemetry& telemetry);

// The first GPU whose power can be read, OpenCL before HIP before CUDA; empty where there is none.
[[nodiscard]] std::string best_real_device();

}  // namespace ww::microbench
