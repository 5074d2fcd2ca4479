#include "network/graph/floorplan.hpp"

#include <cmath>

namespace ww::sim::net::graph {

Tile tile_of(int nodes) {
  const int side = static_cast<int>(std::lround(std::sqrt(nodes)));
  return side * side == nodes ? Tile{side, side} : Tile{nodes, 1};
}

double distance(Place one, Place other) {
  return std::abs(one.x - other.x) + std::abs(one.y - other.y);
}

Place place_of(const NetworkConfig& config, std::uint32_t node) {
  const auto columns =
      static_cast<std::uint32_t>(config.width * tile_of(config.concentration).columns);
  const std::uint32_t row = node / columns;
  return {static_cast<double>(node % columns), static_cast<double>(row)};
}

Place middle_of(const NetworkConfig& config, NodeRange nodes) {
  Place sum;
  for (std::uint32_t node = nodes.first; node < nodes.first + nodes.count; ++node) {
    const Place at = place_of(config, node);
    sum.x += at.x;
    sum.y += at.y;
  }
  return {sum.x / nodes.count, sum.y / nodes.count};
}

}  // namespace ww::sim::net::graph
