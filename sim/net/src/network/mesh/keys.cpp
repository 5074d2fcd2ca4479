// The keys of the meshes, and what the three of them are.
#include "vc_router/keys.hpp"
#include "network/mesh/config.hpp"
#include "network/mesh/network.hpp"
#include "network/mesh/xy_flows.hpp"

namespace ww::sim::net {
namespace {

constexpr Key<MeshConfig> kMeshKeys[] = {
    {"threads", &MeshConfig::threads, between(1, 64, "threads that share one mesh"), "", "Network",
     "mesh, mesh-adaptive: threads that share its cycles, at most one for 64 routers", ""},
};
constexpr Key<MeshConfig> kAdaptiveKeys[] = {
    {"adaptive", &MeshConfig::adaptive, one_of("dyxy, rca"), "", "Network",
     "mesh-adaptive: dyxy looks at the congestion here, rca also at that further along",
     "DyXY, DAC'06; RCA, HPCA 2008"},
};

void mesh_keys(NetworkConfig& config, BoundKeys& keys) {
  vc_router_keys(config, keys);
  bind_rows<MeshConfig>(config.own<MeshConfig>(), kMeshKeys, keys);
}
void adaptive_keys(NetworkConfig& config, BoundKeys& keys) {
  mesh_keys(config, keys);
  bind_rows<MeshConfig>(config.own<MeshConfig>(), kAdaptiveKeys, keys);
}

int classes_of_one(const NetworkConfig& config) {
  return config.planes ? 1 : config.classes;
}
Status validate_xy(const NetworkConfig& config) {
  return validate_mesh_router(config, classes_of_one(config));
}
// Packets to the east and to the west are kept apart.
Status validate_adaptive(const NetworkConfig& config) {
  return validate_mesh_router(config, 2 * classes_of_one(config));
}

}  // namespace

const NetworkKind kMesh{.name = "mesh",
                        .make = make_mesh,
                        .validate = validate_xy,
                        .keys = mesh_keys,
                        .needs_classes = true,
                        .flows = mesh_flows,
                        .router = mesh_router_size,
                        .routing = "XY"};
const NetworkKind kMeshAdaptive{.name = "mesh-adaptive",
                                .make = make_mesh_adaptive,
                                .validate = validate_adaptive,
                                .keys = adaptive_keys,
                                .needs_classes = true,
                                .router = mesh_router_size,
                                .variant_key = "adaptive"};
const NetworkKind kMeshPriority{.name = "mesh-priority",
                                .make = make_mesh_priority,
                                .validate = validate_xy,
                                .keys = vc_router_keys,
                                .needs_classes = true,
                                .router = mesh_router_size,
                                .routing = "XY"};

}  // namespace ww::sim::net
