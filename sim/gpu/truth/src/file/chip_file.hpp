// Reads a chip file (sim/gpu/chips/README.md).
#pragma once

#include <string>
#include <string_view>

#include "truth.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::gpu {

struct ChipSpec {
  std::string title;  // for people: "AMD FirePro W9100"; the name where the file has none
  Architecture architecture;
  Truth truth;  // not yet finished
  // Built-in name or path relative to the chip file; empty: the true one; "none": nothing is
  // public.
  std::string floorplan;
};

// Errors: parse_error (unknown, missing or mistyped key) and out_of_range, with `origin`, line,
// key.
[[nodiscard]] Result<ChipSpec> parse_chip(std::string_view toml, const std::string& origin);

}  // namespace ww::sim::gpu
