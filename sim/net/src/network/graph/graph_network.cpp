// The networks of this folder: their keys, their limits, and the choice of the router's shape.
#include "network/graph/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "network/graph/table_flows.hpp"
#include "network/graph/table_routing.hpp"
#include "network/graph/topologies.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace graph {
namespace {

constexpr std::string_view kGraphGroup = "Topologies";

constexpr Key<GraphConfig> kFileKeys[] = {
    {"topology", &GraphConfig::topology, anything(), "", kGraphGroup,
     "File with routers, nodes and links: .toml, or BookSim's anynet", ""},
    {"routing", &GraphConfig::routing, one_of("file, minimal, up-down, dimension-order, adaptive"),
     "", kGraphGroup, "topology: how packets find their way", ""},
};
constexpr Key<GraphConfig> kHierarchyKeys[] = {
    {"uplinks", &GraphConfig::uplinks, between(1, 16, "links from a cluster to the middle"),
     "links", kGraphGroup, "crossbar-hierarchical: from a cluster to the middle", "assumed"},
};
constexpr Key<GraphConfig> kBridgeKeys[] = {
    {"bridge_links", &GraphConfig::bridge_links, between(1, 16, "links between the halves"),
     "links", kGraphGroup, "crossbar-partitioned: between the halves, each way", "assumed"},
    {"bridge_delay", &GraphConfig::bridge_delay, between(1, 64, "a wire takes a cycle"), "cycles",
     kGraphGroup, "crossbar-partitioned: time to cross between the halves", "assumed"},
};
constexpr Key<GraphConfig> kRadixKeys[] = {
    {"radix", &GraphConfig::radix, between(2, 16, "ports to one side"), "ports", kGraphGroup,
     "fly, fattree: ports of a router to one side", ""},
};
constexpr Key<GraphConfig> kChipletKeys[] = {
    {"chiplet_side", &GraphConfig::chiplet_side, between(1, 256, "routers"), "routers", kGraphGroup,
     "chiplet-mesh: along a side of a chiplet", ""},
    {"die_to_die_delay", &GraphConfig::die_to_die_delay, between(1, 64, "cycles"), "cycles",
     kGraphGroup, "chiplet-mesh: time to cross to the next chiplet", "assumed"},
    {"die_to_die_pj_per_bit", &GraphConfig::die_to_die_pj_per_bit,
     between(0.001, 100, "pJ per bit"), "pJ/bit", kGraphGroup,
     "chiplet-mesh: energy to cross to the next chiplet", "assumed"},
};
constexpr Key<GraphConfig> kGroupKeys[] = {
    {"global_delay", &GraphConfig::global_delay, between(1, 128, "a wire takes a cycle"), "cycles",
     kGraphGroup, "dragonfly: time to cross between groups", "assumed"},
};
constexpr Key<GraphConfig> kWaysKeys[] = {
    {"ways", &GraphConfig::ways,
     one_of("fixed, booksim, booksim-adaptive, booksim-valiant, booksim-ugal, ugal"), "",
     kGraphGroup,
     "torus, ring, cmesh, flatfly, fattree, dragonfly: fixed, or drawn as BookSim 2 draws them",
     ""},
};
constexpr Key<GraphConfig> kExpressKeys[] = {
    {"express_links", &GraphConfig::express_links, anything(), "", kGraphGroup,
     "cmesh: links over half a side, along the four edges", ""},
};
constexpr Key<GraphConfig> kGraphKeys[] = {
    {"deadlock", &GraphConfig::deadlock, one_of("refuse, watch"), "", kGraphGroup,
     "Routes that could deadlock: refuse them, or run and stop when packets are stuck", ""},
};

// Binds the keys that every network here reads, and the tables that one of them reads beside.
template <const auto&... kTables>
void graph_keys(NetworkConfig& config, BoundKeys& keys) {
  vc_router_keys(config, keys);
  auto& own = config.own<GraphConfig>();
  (bind_rows<GraphConfig>(own, kTables, keys), ...);
  bind_rows<GraphConfig>(own, kGraphKeys, keys);
}

constexpr std::uint32_t kMaxPorts = 128;
constexpr int kMaxInputVcs = 1024;

Circles circles_of(const NetworkConfig& config) {
  return config.own<GraphConfig>().deadlock == "watch" ? Circles::watch : Circles::refuse;
}

Status check_graph(const NetworkConfig& config, const Topology& topology) {
  if (topology.wiring.ports > kMaxPorts) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a router of {} would need {} ports; the allocators' masks hold {}",
                            config.network, topology.wiring.ports, kMaxPorts),
                "width");
  }
  WW_TRY(check_routes(topology, circles_of(config)));
  const int classes = config.planes ? 1 : config.classes;
  return validate_vc_router(config, {.ports = static_cast<int>(topology.wiring.ports),
                                     .vcs = classes * static_cast<int>(topology.routes.layers()),
                                     .input_vcs = kMaxInputVcs});
}

