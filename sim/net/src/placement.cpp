#include "ww/sim/net/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

std::vector<NodeId> default_memory_nodes(const NetworkConfig& network, const NetworkKind* kind) {
  if (kind != nullptr && kind->memory_nodes != nullptr) {
    return kind->memory_nodes(network);
  }
  const int nodes = node_count(network);
  const int row = network.width * network.concentration;
  const int wanted = std::max(1, nodes / 4);
  std::vector<NodeId> chosen;
  for (int i = 0; i < wanted; ++i) {
    // Alternate between the first and the last row, evenly along each.
    const int per_row = (wanted + 1) / 2;
    const int x = std::min(row - 1, (2 * (i / 2) + 1) * row / (2 * per_row));
    const int node = i % 2 == 0 ? x : nodes - 1 - x;
    chosen.push_back(static_cast<NodeId>(node));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

// Marks the nodes of a list; `role` is 1 for memory nodes, 2 for cores.
Status mark(std::string_view key, const std::vector<NodeId>& list, char role,
            std::vector<char>& roles) {
  for (const NodeId node : list) {
    if (node >= roles.size()) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("node {} is not one of {}", node, roles.size()), std::string(key));
    }
    if (roles[node] != 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("node {} is {}", node,
                              roles[node] == role ? "named twice" : "a memory node already"),
                  std::string(key));
    }
    roles[node] = role;
  }
  return {};
}

// All nodes but those of `role`.
std::vector<NodeId> others(const std::vector<char>& roles, char role) {
  std::vector<NodeId> rest;
  for (NodeId node = 0; node < roles.size(); ++node) {
    if (roles[node] != role) {
      rest.push_back(node);
    }
  }
  return rest;
}

}  // namespace

Result<Placement> place(const NetworkConfig& network, const std::vector<NodeId>& core_nodes,
                        const std::vector<NodeId>& memory_nodes) {
  constexpr char kMemory = 1;
  constexpr char kCore = 2;
  const NetworkKind* kind = find_network(network.network);
  Placement placement{core_nodes, memory_nodes};
  std::vector<char> roles(static_cast<std::size_t>(node_count(network)));
  if (memory_nodes.empty()) {
    placement.memory = default_memory_nodes(network, kind);
    // Nodes that were named as cores stay cores.
    std::erase_if(placement.memory, [&](NodeId node) {
      return std::find(core_nodes.begin(), core_nodes.end(), node) != core_nodes.end();
    });
    if (placement.memory.empty()) {
      return fail(ErrorCode::invalid_argument, "core_nodes leave no memory node; name memory_nodes",
                  "core_nodes");
    }
  }
  WW_TRY(mark("memory_nodes", placement.memory, kMemory, roles));
  WW_TRY(mark("core_nodes", placement.cores, kCore, roles));
  if (placement.cores.empty()) {
    placement.cores = kind != nullptr && kind->core_nodes != nullptr ? kind->core_nodes(network)
                                                                     : others(roles, kMemory);
  }
  if (placement.cores.empty()) {
    return fail(ErrorCode::invalid_argument, "memory_nodes leave no core", "memory_nodes");
  }
  return placement;
}

}  // namespace ww::sim::net
