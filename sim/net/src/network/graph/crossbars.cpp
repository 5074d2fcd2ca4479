// The crossbars between a GPU's cores and its L2.
#include "network/graph/topologies.hpp"

namespace ww::sim::net::graph {
namespace {

std::uint16_t output_number(std::uint32_t port) {
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Topology crossbar(const NetworkConfig& config) {
  GraphBuilder builder(1);
  for (int node = 0; node < node_count(config); ++node) {
    builder.add_node(0);
  }
  return {builder.take(), Routes(1, 1, 1)};
}

Topology hierarchical_crossbar(const NetworkConfig& config) {
  const auto clusters = static_cast<std::uint32_t>(config.height);
  const auto nodes = static_cast<std::uint32_t>(config.width * config.concentration);
  const auto uplinks = static_cast<std::uint32_t>(config.own<GraphConfig>().uplinks);
  const std::uint32_t middle = clusters;
  GraphBuilder builder(clusters + 1);
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      builder.add_node(cluster);
    }
    for (std::uint32_t link = 0; link < uplinks; ++link) {
      builder.add_both(cluster, middle, {.delay = config.link_delay});
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
  for (std::uint32_t node = 0; node < nodes; ++node) {
    builder.add_node(node < first_half ? 0 : 1);
  }
  for (std::uint32_t link = 0; link < bridges; ++link) {
    builder.add_both(0, 1, {.delay = keys.bridge_delay, .l2_crossing = true});
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
