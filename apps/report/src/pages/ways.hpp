// The ways between a package's dies, as pages name and draw them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "drawing/package_map.hpp"
#include "pages/html.hpp"
#include "ww/calibration/way_name.hpp"

namespace ww::report {

using calibration::way_name;

// Figures by hop class, where the drawing has them.
[[nodiscard]] PackageWays package_ways(const std::map<std::string, double>& figures);

// The sections about the ways of an estimate: the drawing, a bar for each kernel, and the table.
// `ways` is what `estimate --json` has under this name; `key` is energy_j or power_w.
void add_ways(Html& page, const nlohmann::json& ways, const char* key);

}  // namespace ww::report
