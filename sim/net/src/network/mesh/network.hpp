// The meshes of virtual-channel routers, also as parts of other networks.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kMesh;          // XY routing
extern const NetworkKind kMeshAdaptive;  // DyXY or RCA
extern const NetworkKind kMeshPriority;  // through traffic first

// Precondition: validate_vc_router(config) has succeeded; config.network names one of the three.
std::unique_ptr<Network> make_mesh(const NetworkConfig& config);

}  // namespace ww::sim::net
