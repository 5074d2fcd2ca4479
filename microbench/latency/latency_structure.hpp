// Decomposes a table of latencies whose places have no two sides.
#pragma once

#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// Fits the table as a sum over place and line and one product (LatencyStructure). found where the
// product's singular value is over twice what the noise of the entries would give, and its square
// over three times the next product's. The reason: what belongs to single pairs of place and line
// (a bank, a turn in an arbiter) spreads over many products equally, and a way through the chip
// does not.
[[nodiscard]] LatencyStructure latency_structure(const LatencyMap& map);

// The places and lines at the two ends of the product, a third of each at either end; the others
// have side -1. Places of an end are near the lines of the same side: the sum over place and line
// drops out of the four means, so far_ticks - near_ticks is the product's part alone. Precondition:
// the structure was found.
[[nodiscard]] Sides ends_of(const LatencyMap& map, const LatencyStructure& structure,
                            std::vector<int>& side_of_line);

// Half-width of the 95% interval of far_ticks - near_ticks of ends_of(): what belongs to single
// pairs and the noise, over the pairs of the four blocks.
[[nodiscard]] double difference_error_ticks(const LatencyStructure& structure, const Sides& ends,
                                            const std::vector<int>& side_of_line);

}  // namespace ww::microbench
