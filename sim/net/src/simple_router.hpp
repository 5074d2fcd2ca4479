// The keys of routers without virtual channels: those of bufferless and ideal networks.
#pragma once

#include <span>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

[[nodiscard]] std::span<const Key<NetworkConfig>> simple_router_keys();

// Errors name the key.
[[nodiscard]] Status validate_simple_router(const NetworkConfig& config);

}  // namespace ww::sim::net
