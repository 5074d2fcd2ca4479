// Reads a GPU's layout from Linux's amdgpu driver: /sys/class/kfd/kfd/topology/nodes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// The node of the GPU at a PCI address ("0000:c1:00.0"); empty: the only GPU there is. Errors:
// not_found (no KFD, no such GPU), parse_error with the file and line.
[[nodiscard]] Result<DriverLayout> read_kfd_layout(const std::filesystem::path& root,
                                                   const std::string& pci_bus);

// "gfx90a" of the GPU at a PCI address; absent where the driver does not say.
[[nodiscard]] std::optional<std::string> kfd_target(const std::filesystem::path& root,
                                                    const std::string& pci_bus);

// Where the driver publishes it: below $WIREWATT_SYSFS, else /sys.
[[nodiscard]] std::filesystem::path kfd_root();

}  // namespace ww::microbench
