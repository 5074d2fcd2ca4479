// The interconnect energy that an application would have with another layout of the die.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::model {

// Mean Manhattan distances of two segments, both in the same unit of length.
struct Layout {
  std::string_view name;
  double l1_l2{};
  double l2_memory{};
};
// The two layouts of IISWC'16, Fig. 11: optimised for L2-memory, and for L1-L2.
[[nodiscard]] std::span<const Layout> paper_layouts();

// Bits that cross the two segments.
struct LayoutTraffic {
  double l1_l2_bits{};
  double l2_memory_bits{};
};
// Interconnect energy between L1 and memory controller, in bits times units of length. Both
// segments are assumed to have the same energy per bit and length.
[[nodiscard]] double layout_cost(const Layout& layout, const LayoutTraffic& traffic);

// A die of square tiles: compute units, L2 channels, a memory controller at the edge for each
// channel, and other logic.
struct BlockPlan {
  enum class Tile : std::uint8_t { other, compute, l2, memory };
  int side{10};  // tiles
  double tile_mm{};
  std::vector<Tile> tiles;          // [y * side + x]
  std::vector<int> l2, controller;  // tile of channel i and of its controller
  [[nodiscard]] double l1_l2_mm() const;
  [[nodiscard]] double l2_memory_mm() const;
  // One line of text for each row: C, L, M, and a dot for other logic.
  [[nodiscard]] std::string picture() const;
};

// A plan with the L2 in the middle, controllers along the edges, and compute units between them.
// Errors: out_of_range (the blocks do not fit, the controllers do not fit along the edges, or the
// die has no area).
[[nodiscard]] Result<BlockPlan> central_plan(int compute_units, int channels, double die_side_mm);

// Swaps tiles by simulated annealing to minimise the cost of the traffic; controllers stay at the
// edge. The same seed gives the same plan. The result is never worse than `from`. Error
// out_of_range if the traffic is negative or zero.
[[nodiscard]] Result<BlockPlan> optimise_plan(const BlockPlan& from, const LayoutTraffic& traffic,
                                              std::uint64_t seed);

}  // namespace ww::model
