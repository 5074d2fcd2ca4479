// The virtual chips that the driver has, and what their data sheets say.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {

struct VirtualChip {
  std::string name;         // "w9100"; "virtual:w9100" is its device
  std::string description;  // "AMD FirePro W9100, gfx701, 4 engines of 11 CUs (virtual)"
};
// The built-in chips, then "random". Errors: missing_dependency (the driver is not built),
// unsupported (it is of another build).
[[nodiscard]] Result<std::vector<VirtualChip>> virtual_chips();

// The data sheet of the requested virtual chip as TOML (ww/sim/gpu/data_sheet.hpp). An empty name
// means virtual:w9100. Errors: those above; not_found (no such chip or file), unsupported (a real
// device), bad_data with the driver's reason (a bad chip file).
[[nodiscard]] Result<std::string> virtual_data_sheet(const DeviceRequest& request);

}  // namespace ww::microbench
