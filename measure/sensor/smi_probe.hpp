// Declares what AMD's two management libraries (AMD SMI and ROCm SMI) share: neither reads another
// device tree, and both may end or stop the process that calls them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {

// Whether such a library can concern this GPU at all. Error unsupported: the device tree is not
// this machine's, or the other die of the package has the sensor.
[[nodiscard]] Status smi_concerns(const AmdGpu& gpu, const TelemetryOptions& options);

// The libraries' locks of each GPU. A process that was ended leaves its own behind.
[[nodiscard]] std::set<std::string> smi_locks();

// Opens the source in a child and reads it twice there. Locks that a child leaves behind when it
// dies are removed. Errors: those of `open`; device_error (the child crashed or hung).
[[nodiscard]] Status probe_smi(const std::string& library, const AmdGpu& gpu,
                               const std::function<Result<std::unique_ptr<PowerSource>>()>& open);

}  // namespace ww::measure
