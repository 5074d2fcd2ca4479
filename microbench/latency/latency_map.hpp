// Derives places from a table of latencies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// `repeats`: [repeat][place][home] in ticks, at least two, all of one shape. An entry is the median
// of its repeats; the noise is what is left of their spread in the median. found where the contrast
// (rows and columns taken out) is over three times the noise. Errors: invalid_argument (shapes).
[[nodiscard]] Result<LatencyMap> latency_map(
    std::span<const std::vector<std::vector<double>>> repeats);

// Splits places in two by the direction of greatest contrast (the first singular vectors of the
// table without rows and columns). found where it explains half of the contrast or more, places and
// lines stand apart on it (stand_apart() of latency_table.hpp), and both sides have at least an
// eighth of the places. The reason: a crossing is a step. Whatever pair crosses has the same way
// more, so SMs and lines have one of two figures; a way that grows with distance has a whole range
// of them. `side_of_home` gets the columns'
// sides.
[[nodiscard]] Sides find_sides(const LatencyMap& map, std::vector<int>& side_of_home);

}  // namespace ww::microbench
