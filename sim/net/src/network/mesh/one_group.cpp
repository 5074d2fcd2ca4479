// Meshes of one message class: the sizes that are run most.
#include "network/mesh/shaped.hpp"

namespace ww::sim::net {

std::unique_ptr<Network> make_mesh_of_one_group(const NetworkConfig& config, MeshTurns turns) {
  switch (config.own<VcRouterConfig>().vcs) {
    case 1: return make_shaped<MeshShape<1>, false>(config, turns);
    case 2: return make_shaped<MeshShape<2>, false>(config, turns);
    case 4: return make_shaped<MeshShape<4>, false>(config, turns);
    case 5: return make_shaped<MeshShape<5>, false>(config, turns);
    case 8: return make_shaped<MeshShape<8>, false>(config, turns);
    default: return nullptr;
  }
}

}  // namespace ww::sim::net
