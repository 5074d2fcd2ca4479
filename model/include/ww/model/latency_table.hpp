// A floorplan beside one table of latencies or flights, as the search for homes measures it.
#pragma once

#include <vector>

#include "ww/model/floorplan.hpp"
#include "ww/model/latency_witness.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::model {

// Judges latencies [engine][quadrant] [ticks of the chip's clock] with this standard error each,
// whole ticks apart. Not `recorded` where the table has not the floorplan's shape.
[[nodiscard]] LatencyWitness judge_latency_table(const std::vector<std::vector<double>>& ticks,
                                                 double noise_ticks, const Floorplan& floorplan);

// Judges the flights that a campaign stored, at the clock [Hz] that turned its ticks into
// nanoseconds.
[[nodiscard]] LatencyWitness judge_flights(const MeasuredPaths& paths, double clock_hz,
                                           const Floorplan& floorplan);

}  // namespace ww::model
