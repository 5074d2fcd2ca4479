// Topologies whose routers lie in rows and columns.
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "network/graph/floorplan.hpp"
#include "network/graph/topologies.hpp"

namespace ww::sim::net::graph {
namespace {

std::vector<Position> grid_positions(const NetworkConfig& config) {
  std::vector<Position> at;
  at.reserve(static_cast<std::size_t>(config.width * config.height));
  for (int router = 0; router < config.width * config.height; ++router) {
    at.push_back({router % config.width, router / config.width});
  }
  return at;
}

std::uint32_t grid_router(const NetworkConfig& config, int x, int y) {
  return static_cast<std::uint32_t>(y * config.width + x);
}

// Nodes are numbered in rows over the whole chip, so that a router's lie in several rows. They take
// the first ports of their router.
void add_tiles(GraphBuilder& builder, const NetworkConfig& config, const Tile& tile) {
  for (int y = 0; y < tile.rows * config.height; ++y) {
    for (int x = 0; x < tile.columns * config.width; ++x) {
      builder.add_node_at(
          grid_router(config, x / tile.columns, y / tile.rows),
          static_cast<std::uint32_t>(y % tile.rows * tile.columns + x % tile.columns));
    }
  }
}

// Rings along each axis of more than one router. Ports: + and - of each ring, then the nodes.
Topology rings(const NetworkConfig& config, const Wiring::Link& like) {
  const int sides[] = {config.width, config.height};
  const int strides[] = {1, config.width};
  const int routers = config.width * config.height;
  std::vector<int> axes;
  for (int axis = 0; axis < 2; ++axis) {
    if (sides[axis] > 1) {
      axes.push_back(axis);
    }
  }
  GraphBuilder builder(static_cast<std::uint32_t>(routers));
  const auto axes_count = static_cast<std::uint32_t>(axes.size());
  const auto place = [&](int router, int axis) { return router / strides[axis] % sides[axis]; };
  for (int router = 0; router < routers; ++router) {
    for (std::uint32_t i = 0; i < axes_count; ++i) {
      const int axis = axes[i];
      const bool last = place(router, axis) + 1 == sides[axis];
      const int next = router + (last ? 1 - sides[axis] : 1) * strides[axis];
      const auto from = static_cast<std::uint32_t>(router);
      const auto to = static_cast<std::uint32_t>(next);
      builder.add_link_at(from, 2 * i, to, 2 * i + 1, like);
      builder.add_link_at(to, 2 * i + 1, from, 2 * i, like);
    }
  }
  for (int node = 0; node < node_count(config); ++node) {
    builder.add_node_at(static_cast<std::uint32_t>(node / config.concentration),
                        2 * axes_count + static_cast<std::uint32_t>(node % config.concentration));
  }
  // Phase 0 has just entered; 1 + 2 * axis + layer is on its way along an axis. Where both ways
  // round the next ring are equally long, `drawn` and the phase after it mean - and +. A packet
  // keeps to one layer all along a ring: to 1 if it began at a higher place than it ends (BookSim's
  // dateline). In each direction one layer is for those that cross the end of the ring. As nobody
  // goes more than half way round, no layer's channels close a circle.
  const bool draws = config.own<GraphConfig>().ways != "fixed";
  const std::uint32_t drawn = 1 + 2 * axes_count;
  Routes routes(static_cast<std::uint32_t>(routers), drawn + (draws ? 2 : 0), 2);
  for (int here = 0; here < routers; ++here) {
    for (int to = 0; to < routers; ++to) {
      std::uint32_t i = 0;
      while (i < axes_count && place(here, axes[i]) == place(to, axes[i])) {
        ++i;
      }
      if (i == axes_count) {
        continue;
      }
      const int at = place(here, axes[i]);
      const int side = sides[axes[i]];
      const int ahead = (place(to, axes[i]) - at + side) % side;
      const bool half_way = 2 * ahead == side;
      if (half_way && draws) {
        routes.draw_at(RouterId(here), RouterId(to),
                       {.ways = 2, .first_phase = static_cast<std::uint8_t>(drawn)});
      }
      const bool backwards = at > place(to, axes[i]);
      for (std::uint32_t phase = 0; phase < routes.phases(); ++phase) {
        // Half way round, even places go one way and odd places the other, if nothing is drawn.
        const bool plus =
            2 * ahead < side || (half_way && (phase < drawn ? at % 2 == 0 : phase != drawn));
        const bool under_way = phase != 0 && phase < drawn && (phase - 1) / 2 == i;
        const std::uint32_t layer = under_way ? (phase - 1) % 2 : (backwards ? 1u : 0u);
        routes.at(phase, RouterId(here), RouterId(to)) = {
            static_cast<std::uint16_t>(2 * i + (plus ? 0 : 1)),
            static_cast<std::uint8_t>(1 + 2 * i + layer), static_cast<std::uint8_t>(layer)};
      }
    }
  }
  return {builder.take(), std::move(routes)};
}

// A link between routers that lie `nodes` nodes apart: as many times as long as one between
// neighbouring nodes, and as slow.
Wiring::Link link_over(int nodes, const NetworkConfig& config) {
  return {.delay = nodes * config.link_delay, .pitches = static_cast<double>(nodes)};
}

// Links over half a side along the four edges, BookSim's: a router there has no neighbour beyond
// it, and its port to that side is free for them.
void add_express_links(GraphBuilder& builder, const NetworkConfig& config, const Tile& tile) {
  const auto nodes = static_cast<std::uint32_t>(config.concentration);
  // Along one axis, of `side` routers, at both ends of the other. Port `low` is free at its
  // beginning, and `low` - 1 at its end.
  const auto add = [&](int side, int rows, std::uint32_t low, int nodes_apart, const auto& router) {
    for (const int row : {0, rows - 1}) {
      const std::uint32_t port = nodes + low - (row == 0 ? 0 : 1);
      for (int place = 0; place < side / 2; ++place) {
        const std::uint32_t one = router(place, row);
        const std::uint32_t other = router(place + side / 2, row);
        const Wiring::Link like = link_over(side / 2 * nodes_apart, config);
        builder.add_link_at(one, port, other, port, like);
        builder.add_link_at(other, port, one, port, like);
      }
    }
  };
  add(config.width, config.height, 3, tile.columns,
      [&](int place, int row) { return grid_router(config, place, row); });
  add(config.height, config.width, 1, tile.rows,
      [&](int place, int row) { return grid_router(config, row, place); });
}

// Dimension order. Where packets draw the order of the dimensions, x first is phase 1 and has layer
// 0. Where they take detours, layer 0 is for the way to the router by which they go.
Routes grid_routes(const NetworkConfig& config, const Wiring& wiring) {
  const std::vector<Position> at = grid_positions(config);
  Routes x_first = dimension_order_routes(wiring, at);
  const std::string& ways = config.own<GraphConfig>().ways;
  if (ways == "fixed") {
    return x_first;
  }
  const bool detours = ways == "booksim-valiant" || ways == "booksim-ugal";
  std::vector<Position> turned;
  turned.reserve(at.size());
  for (const Position& position : at) {
    turned.push_back({position.y, position.x});
  }
  const Routes y_first = dimension_order_routes(wiring, turned);
  const auto choice = ways == "booksim" ? Routes::Choice::any : Routes::Choice::freer_or_any;
  Routes routes(wiring.routers, 2, 2);
  for (std::uint32_t here = 0; here < wiring.routers; ++here) {
    for (std::uint32_t to = 0; to < wiring.routers; ++to) {
      const RouterId from(here);
      const RouterId end(to);
      routes.at(0, from, end) = {(detours ? x_first : y_first).at(0, from, end).output, 0, 1};
      routes.at(1, from, end) = {x_first.at(0, from, end).output, 1, 0};
      if (!detours && here != to) {
        routes.draw_at(from, end, {.ways = 2, .first_phase = 0, .choice = choice});
      }
    }
  }
  routes.draw_at_entries_alone();
  if (detours) {
    std::vector<RouterId> nodes;
    nodes.reserve(wiring.terminals.size());
    for (const Wiring::Terminal& terminal : wiring.terminals) {
      nodes.push_back(terminal.to);
    }
    const auto kind = ways == "booksim-ugal" ? Detours::Kind::ugal : Detours::Kind::valiant;
    routes.make_detours(Detours(kind, config.concentration, at, std::move(nodes)));
  }
  return routes;
}

}  // namespace

Topology torus(const NetworkConfig& config) {
  return rings(config, {.delay = 2 * config.link_delay, .pitches = 2});
}

// Through several rows a ring winds so that neighbours lie side by side; in one row it is folded.
Topology ring(const NetworkConfig& config) {
  const bool is_row = config.width == 1 || config.height == 1;
  NetworkConfig row = config;
  row.width = config.width * config.height;
  row.height = 1;
  return rings(row, {.delay = config.link_delay, .pitches = is_row ? 2.0 : 1.0});
}

Topology concentrated_mesh(const NetworkConfig& config) {
  const Tile tile = tile_of(config.concentration);
  const auto nodes = static_cast<std::uint32_t>(config.concentration);
  GraphBuilder builder(static_cast<std::uint32_t>(config.width * config.height));
  add_tiles(builder, config, tile);
  const Wiring::Link like = link_over(tile.columns, config);
  for (int y = 0; y < config.height; ++y) {
    for (int x = 0; x < config.width; ++x) {
      const std::uint32_t here = grid_router(config, x, y);
      if (x + 1 < config.width) {
        builder.add_link_at(here, nodes, here + 1, nodes + 1, like);
        builder.add_link_at(here + 1, nodes + 1, here, nodes, like);
      }
      if (y + 1 < config.height) {
        const std::uint32_t above = grid_router(config, x, y + 1);
        builder.add_link_at(here, nodes + 2, above, nodes + 3, like);
        builder.add_link_at(above, nodes + 3, here, nodes + 2, like);
      }
    }
  }
  if (config.own<GraphConfig>().express_links) {
    add_express_links(builder, config, tile);
  }
  Wiring wiring = builder.take();
  Routes routes = grid_routes(config, wiring);
  return {std::move(wiring), std::move(routes)};
}

// Routers are joined in BookSim's order, which is that of their numbers within a row, and then
// within a column. Inputs and outputs therefore have other numbers.
Topology flattened_butterfly(const NetworkConfig& config) {
  const Tile tile = tile_of(config.concentration);
  GraphBuilder builder(static_cast<std::uint32_t>(config.width * config.height));
  add_tiles(builder, config, tile);
  for (int y = 0; y < config.height; ++y) {
    for (int x = 0; x < config.width; ++x) {
      const std::uint32_t here = grid_router(config, x, y);
      for (int other = 0; other < config.width; ++other) {
        if (other != x) {
          builder.add_link(here, grid_router(config, other, y),
                           link_over(tile.columns * std::abs(other - x), config));
        }
      }
      for (int other = 0; other < config.height; ++other) {
        if (other != y) {
          builder.add_link(here, grid_router(config, x, other),
                           link_over(tile.rows * std::abs(other - y), config));
        }
      }
    }
  }
  Wiring wiring = builder.take();
  Routes routes = grid_routes(config, wiring);
  return {std::move(wiring), std::move(routes)};
}

Topology chiplet_mesh(const NetworkConfig& config) {
  const GraphConfig& keys = config.own<GraphConfig>();
  GraphBuilder builder(static_cast<std::uint32_t>(config.width * config.height));
  const auto link_to = [&](int place, Wiring::DieHop hop) {
    if (place % keys.chiplet_side != 0) return Wiring::Link{.delay = config.link_delay};
    return Wiring::Link{
        .delay = keys.die_to_die_delay, .pj_per_bit = keys.die_to_die_pj_per_bit, .die_hop = hop};
  };
  for (int y = 0; y < config.height; ++y) {
    for (int x = 0; x < config.width; ++x) {
      const std::uint32_t here = grid_router(config, x, y);
      if (x + 1 < config.width) {
        const Wiring::Link along_row = link_to(x + 1, Wiring::DieHop::row);
        builder.add_link_at(here, 0, here + 1, 1, along_row);
        builder.add_link_at(here + 1, 1, here, 0, along_row);
      }
      if (y + 1 < config.height) {
        const std::uint32_t above = grid_router(config, x, y + 1);
        const Wiring::Link along_column = link_to(y + 1, Wiring::DieHop::column);
        builder.add_link_at(here, 2, above, 3, along_column);
        builder.add_link_at(above, 3, here, 2, along_column);
      }
    }
  }
  for (int node = 0; node < node_count(config); ++node) {
    builder.add_node_at(static_cast<std::uint32_t>(node / config.concentration),
                        static_cast<std::uint32_t>(4 + node % config.concentration));
  }
  Wiring wiring = builder.take();
  Routes routes = dimension_order_routes(wiring, grid_positions(config));
  return {std::move(wiring), std::move(routes)};
}

}  // namespace ww::sim::net::graph
