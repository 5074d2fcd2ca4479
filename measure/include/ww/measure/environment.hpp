// What of this machine a GPU's measurements need: libraries, permissions, modes, other users.
#pragma once

#include <string>
#include <vector>

#include "ww/measure/finding.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {

// The vendors' libraries and profilers, each good or unavailable with the package's name. They are
// loaded in child processes.
[[nodiscard]] std::vector<Finding> check_libraries();

// Driver, permission to compute, ways to the sensor, partitions, ECC, other load and access to
// counters of one GPU. `sysfs` as in TelemetryOptions.
[[nodiscard]] std::vector<Finding> check_gpu(const TelemetryGpu& gpu, const std::string& sysfs);

}  // namespace ww::measure
