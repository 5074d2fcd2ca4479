// The meshes of virtual-channel routers, also as parts of other networks.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kMesh;          // XY routing
extern const NetworkKind kMeshAdaptive;  // DyXY or RCA
extern const NetworkKind kMeshPriority;  // through traffic first

// kMesh's make(), whatever config.network is. Precondition: validate_mesh_router() has succeeded.
std::unique_ptr<Network> make_mesh(const NetworkConfig& config);
// Makes the mesh without lane_mesh.hpp.
std::unique_ptr<Network> make_scalar_mesh(const NetworkConfig& config);
std::unique_ptr<Network> make_mesh_adaptive(const NetworkConfig& config);
std::unique_ptr<Network> make_mesh_priority(const NetworkConfig& config);

}  // namespace ww::sim::net
