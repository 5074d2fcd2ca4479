// What another layout of the die would make of an application's interconnect energy.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::model {

// Mean Manhattan distances of two segments, in units of one and the same length.
struct Layout {
  std::string_view name;
  double l1_l2{};
  double l2_memory{};
};
// The two of IISWC'16, Fig. 11: optimised for L2-memory, and for L1-L2.
[[nodiscard]] std::span<const Layout> paper_layouts();

// Bits that cross the two segments.
struct LayoutTraffic {
  double l1_l2_bits{};
  double l2_memory_bits{};
};
// Interconnect energy between L1 and memory controller, in bits times units of length (the same
// energy per bit and length on both).
[[nodiscard]] double layout_cost(const Layout& layout, const LayoutTraffic& traffic);

// A die of square tiles: compute units, L2 channels, a memory controller for each of them at the
// edge, the rest other logic.
struct BlockPlan {
  enum class Tile : std::uint8_t { other, compute, l2, memory };
  int side{10};  // tiles
  double tile_mm{};
  std::vector<Tile> tiles;          // [y * side + x]
  std::vector<int> l2, controller;  // tile of channel i and of its controller
  [[nodiscard]] double l1_l2_mm() const;
  [[nodiscard]] double l2_memory_mm() const;
  // A line of text a row: C, L, M, and a dot for the rest.
  [[nodiscard]] std::string picture() const;
};

// L2 in the middle, controllers spread along the edges, compute units between. Errors: out_of_range
// (the blocks do not fit, or the controllers not along the edges; a die without area).
[[nodiscard]] Result<BlockPlan> central_plan(int compute_units, int channels, double die_side_mm);

// Swaps tiles by simulated annealing so that the traffic costs least; controllers stay at the edge.
// The same seed gives the same plan; never worse than where it began. Error out_of_range: traffic
// that is negative or nothing.
[[nodiscard]] Result<BlockPlan> optimise_plan(const BlockPlan& from, const LayoutTraffic& traffic,
                                              std::uint64_t seed);

}  // namespace ww::model
