// Which chips there are, and their data sheets: what a driver says before it powers a chip on.
// Defined by the truth, as a chip file has both parts; only the public one comes out.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

struct BuiltinChip {
  std::string name;         // "w9100"
  std::string description;  // "AMD FirePro W9100, gfx701, 4 engines of 11 CUs"
};
// The built-in chips, in the order of their list.
[[nodiscard]] std::vector<BuiltinChip> builtin_chips();

// The data sheet of a chip as TOML (ww/sim/gpu/data_sheet.hpp). Errors: those of Chip::load.
[[nodiscard]] Result<std::string> chip_sheet(const ChipRequest& request);

}  // namespace ww::sim::gpu
