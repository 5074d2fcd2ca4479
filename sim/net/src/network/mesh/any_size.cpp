// Meshes whose sizes are known at run time only.
#include "network/mesh/shaped.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace {

template <class S>
std::unique_ptr<Network> make_sized(const NetworkConfig& config, MeshTurns turns, bool priority) {
  if (priority) {
    return make_shaped<S, true, true>(config, turns);
  }
  // Long stages cost a fifth of the speed.
  return has_long_stages(config.own<VcRouterConfig>()) ? make_shaped<S, true>(config, turns)
                                                       : make_shaped<S, false>(config, turns);
}

}  // namespace

std::unique_ptr<Network> make_mesh_of_any_size(const NetworkConfig& config, MeshTurns turns,
                                               bool priority) {
  const auto& router = config.own<VcRouterConfig>();
  const int input_vcs = (4 + config.concentration) * router.vcs;
  return input_vcs <= 64 ? make_sized<SmallShape>(config, turns, priority)
                         : make_sized<LargeShape>(config, turns, priority);
}

}  // namespace ww::sim::net
