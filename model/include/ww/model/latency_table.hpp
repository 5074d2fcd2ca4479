// A floorplan beside one table of latencies, as the search for homes measures it.
#pragma once

#include <vector>

#include "ww/model/floorplan.hpp"
#include "ww/model/latency_witness.hpp"

namespace ww::model {

// As judge_latency, of latencies [engine][quadrant] [ticks of the chip's clock] with this standard
// error each, whole ticks apart. Not `recorded` where the table has not the floorplan's shape.
[[nodiscard]] LatencyWitness judge_latency_table(const std::vector<std::vector<double>>& ticks,
                                                 double noise_ticks, const Floorplan& floorplan);

}  // namespace ww::model
