// Real AMD packages of several compute dies as devices of the chiplet campaign.
#pragma once

#include <string>

#include "device/device.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/compute_device.hpp"

namespace ww::microbench {

// Why the ways between the dies of a package cannot be measured; empty where they can, as far as
// can be told without touching it. `partition` is AmdGpu::compute_partition.
[[nodiscard]] std::string package_obstacle(const std::string& target, const std::string& device_id,
                                           const std::string& partition);

// The campaign's device from an opened one. The campaign finds dies, I/O dies and homes itself, so
// no topology is looked for. Errors: unsupported with package_obstacle()'s reason;
// missing_dependency where its power cannot be read.
[[nodiscard]] Result<Device> open_amd_package(ComputeDevice opened, const std::string& name);

}  // namespace ww::microbench
