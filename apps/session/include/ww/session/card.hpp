// Reads from a real GPU's driver when kernels run, and applies it to an estimate.
#pragma once

#include <optional>

#include "ww/measure/telemetry.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

// Share of the time just past in which kernels ran, 0 to 1: amdgpu's gpu_busy_percent, NVML's
// utilisation (over its last period, 1/6 s to 1 s). Absent if the driver does not report it.
[[nodiscard]] std::optional<double> busy_share(const measure::TelemetryGpu& gpu);

// Scales the watts of kernels that run without a pause to a device on which they run for `share` of
// the time. Energies stay the same, because they belong to the profiled run.
[[nodiscard]] model::KernelEstimate at_share(model::KernelEstimate estimate, double share);

}  // namespace ww::session