template <class S, bool kGeneral>
std::unique_ptr<Network> make_shaped_graph(const NetworkConfig& config, Topology topology,
                                           HopTable hops) {
  using Rules = RouterRules<S, false>;
  VcRouterConfig router = config.own<VcRouterConfig>();
  // A head behind another packet's flits could not ask for its escape channel (Duato, 1993).
  router.wait_for_tail_credit |= topology.routes.adaptive();
  Rules rules(router, router_sizes(topology, router.vcs, config.classes), {});
  TableRouting routing(topology.wiring, std::move(topology.routes), std::move(hops));
  return std::make_unique<VcNetwork<Rules, kGeneral, TableRouting>>(
      config, std::move(topology.wiring), std::move(rules), std::move(routing));
}

// Precondition: check_graph() has succeeded.
std::unique_ptr<Network> make_graph(const NetworkConfig& config, Topology topology) {
  const auto& router = config.own<VcRouterConfig>();
  const std::uint32_t ports = topology.wiring.ports;
  const std::uint32_t input_vcs = ports * static_cast<std::uint32_t>(router.vcs);
  HopTable hops = *check_routes(topology, circles_of(config));
  const auto make = [&](auto shaped) {
    return shaped(config, std::move(topology), std::move(hops));
  };
  if (ports <= 16 && input_vcs <= 64) {
    return has_long_stages(router) ? make(make_shaped_graph<SmallShape, true>)
                                   : make(make_shaped_graph<SmallShape, false>);
  }
  if (ports <= 16 && input_vcs <= 128) {
    return make(make_shaped_graph<LargeShape, true>);
  }
  return ports <= 64 && input_vcs <= 256 ? make(make_shaped_graph<WideShape, true>)
                                         : make(make_shaped_graph<WidestShape, true>);
}

// Returns the router that the energy accounting uses: the mean one. Energies of a switch and its
// allocator are in proportion to its ports.
power::RouterSize mean_router(const NetworkConfig& config, const Topology& topology) {
  const auto ends = 2 * topology.wiring.terminals.size() + 2 * topology.wiring.links.size();
  const double ports = static_cast<double>(ends) / 2 / topology.wiring.routers;
  const VcRouterConfig& router = config.own<VcRouterConfig>();
  return {config.flit_bits, std::max(1, static_cast<int>(std::lround(ports))), router.vcs,
          router.vc_buffer};
}

// Checks that the ways can be drawn. BookSim 2's other routing functions draw nothing.
Status check_ways(const NetworkConfig& config) {
  using Ways = std::vector<std::string_view>;
  static const std::map<std::string_view, Ways> kDrawn = {
      {"torus", {"booksim"}},
      {"ring", {"booksim"}},
      {"cmesh", {"booksim"}},
      {"dragonfly", {"booksim", "booksim-ugal", "ugal"}},
      {"fattree", {"booksim", "booksim-adaptive"}},
      {"flatfly", {"booksim", "booksim-adaptive", "booksim-valiant", "booksim-ugal"}}};
  const std::string& ways = config.own<GraphConfig>().ways;
  const auto drawn = kDrawn.find(config.network);
  const Ways known = drawn == kDrawn.end() ? Ways{} : drawn->second;
  if (ways == "fixed" || std::find(known.begin(), known.end(), ways) != known.end()) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("ways = {}: {} has fixed{}{}", ways, config.network,
                          known.empty() ? "" : ", ", fmt::join(known, ", ")),
              "ways");
}

// Limits of a size that a topology has by its name.
Status any_size(const NetworkConfig&) {
  return {};
}
Status check_hierarchy(const NetworkConfig& config) {
  return check_range("height", config.height, 2, 256, "clusters are rows, and there are two");
}
Status check_square_nodes(const NetworkConfig& config) {
  const int side = static_cast<int>(std::lround(std::sqrt(config.concentration)));
  if (side * side != config.concentration) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("concentration = {}: a router of cmesh has a square of nodes: 1, 4 or 9",
                    config.concentration),
        "concentration");
  }
  for (const auto& [key, count] : {std::pair("width", config.width), {"height", config.height}}) {
    if (config.own<GraphConfig>().express_links && (count < 4 || count % 2 != 0)) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("{} = {}: express links go over half a side, which must be even, and 4 "
                      "or more",
                      key, count),
          key);
    }
  }
  return {};
}
Status check_groups(const NetworkConfig& config) {
  return check_range("height", config.height, 2, 256, "rows are the groups of a dragonfly");
}

