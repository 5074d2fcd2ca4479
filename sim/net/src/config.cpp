#include "ww/sim/net/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "ww/core/suggest.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

constexpr int kMaxSide = 256;           // coordinates travel in the flit as bytes
constexpr int kMaxNodesPerRouter = 12;  // ports are counted in 16-bit masks
constexpr std::string_view kNetworkGroup = "Network";

constexpr Key<NetworkConfig> kSizeKeys[] = {
    {"network", &NetworkConfig::network, anything(), "", "", "Name of the network", ""},
    {"width", &NetworkConfig::width, between(1, kMaxSide, "routers along x"), "routers", "",
     "Length of a row", ""},
    {"height", &NetworkConfig::height, between(1, kMaxSide, "routers along y"), "routers", "",
     "Length of a column", ""},
    {"concentration", &NetworkConfig::concentration,
     between(1, kMaxNodesPerRouter, "nodes per router"), "", kNetworkGroup, "Nodes at each router",
     ""},
    {"classes", &NetworkConfig::classes, between(1, 4, "message classes"), "", "",
     "Message classes, each with virtual channels of its own", ""},
    {"planes", &NetworkConfig::planes, anything(), "", kNetworkGroup,
     "Give each message class a network of its own", ""},
    {"flit_bits", &NetworkConfig::flit_bits, between(8, 4096, "bits of a flit"), "bits",
     kNetworkGroup, "Width of a flit", ""},
    {"link_delay", &NetworkConfig::link_delay, between(1, 64, "a wire takes a cycle"), "cycles",
     kNetworkGroup, "Time to cross a link", ""},
};

constexpr Key<NetworkConfig> kMemoryKeys[] = {
    {"memory_nodes", &NetworkConfig::memory_nodes, anything(), "", "",
     "Nodes of the memory controllers", ""},
    {"error_threshold", &NetworkConfig::error_threshold,
     between(0, 1, "a relative error, as a fraction"), "", "",
     "Largest relative error of an approximable word, as a fraction", ""},
};

constexpr Key<NetworkConfig> kCountKeys[] = {
    {"count_events", &NetworkConfig::count_events, anything(), "", "",
     "Count the use of each port, for energy and heat maps", ""},
    {"count_toggles", &NetworkConfig::count_toggles, anything(), "", "",
     "Count the real bit transitions of each link", ""},
};

Status check_distances(const NetworkKind& kind, const NetworkConfig& config) {
  const auto& distances = config.own<NodeDistances>().um;
  const std::size_t timed = config.own<NodeDistances>().more_cycles.size();
  if (timed != 0 && timed != distances.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} times of wires for {} lengths", timed, distances.size()),
                "node_distances");
  }
  if (distances.empty()) {
    return {};
  }
  if (!kind.one_switch) {
    return fail(ErrorCode::unsupported,
                fmt::format("distances between nodes are lengths of wires in a crossbar; packets "
                            "of {} pass other routers on their way",
                            kind.name),
                "node_distances");
  }
  const auto nodes = static_cast<std::size_t>(node_count(config));
  if (distances.size() != nodes * nodes) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} distances between {} nodes; each pair has one", distances.size(), nodes),
        "node_distances");
  }
  return {};
}

using TableOf = std::span<const Key<NetworkConfig>>;

}  // namespace

BoundKeys keys_of(NetworkConfig& config) {
  BoundKeys keys;
  bind_rows(config, TableOf(kSizeKeys), keys);
  bind_rows(config, TableOf(kMemoryKeys), keys);
  // Kinds may share rows, as those of virtual-channel routers do.
  std::set<std::string_view> seen;
  for (const NetworkKind* kind : network_kinds()) {
    BoundKeys own;
    if (kind->keys != nullptr) {
      kind->keys(config, own);
    }
    std::copy_if(own.begin(), own.end(), std::back_inserter(keys),
                 [&seen](const BoundKey& key) { return seen.insert(key.name).second; });
  }
  bind_rows(config, TableOf(kCountKeys), keys);
  return keys;
}

Status set_key(NetworkConfig& config, std::string_view name, std::string_view text) {
  const BoundKeys keys = keys_of(config);
  const BoundKey* key = find_key(keys, name);
  if (key == nullptr) {
    std::vector<std::string_view> names;
    for (const BoundKey& one : keys) {
      names.push_back(one.name);
    }
    return fail(ErrorCode::not_found,
                fmt::format("a network has no key '{}'{}", name, did_you_mean(name, names)),
                std::string(name));
  }
  return set_value(*key, text);
}

Status validate(const NetworkConfig& config) {
  WW_ASSIGN(kind, network_kind(config.network));
  return validate(*kind, config);
}

Status validate(const NetworkKind& kind, const NetworkConfig& wanted) {
  WW_ASSIGN(config, with_size(kind, wanted));
  WW_TRY(check_table(config, TableOf(kSizeKeys)));
  if (config.width * config.height < 2) {
    return fail(ErrorCode::out_of_range, "a network needs two routers", "width");
  }
  if (config.flit_bits % 8 != 0) {
    return fail(ErrorCode::invalid_argument, "flit_bits must be a multiple of 8", "flit_bits");
  }
  for (const std::uint32_t node : config.memory_nodes) {
    if (node >= static_cast<std::uint32_t>(node_count(config))) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("node {} is not one of {}", node, node_count(config)),
                  "memory_nodes");
    }
  }
  WW_TRY(check_distances(kind, config));
  WW_TRY(check_table(config, TableOf(kMemoryKeys)));
  if (kind.keys != nullptr) {
    NetworkConfig copy = config;
    BoundKeys own;
    kind.keys(copy, own);
    WW_TRY(check(own));
  }
  return kind.validate(config);
}

NetworkConfig dapper_baseline() {
  NetworkConfig config;
  auto& router = config.own<VcRouterConfig>();
  router.vcs = 5;
  router.vc_buffer = 4;
  router.routing_delay = 1;  // routing, VC allocation, switch allocation, traversal; then the link
  return config;
}

std::vector<std::uint32_t> memory_node_in_each_row(int width, int height) {
  std::vector<std::uint32_t> nodes;
  for (int row = 0; row < height; ++row) {
    // Odd columns first, then even ones: neighbours in y are two columns apart.
    const int turn = row % width;
    const int column = turn < width / 2 ? 2 * turn + 1 : 2 * (turn - width / 2);
    nodes.push_back(static_cast<std::uint32_t>(row * width + column));
  }
  return nodes;
}

NetworkConfig gpuopt_emesh() {
  NetworkConfig config;
  config.flit_bits = 256;
  config.own<VcRouterConfig>().speculative =
      true;  // both allocations in one cycle, traversal in the other
  return config;
}

}  // namespace ww::sim::net
