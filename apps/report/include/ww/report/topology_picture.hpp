// A chip's layout, drawn: for terminals as text, for pages as SVG.
#pragma once

#include <string>

namespace ww::microbench {
struct Topology;
}
namespace ww::model {
struct Floorplan;
}

namespace ww::report {

// Shows the parts found, and the latency [ticks] between engines and L2 channels above the least
// one. A part that was not found gives its reason.
[[nodiscard]] std::string topology_picture(const microbench::Topology& topology);

// A self-contained SVG image: a cell for each engine (row) and L2 channel (column), the nearer the
// darker. Below it `die`, where it is not null: the published floorplan with its scale, and a line
// from each channel to the engine that was found to be its nearest.
[[nodiscard]] std::string topology_svg(const microbench::Topology& topology,
                                       const model::Floorplan* die = nullptr);

}  // namespace ww::report
