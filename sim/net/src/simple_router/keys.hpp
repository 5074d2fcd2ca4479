// The keys of routers without virtual channels.
#pragma once

#include "simple_router/config.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

// A NetworkKind::keys.
void simple_router_keys(NetworkConfig& config, BoundKeys& keys);

}  // namespace ww::sim::net
