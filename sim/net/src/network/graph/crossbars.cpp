// The crossbars between a GPU's cores and its L2.
#include "network/graph/floorplan.hpp"
#include "network/graph/topologies.hpp"

namespace ww::sim::net::graph {
namespace {

std::uint16_t output_number(std::uint32_t port) {
  return static_cast<std::uint16_t>(port);
}

// The next nodes, whose router lies in their middle. Their wires are most of a crossbar's.
void add_nodes_around(GraphBuilder& builder, std::uint32_t router, const NetworkConfig& config,
                      NodeRange nodes) {
  const Place middle = middle_of(config, nodes);
  for (std::uint32_t node = nodes.first; node < nodes.first + nodes.count; ++node) {
    builder.add_node_over(router, distance(place_of(config, node), middle));
  }
}

}  // namespace

Topology crossbar(const NetworkConfig& config) {
  GraphBuilder builder(1);
  add_nodes_around(builder, 0, config, {0, static_cast<std::uint32_t>(node_count(config))});
  return {builder.take(), Routes(1, 1, 1)};
}

Topology hierarchical_crossbar(const NetworkConfig& config) {
  const auto clusters = static_cast<std::uint32_t>(config.height);
  const auto nodes = static_cast<std::uint32_t>(config.width * config.concentration);
  const auto uplinks = static_cast<std::uint32_t>(config.own<GraphConfig>().uplinks);
  const std::uint32_t middle = clusters;
  const Place at_middle = middle_of(config, {0, clusters * nodes});
  GraphBuilder builder(clusters + 1);
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    const NodeRange own{cluster * nodes, nodes};
    add_nodes_around(builder, cluster, config, own);
    const double pitches = distance(middle_of(config, own), at_middle);
    for (std::uint32_t link = 0; link < uplinks; ++link) {
      builder.add_both(cluster, middle, {.delay = config.link_delay, .pitches = pitches});
    }
  }
  // The destination's number chooses among the parallel links.
  Routes routes(clusters + 1, uplinks, 1);
  routes.spread_over(uplinks);
  for (std::uint32_t phase = 0; phase < uplinks; ++phase) {
    for (std::uint32_t to = 0; to < clusters; ++to) {
      const auto same = static_cast<std::uint8_t>(phase);
      for (std::uint32_t from = 0; from < clusters; ++from) {
        routes.at(phase, RouterId(from), RouterId(to)) = {output_number(nodes + phase), same, 0};
      }
      routes.at(phase, RouterId(middle), RouterId(to)) = {output_number(to * uplinks + phase), same,
                                                          0};
    }
  }
  return {builder.take(), std::move(routes)};
}

Topology partitioned_crossbar(const NetworkConfig& config) {
  const GraphConfig& keys = config.own<GraphConfig>();
  const auto bridges = static_cast<std::uint32_t>(keys.bridge_links);
  const auto nodes = static_cast<std::uint32_t>(node_count(config));
  const std::uint32_t first_half = (nodes + 1) / 2;
  GraphBuilder builder(2);
  const NodeRange halves[] = {{0, first_half}, {first_half, nodes - first_half}};
  add_nodes_around(builder, 0, config, halves[0]);
  add_nodes_around(builder, 1, config, halves[1]);
  const double pitches = distance(middle_of(config, halves[0]), middle_of(config, halves[1]));
  for (std::uint32_t link = 0; link < bridges; ++link) {
    builder.add_both(0, 1, {.delay = keys.bridge_delay, .pitches = pitches, .l2_crossing = true});
  }
  Routes routes(2, bridges, 1);
  routes.spread_over(bridges);
  for (std::uint32_t phase = 0; phase < bridges; ++phase) {
    const auto same = static_cast<std::uint8_t>(phase);
    routes.at(phase, RouterId(0), RouterId(1)) = {output_number(first_half + phase), same, 0};
    routes.at(phase, RouterId(1), RouterId(0)) = {output_number(nodes - first_half + phase), same,
                                                  0};
  }
  return {builder.take(), std::move(routes)};
}

}  // namespace ww::sim::net::graph
