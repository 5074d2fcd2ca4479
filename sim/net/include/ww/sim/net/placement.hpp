// Decides which nodes are cores and which are memory nodes (an L2 slice with its memory
// controller).
#pragma once

#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

struct Placement {
  std::vector<NodeId> cores;   // in the order given, else ascending
  std::vector<NodeId> memory;  // in the order given, else ascending
};

// Fills in nodes that are not given. By default a quarter of the nodes are memory nodes, spread
// over the top and bottom rows, and all others are cores. Errors, with key core_nodes or
// memory_nodes: a node does not exist, is named twice or is both; no node is left.
[[nodiscard]] Result<Placement> place(const NetworkConfig& network,
                                      const std::vector<NodeId>& core_nodes,
                                      const std::vector<NodeId>& memory_nodes);

}  // namespace ww::sim::net
