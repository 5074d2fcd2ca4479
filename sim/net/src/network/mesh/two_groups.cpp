// Meshes of two message classes, or of one with adaptive routing: the sizes that are run most.
#include "network/mesh/shaped.hpp"

namespace ww::sim::net {

std::unique_ptr<Network> make_mesh_of_two_groups(const NetworkConfig& config, MeshTurns turns) {
  switch (config.own<VcRouterConfig>().vcs) {
    case 2: return make_shaped<GroupedShape<2>, false>(config, turns);
    case 4: return make_shaped<GroupedShape<4>, false>(config, turns);
    case 5: return make_shaped<GroupedShape<5>, false>(config, turns);
    case 8: return make_shaped<GroupedShape<8>, false>(config, turns);
    default: return nullptr;
  }
}

}  // namespace ww::sim::net
