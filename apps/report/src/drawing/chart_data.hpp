// A chart's data as JSON for the page's script: {kind, title, description, ...}; six digits.
#pragma once

#include <string>

#include "drawing/bars.hpp"
#include "drawing/svg.hpp"

namespace ww::report {

// kind "plot": x, y (axis titles), xNames, height, zero, series [{name, colour, line, dots, radius,
// x, y, e, hint}], bands [[from, to, colour]]. Points that are not finite are left out. The text
// has no '<', so it cannot end the script element that holds it.
[[nodiscard]] std::string to_data(const Plot& plot);
// kind "bars": unit, legend, markName, bars [{name, hint, parts, interval, mark}].
[[nodiscard]] std::string to_data(const BarChart& chart);

}  // namespace ww::report
