// The keys of the meshes, and what the three of them are.
#include "network/mesh/config.hpp"
#include "network/mesh/network.hpp"
#include "vc_router.hpp"

namespace ww::sim::net {
namespace {

constexpr Key<MeshConfig> kMeshKeys[] = {
    {"adaptive", &MeshConfig::adaptive, one_of("dyxy, rca"), "", "Network",
     "mesh-adaptive: dyxy looks at the congestion here, rca also at that further along",
     "DyXY, DAC'06; RCA, HPCA 2008"},
};

void mesh_keys(NetworkConfig& config, BoundKeys& keys) {
  bind_rows<MeshConfig>(config.own<MeshConfig>(), kMeshKeys, keys);
}

Status validate_mesh(const NetworkConfig& config) {
  const int classes = config.planes ? 1 : config.classes;
  // Adaptive routing keeps packets to the east and to the west apart.
  return validate_vc_router(config, config.network == "mesh-adaptive" ? 2 * classes : classes);
}

}  // namespace

const NetworkKind kMesh{.name = "mesh",
                        .make = make_mesh,
                        .validate = validate_mesh,
                        .keys = mesh_keys,
                        .needs_classes = true};
const NetworkKind kMeshAdaptive{.name = "mesh-adaptive",
                                .make = make_mesh,
                                .validate = validate_mesh,
                                .keys = mesh_keys,
                                .needs_classes = true,
                                .variant_key = "adaptive"};
const NetworkKind kMeshPriority{.name = "mesh-priority",
                                .make = make_mesh,
                                .validate = validate_mesh,
                                .keys = mesh_keys,
                                .needs_classes = true};

}  // namespace ww::sim::net
