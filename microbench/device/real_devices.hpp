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
  std::string sensor;  // "NVML"; empty where its power cannot be read
  std::string pci{};   // of the card whose sensor it has, "0000:03:00.0"; empty where there is none
};
// OpenCL's, HIP's and CUDA's devices. Each driver is asked in a process of its own.
[[nodiscard]] std::vector<RealDevice> list_real_devices(const measure::Telemetry& telemetry);

// The device that is chosen where none is named.
struct RealChoice {
  // The first device that a campaign can use, OpenCL before HIP before CUDA; but NVIDIA's cards by
  // CUDA, whose kernels are compiled when wirewatt is built.
  std::string usable;
  std::string readable;  // likewise the first GPU to compute on whose power can be read
  // Where there are GPUs and none is usable: each of them and what it lacks.
  std::string obstacle;
};
[[nodiscard]] RealChoice choose_real_device();
// Chooses among the devices that were found.
[[nodiscard]] RealChoice choose_among(const std::vector<RealDevice>& devices,
                                      const measure::Telemetry& telemetry);

}  // namespace ww::microbench
