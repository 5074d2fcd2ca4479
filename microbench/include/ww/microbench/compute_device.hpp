// A device to run kernels on, with its counters, for programs other than the campaign.
#pragma once

#include <memory>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/microbench/campaign.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct ComputeDevice {
  std::string name;  // resolved: "virtual:w9100"
  bool is_virtual{};
  std::string target;  // "gfx701"
  // Destroyed in reverse order; kernels and buffers go before them.
  std::unique_ptr<ComputeHost> host;
  std::unique_ptr<measure::Counters> counters;  // null: the device has none that we can read
};

// Opens the device that the request names; "opencl:0.0" is any OpenCL device, without counters. A
// process can open one virtual chip. Errors: not_found, invalid_argument, unsupported,
// missing_dependency, device_error.
[[nodiscard]] Result<ComputeDevice> open_compute_device(const DeviceRequest& request);

}  // namespace ww::microbench
