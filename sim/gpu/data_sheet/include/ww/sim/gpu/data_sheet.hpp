// Declares the data sheet of a virtual chip. The sheet is the public part of a chip file, and
// nothing here refers to the sealed truth: programs link this, while drivers alone link the truth.
// A program gets the sheet of a chip from the driver, as text (ww_vgpu_catalog in
// ww/core/vgpu_abi.h).
#pragma once

#include <string>
#include <string_view>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

struct DataSheet {
  std::string title;  // "AMD FirePro W9100"
  Architecture architecture;
};

// The sheet as TOML, with the keys of a chip file.
[[nodiscard]] std::string to_toml(const DataSheet& sheet);

// Reads what to_toml() wrote. Errors: parse_error and out_of_range, with `origin`, line and key.
[[nodiscard]] Result<DataSheet> parse_data_sheet(std::string_view toml, const std::string& origin);

}  // namespace ww::sim::gpu
