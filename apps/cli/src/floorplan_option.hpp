// --floorplan, which names a floorplan of wirewatt's own or a file of one.
#pragma once

#include <string>

#include "ww/core/result.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::cli {

// "w9100" or "path/plan.toml". Error not_found: neither a file nor the name of a floorplan; those
// of parse_floorplan.
[[nodiscard]] Result<model::Floorplan> named_floorplan(const std::string& name);

}  // namespace ww::cli
