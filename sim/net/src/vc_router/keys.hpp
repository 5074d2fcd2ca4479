// The virtual-channel router's keys and limits, which every network of such routers shares.
#pragma once

#include "ww/sim/net/config.hpp"
#include "ww/sim/net/vc_router_config.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::net {

// A NetworkKind::keys.
void vc_router_keys(NetworkConfig& config, BoundKeys& keys);

struct VcRouterNeeds {
  int ports{};         // of the router with the most
  int vcs{1};          // of a port, to stay free of deadlock
  int input_vcs{128};  // ports times VCs that the masks hold
};
// Checks that masks hold the router's VCs, that there are enough of them, and that buffers cover a
// credit loop. Errors name the key.
[[nodiscard]] Status validate_vc_router(const NetworkConfig& config, const VcRouterNeeds& needs);
// Checks the routers of a mesh with four links each, which config.concentration nodes share.
[[nodiscard]] Status validate_mesh_router(const NetworkConfig& config, int vcs);

// A NetworkKind::router for routers of a mesh.
[[nodiscard]] power::RouterSize mesh_router_size(const NetworkConfig& config);

// Stages of several cycles, or guesses: such routers need Stages.
[[nodiscard]] bool has_long_stages(const VcRouterConfig& config);

}  // namespace ww::sim::net
