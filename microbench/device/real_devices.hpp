// Lists the real GPUs to compute on, and those that have a sensor.
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
  std::string sensor;    // "NVML"; empty where its power cannot be read
  std::string pci{};     // of the card whose sensor it has, "0000:03:00.0"; empty: there is none
  std::string target{};  // "gfx90a", "sm_90"; empty where the driver does not say
  bool has_code{true};   // its kernels are machine code, so that they can be tied to a place
  bool integrated{};     // graphics of a processor
};
// OpenCL's, HIP's and CUDA's devices. Each driver is asked in a process of its own.
[[nodiscard]] std::vector<RealDevice> list_real_devices(const measure::Telemetry& telemetry);

// Chooses the device that serves a need best: for computing, OpenCL before HIP before CUDA, but
// NVIDIA's cards by CUDA, whose kernels are compiled when wirewatt is built. Errors: those of
// choose_device.
[[nodiscard]] Result<DeviceChoice> choose_among(DeviceNeed need,
                                                const std::vector<RealDevice>& devices,
                                                const measure::Telemetry& telemetry);

}  // namespace ww::microbench
