// Meshes of virtual-channel routers: their wiring, the VCs of each group, and the choice of the
// router's shape.
#include "network/mesh/config.hpp"
#include "network/mesh/lane_mesh.hpp"
#include "network/mesh/network.hpp"
#include "network/mesh/routing.hpp"
#include "network/mesh/shaped.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {

Wiring mesh_wiring(const NetworkConfig& config, const MeshRouting& routing) {
  Wiring wiring;
  const auto nodes_per_router = static_cast<std::uint32_t>(config.concentration);
  wiring.routers = static_cast<std::uint32_t>(config.width * config.height);
  wiring.ports = MeshRouting::kLocalFrom + nodes_per_router;
  for (std::uint32_t router = 0; router < wiring.routers; ++router) {
    const RouterId from(router);
    for (std::uint32_t port = 0; port < MeshRouting::kLocalFrom; ++port) {
      if (const auto to = routing.neighbour(from, PortId(port))) {
        wiring.links.push_back({from, PortId(port), *to, PortId(port ^ 1), config.link_delay});
      }
    }
    for (std::uint32_t node = 0; node < nodes_per_router; ++node) {
      const PortId port(MeshRouting::kLocalFrom + node);
      wiring.terminals.push_back({from, port, from, port});
    }
  }
  return wiring;
}

RouterSizes mesh_sizes(const NetworkConfig& config, bool adaptive) {
  const int ports = static_cast<int>(MeshRouting::kLocalFrom) + config.concentration;
  const int vcs = config.own<VcRouterConfig>().vcs;
  const int groups = adaptive ? 2 * config.classes : config.classes;
  RouterSizes sizes{static_cast<std::uint32_t>(ports),
                    static_cast<std::uint32_t>(vcs),
                    static_cast<std::uint32_t>(groups),
                    {}};
  for (int port = 0; port < ports; ++port) {
    for (int c = 0; c < config.classes; ++c) {
      const std::uint32_t of_class = vcs_of_class(vcs, config.classes, c);
      if (!adaptive) {
        sizes.group_vcs.push_back(of_class);
        continue;
      }
      const int first = c * vcs / config.classes;
      const int last = (c + 1) * vcs / config.classes;
      const bool on_y = port == 2 || port == 3;
      const int middle = on_y ? (first + last) / 2 : last;
      sizes.group_vcs.push_back(vcs_between(first, middle));
      sizes.group_vcs.push_back(vcs_between(middle, last));
    }
  }
  return sizes;
}

namespace {

std::unique_ptr<Network> make_mesh_of(const NetworkConfig& config, MeshTurns turns, bool priority) {
  const bool common =
      !priority && config.concentration == 1 && !has_long_stages(config.own<VcRouterConfig>());
  const int groups = turns != MeshTurns::xy ? 2 * config.classes : config.classes;
  // Sizes that the compiler knows, for the cases that are run most.
  std::unique_ptr<Network> network;
  if (common && groups == 2) {
    network = make_mesh_of_two_groups(config, turns);
  }
  if (common && groups == 1) {
    network = make_mesh_of_one_group(config, turns);
  }
  return network != nullptr ? std::move(network) : make_mesh_of_any_size(config, turns, priority);
}

}  // namespace

std::unique_ptr<Network> make_mesh(const NetworkConfig& config) {
  // Lanes cost the same whether a router has work or not; they pay where each passes a flit in
  // every fourth cycle (measured: equal at 0.2 to 0.3). Uniform traffic passes `hops` routers.
  constexpr double kFlitsPerRouter = 0.25;
  const double hops = (config.width + config.height) / 3.0 + 1;
  const bool is_dense = config.expected_load * hops >= kFlitsPerRouter;
  return is_dense && fits_lanes(config) ? make_lane_mesh(config) : make_scalar_mesh(config);
}
std::unique_ptr<Network> make_scalar_mesh(const NetworkConfig& config) {
  return make_mesh_of(config, MeshTurns::xy, false);
}
std::unique_ptr<Network> make_mesh_priority(const NetworkConfig& config) {
  return make_mesh_of(config, MeshTurns::xy, true);
}
std::unique_ptr<Network> make_mesh_adaptive(const NetworkConfig& config) {
  const bool regional = config.own<MeshConfig>().adaptive == "rca";
  return make_mesh_of(config, regional ? MeshTurns::rca : MeshTurns::dyxy, false);
}

}  // namespace ww::sim::net