template <auto kDraw, auto kCheckSize, auto kKeys, bool kOneSwitch = false>
constexpr NetworkKind named(std::string_view name) {
  return {
      .name = name,
      .make = [](const NetworkConfig& config) { return make_graph(config, kDraw(config)); },
      .validate = [](const NetworkConfig& config) -> Status {
        WW_TRY(kCheckSize(config));
        WW_TRY(check_ways(config));
        if (config.width * config.height > static_cast<int>(kMaxRouters)) {
          return fail(ErrorCode::out_of_range,
                      fmt::format("{} routers are more than a table of routes takes: {}",
                                  config.width * config.height, kMaxRouters),
                      "width");
        }
        return check_graph(config, kDraw(config));
      },
      .keys = kKeys,
      .needs_classes = true,
      .flows =
          [](const NetworkConfig& config) { return table_flows(kDraw(config), config.flit_bits); },
      .router = [](const NetworkConfig& config) { return mean_router(config, kDraw(config)); },
      .one_switch = kOneSwitch};
}

std::unique_ptr<Network> make_of_file(const NetworkConfig& config) {
  return make_graph(config, *topology_of_file(config));
}
Status validate_file(const NetworkConfig& config) {
  WW_TRY(check_ways(config));
  WW_ASSIGN(topology, topology_of_file(config));
  return check_graph(config, topology);
}
power::RouterSize router_of_file(const NetworkConfig& config) {
  const auto topology = topology_of_file(config);
  return topology ? mean_router(config, *topology) : mesh_router_size(config);
}
// Sets the size: the file's nodes in rows of at most 256.
Status size_of_file(NetworkConfig& config) {
  WW_ASSIGN(topology, topology_of_file(config));
  const auto nodes = static_cast<int>(topology.wiring.terminals.size());
  config.concentration = 1;
  for (config.width = std::min(nodes, 256); nodes % config.width != 0;) {
    --config.width;
  }
  config.height = nodes / config.width;
  return {};
}

}  // namespace
}  // namespace graph

const NetworkKind kTopology{.name = "topology",
                            .make = graph::make_of_file,
                            .validate = graph::validate_file,
                            .keys = graph::graph_keys<graph::kFileKeys>,
                            .needs_classes = true,
                            .flows =
                                [](const NetworkConfig& config) {
                                  return graph::table_flows(*graph::topology_of_file(config),
                                                            config.flit_bits);
                                },
                            .router = graph::router_of_file,
                            .set_size = graph::size_of_file,
                            .chosen_by = "topology"};
const NetworkKind kCrossbar =
    graph::named<graph::crossbar, graph::any_size, graph::graph_keys<>, true>("crossbar");
const NetworkKind kCrossbarHierarchical =
    graph::named<graph::hierarchical_crossbar, graph::check_hierarchy,
                 graph::graph_keys<graph::kHierarchyKeys>>("crossbar-hierarchical");
const NetworkKind kCrossbarPartitioned =
    graph::named<graph::partitioned_crossbar, graph::any_size,
                 graph::graph_keys<graph::kBridgeKeys>>("crossbar-partitioned");
const NetworkKind kTorus =
    graph::named<graph::torus, graph::any_size, graph::graph_keys<graph::kWaysKeys>>("torus");
const NetworkKind kRing =
    graph::named<graph::ring, graph::any_size, graph::graph_keys<graph::kWaysKeys>>("ring");
const NetworkKind kConcentratedMesh =
    graph::named<graph::concentrated_mesh, graph::check_square_nodes,
                 graph::graph_keys<graph::kWaysKeys, graph::kExpressKeys>>("cmesh");
const NetworkKind kFlattenedButterfly =
    graph::named<graph::flattened_butterfly, graph::any_size, graph::graph_keys<graph::kWaysKeys>>(
        "flatfly");
const NetworkKind kChipletMesh =
    graph::named<graph::chiplet_mesh, graph::any_size, graph::graph_keys<graph::kChipletKeys>>(
        "chiplet-mesh");
const NetworkKind kButterfly =
    graph::named<graph::butterfly, graph::check_radix, graph::graph_keys<graph::kRadixKeys>>("fly");
const NetworkKind kFatTree =
    graph::named<graph::fat_tree, graph::check_radix,
                 graph::graph_keys<graph::kRadixKeys, graph::kWaysKeys>>("fattree");
const NetworkKind kDragonfly =
    graph::named<graph::dragonfly, graph::check_groups,
                 graph::graph_keys<graph::kGroupKeys, graph::kWaysKeys>>("dragonfly");

}  // namespace ww::sim::net
