// A device to run kernels on, with its sensor and counters, for programs other than the campaign.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/measure/i_sensor.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct ComputeDevice {
  std::string name;  // resolved: "virtual:w9100"
  bool is_virtual{};
  std::string target;       // "gfx701"
  std::int64_t l2_bytes{};  // 0: not known
  // Destroyed in reverse order; kernels and buffers go before them.
  std::unique_ptr<ComputeHost> host;
  // The sensor of the GPU at the host's PCI address. If none can be read, it is null and no_sensor
  // says why.
  std::unique_ptr<measure::Sensor> sensor;
  std::string no_sensor;
  std::optional<measure::AmdGpu> amd;           // its files, where it is AMD's and has some
  std::optional<measure::NvidiaGpu> nvidia;     // as NVML describes it, where it is NVIDIA's
  std::unique_ptr<measure::Counters> counters;  // null: the device has none that we can read
  const char* (*timing_report)(){};             // of virtual devices: ww_vgpu_abi's; else null
};

// Opens the device that the request names; "opencl:0.0" is any OpenCL device, without counters. A
// process can open one virtual chip. Errors: not_found, invalid_argument, unsupported,
// missing_dependency, device_error.
[[nodiscard]] Result<ComputeDevice> open_compute_device(const DeviceRequest& request);

// Why nothing can be calibrated on a device without a sensor, and what to do about it. The machine
// lacks something, so the code is missing_dependency.
[[nodiscard]] Error no_power(const ComputeDevice& device);

// The GPU of `telemetry` at the PCI address that the host's driver reports. It is null, with the
// reason, if the driver reports no address or there is no sensor at it.
struct SensorMatch {
  const measure::TelemetryGpu* gpu{};
  std::string reason;
};
[[nodiscard]] SensorMatch match_sensor(const HostFacts& host, const measure::Telemetry& telemetry);

}  // namespace ww::microbench
