// The distances between the nodes of a chip's crossbar, from the lengths of its wires.
#pragma once

#include <vector>

#include "ww/core/units.hpp"
#include "ww/sim/net/node_distances.hpp"

namespace ww::sim::net {

// `mm` is [unit][channel]: the length of the wires from a compute unit to a channel of the L2. The
// units are the first nodes and the channels the last ones. Distances are equal both ways. Units
// have no wires to each other, nor have channels. `ps_per_mm` is the delay of a repeated wire.
[[nodiscard]] NodeDistances crossbar_distances(const std::vector<std::vector<double>>& mm,
                                               double ps_per_mm, Hertz clock);

}  // namespace ww::sim::net
