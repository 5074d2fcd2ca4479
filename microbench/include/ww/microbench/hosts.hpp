// The compute hosts by name: "opencl:0.1" (platform and device as the loader lists them), "hip:0",
// "cuda:0". Vendor libraries are looked for at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// Errors: invalid_argument (no such form of name), not_found, missing_dependency (names the
// package), device_error.
[[nodiscard]] Result<std::unique_ptr<ComputeHost>> open_host(const std::string& name);

// A host over the device of a name ("hip:0") and the one at another PCI address ("0000:c9:00.0"),
// which are its parts 0 and 1: kernels of each reach the memory of both. Errors: unsupported (a
// name that is not HIP's, another device that HIP does not show, devices that do not reach each
// other's memory), those of open_host.
[[nodiscard]] Result<std::unique_ptr<ComputeHost>> open_host_pair(const std::string& name,
                                                                  const std::string& other_pci);

struct HostListing {
  std::string name;    // "cuda:0"; "cuda" where the driver gave no device
  HostFacts facts;     // empty where it could not be opened
  std::string reason;  // why it cannot be used, and what to do; empty: usable
};
// Lists HIP's and CUDA's devices, or the reason why there are none. Each driver is called in a
// process of its own, because it may hang, crash or keep the GPU awake.
[[nodiscard]] std::vector<HostListing> list_driver_hosts();

}  // namespace ww::microbench
