// Runs other programs on a virtual GPU.
#pragma once

#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {

// Sets this process's environment so that OpenCL and HIP programs that it starts see one
// device: the requested virtual GPU (default: virtual:w9100). Their malloc() uses large pages,
// unless GLIBC_TUNABLES is set. Not while other threads run. Errors: not_found (no such chip),
// unsupported (a real device), missing_dependency (the driver is not built).
Status enter_virtual_device(const DeviceRequest& request);

}  // namespace ww::microbench
