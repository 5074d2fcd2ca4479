// Checks what measurements of a GPU need from the machine: libraries, permissions, modes, and no
// other users.
#pragma once

#include <string>
#include <vector>

#include "ww/measure/finding.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {

// Checks the vendors' libraries and profilers. Each is good, or unavailable with the package's
// name. They are loaded in child processes.
[[nodiscard]] std::vector<Finding> check_libraries();

// Whether Nsight Compute may count. `ncu`: its program, empty where there is none. `driver_params`
// and `process_status`: the texts of /proc/driver/nvidia/params and /proc/self/status. The driver
// may keep counters to processes with CAP_SYS_ADMIN, which root in a container lacks.
[[nodiscard]] Finding check_ncu(const std::string& ncu, const std::string& driver_params,
                                const std::string& process_status);

// Checks one GPU: driver, permission to compute, interfaces to the sensor, partitions, ECC, other
// load, and access to counters. `sysfs` is as in TelemetryOptions.
[[nodiscard]] std::vector<Finding> check_gpu(const TelemetryGpu& gpu, const std::string& sysfs);

// How a user gets to open a GPU's device files: "add yourself to the group render (sudo usermod
// ...)"; inside a container, where that does nothing, how the container must be started. `root` is
// put before every path; empty but in tests.
[[nodiscard]] std::string how_to_open_devices(const std::string& root = "");

}  // namespace ww::measure
