#include "simple_router/keys.hpp"

namespace ww::sim::net {
namespace {

constexpr Key<SimpleRouterConfig> kSimpleRouterKeys[] = {
    {"router_delay", &SimpleRouterConfig::router_delay, between(1, 64, "cycles in a router"),
     "cycles", "Routers", "Time in a router of mesh-bufferless, before the link", ""},
};

}  // namespace

void simple_router_keys(NetworkConfig& config, BoundKeys& keys) {
  bind_rows<SimpleRouterConfig>(config.own<SimpleRouterConfig>(), kSimpleRouterKeys, keys);
}

}  // namespace ww::sim::net
