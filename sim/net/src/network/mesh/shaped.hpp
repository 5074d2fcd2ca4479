// A mesh whose routers have a shape that the compiler knows. Each shape is a network of its own to
// the compiler, so each group of shapes has a file: they are compiled beside each other.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "network/mesh/config.hpp"
#include "network/mesh/routing.hpp"
#include "vc_router/vc_network.hpp"

namespace ww::sim::net {

// The links and the nodes of a mesh.
[[nodiscard]] Wiring mesh_wiring(const NetworkConfig& config, const MeshRouting& routing);
// Ports, VCs and groups of its routers. `adaptive`: a class has VCs for each of both ways round.
[[nodiscard]] RouterSizes mesh_sizes(const NetworkConfig& config, bool adaptive);

// Meshes of one message class and one way, with stages of a cycle; null where no shape fits the
// VCs.
[[nodiscard]] std::unique_ptr<Network> make_mesh_of_one_group(const NetworkConfig& config,
                                                              MeshTurns turns);
// With requests and replies, or with the two halves of adaptive routing.
[[nodiscard]] std::unique_ptr<Network> make_mesh_of_two_groups(const NetworkConfig& config,
                                                               MeshTurns turns);
// Meshes of all other sizes.
[[nodiscard]] std::unique_ptr<Network> make_mesh_of_any_size(const NetworkConfig& config,
                                                             MeshTurns turns, bool priority);

// Under way before being injected; within both, replies (the last class) before requests.
template <class Mask>
[[nodiscard, gnu::cold]] std::vector<Mask> priority_levels(const NetworkConfig& config) {
  const int ports = static_cast<int>(MeshRouting::kLocalFrom) + config.concentration;
  const int first_local = static_cast<int>(MeshRouting::kLocalFrom);
  const int vcs = config.own<VcRouterConfig>().vcs;
  std::vector<Mask> levels;
  for (const bool local : {false, true}) {
    for (int c = config.classes - 1; c >= 0; --c) {
      Mask level{};
      for (int port = local ? first_local : 0; port < (local ? ports : first_local); ++port) {
        const Mask of_class = vcs_of_class(vcs, config.classes, c);
        level |= static_cast<Mask>(of_class << (port * vcs));
      }
      levels.push_back(level);
    }
  }
  return levels;
}

template <class S, bool kGeneral, bool kPriority = false>
[[nodiscard, gnu::cold]] std::unique_ptr<Network> make_shaped(const NetworkConfig& config,
                                                              MeshTurns turns) {
  using Rules = RouterRules<S, kPriority>;
  MeshRouting routing(config, turns);
  Wiring wiring = mesh_wiring(config, routing);
  std::vector<typename S::Mask> levels;
  if constexpr (kPriority) {
    levels = priority_levels<typename S::Mask>(config);
  }
  Rules rules(config.own<VcRouterConfig>(), mesh_sizes(config, turns != MeshTurns::xy),
              std::move(levels));
  return std::make_unique<VcNetwork<Rules, kGeneral, MeshRouting>>(
      config, std::move(wiring), std::move(rules), std::move(routing),
      config.own<MeshConfig>().threads);
}

}  // namespace ww::sim::net
