// Places nodes and routers on the die, which gives the lengths of links. The unit is the distance
// between neighbouring nodes, which is the link length of the energy accounting.
#pragma once

#include <cstdint>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net::graph {

// The nodes of a router: a square if their number is one, otherwise a row. Routers lie this number
// of nodes apart.
struct Tile {
  int columns{};
  int rows{};
};
[[nodiscard]] Tile tile_of(int nodes);

struct Place {
  double x{};
  double y{};
};
// Along x and y, as wires run.
[[nodiscard]] double distance(Place one, Place other);

struct NodeRange {
  std::uint32_t first{};
  std::uint32_t count{};
};
// Nodes in rows over the whole die, as wide as `width` tiles.
[[nodiscard]] Place place_of(const NetworkConfig& config, std::uint32_t node);
// The mean of their places.
[[nodiscard]] Place middle_of(const NetworkConfig& config, NodeRange nodes);

}  // namespace ww::sim::net::graph
