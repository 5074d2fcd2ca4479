// A published floorplan in the picture of a topology.
#pragma once

#include <vector>

#include "drawing/svg_writer.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::report {

// Pixels that the drawing takes, its title and its scale included.
[[nodiscard]] double die_height(const model::Floorplan& plan);

// Draws the die with its top at `top`: compute units by engine, L2 channels with their numbers,
// memory controllers, and a bar of millimetres. `nearest` has the engine that was found nearest to
// each channel; a line shows it where the floorplan has as many engines and channels.
void add_die(SvgWriter& svg, const model::Floorplan& plan, const std::vector<int>& nearest,
             int engines, double top);

}  // namespace ww::report
