// The virtual-channel router's keys, which every network of such routers shares.
#pragma once

#include <span>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

[[nodiscard]] std::span<const Key<NetworkConfig>> vc_router_keys();

// A port needs `vcs_needed` virtual channels to stay free of deadlock, and buffers for a credit
// loop. Errors name the key.
[[nodiscard]] Status validate_vc_router(const NetworkConfig& config, int vcs_needed);

}  // namespace ww::sim::net
