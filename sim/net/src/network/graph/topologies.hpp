// The topologies by name. Each is drawn from the network's size and its own keys.
#pragma once

#include "network/graph/config.hpp"
#include "network/graph/graph.hpp"

namespace ww::sim::net::graph {

// One router that joins all nodes: GPGPU-Sim's default between L1 and L2.
[[nodiscard]] Topology crossbar(const NetworkConfig& config);
// A row is a cluster (as a GPC) with a crossbar of its own and `uplinks` links to the middle.
[[nodiscard]] Topology hierarchical_crossbar(const NetworkConfig& config);
// Two halves with a crossbar each and `bridge_links` links between them, as in an A100 or H100.
[[nodiscard]] Topology partitioned_crossbar(const NetworkConfig& config);

// Rings along x and y, folded, so that each link is two routers' distance long (Dally and Towles,
// ch. 5). Dimension order; a dateline splits the VCs of a ring in two halves.
[[nodiscard]] Topology torus(const NetworkConfig& config);
[[nodiscard]] Topology ring(const NetworkConfig& config);
// A mesh of routers that share a square of nodes each.
[[nodiscard]] Topology concentrated_mesh(const NetworkConfig& config);
// Links from each router to all others of its row and column.
[[nodiscard]] Topology flattened_butterfly(const NetworkConfig& config);
// A mesh cut into chiplets: links between them cross from die to die.
[[nodiscard]] Topology chiplet_mesh(const NetworkConfig& config);

// `radix`-ary butterflies and trees; the nodes must be a power of the radix.
[[nodiscard]] Topology butterfly(const NetworkConfig& config);
[[nodiscard]] Topology fat_tree(const NetworkConfig& config);
[[nodiscard]] Status check_radix(const NetworkConfig& config);

// Groups of `width` routers, all joined within the group, and a link between any two groups.
[[nodiscard]] Topology dragonfly(const NetworkConfig& config);

// The file that the key `topology` names. Errors name file, line and key.
[[nodiscard]] Result<Topology> topology_of_file(const NetworkConfig& config);
// Reads a topology in either form; `origin` stands in errors. No link is wider than `flit_bits`.
[[nodiscard]] Result<Topology> topology_of_toml(const std::string& text, const std::string& origin,
                                                std::string_view routing,
                                                int flit_bits = NetworkConfig{}.flit_bits);
[[nodiscard]] Result<Topology> topology_of_anynet(const std::string& text,
                                                  const std::string& origin,
                                                  std::string_view routing);

}  // namespace ww::sim::net::graph
