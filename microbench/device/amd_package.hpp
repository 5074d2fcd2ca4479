// Real AMD packages of several compute dies as devices of the chiplet campaign.
#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {

// Whether `calibrate` measures the ways between the dies of this device's package: a part of
// gfx942 or gfx950, or, through HIP, a die of MI250 or MI250X. Through OpenCL such a die is a
// device by itself. `amd` is null where its files are not known.
[[nodiscard]] bool is_amd_package(const HostFacts& host, const measure::AmdGpu* amd);

// Why the ways between the dies of a package cannot be measured; empty where they can, as far as
// can be seen without touching it.
[[nodiscard]] std::string package_obstacle(const HostFacts& host, const measure::AmdGpu* amd);
// Checks also whether HIP shows the other die, where all hosts are known (list_driver_hosts).
[[nodiscard]] std::string package_obstacle(const HostFacts& host, const measure::AmdGpu* amd,
                                           const std::vector<HostListing>& hosts);

// Why a die of MI250 or MI250X cannot be measured by itself: its package's power is read with both
// dies together, and the other one is hidden, so that nothing shows whether it rests. Empty for
// other parts, and where the other die is seen.
[[nodiscard]] std::string hidden_sibling(const measure::AmdGpu& amd);

// The campaign's device from an opened one. The campaign finds dies, I/O dies and homes itself, so
// no topology is looked for. The two dies of an MI250 or MI250X are the device's parts; which two
// belong together is AmdGpu::other_die. Errors: unsupported with package_obstacle()'s reason;
// missing_dependency where its power cannot be read; those of open_host_pair.
[[nodiscard]] Result<Device> open_amd_package(ComputeDevice opened, const std::string& name);

}  // namespace ww::microbench
