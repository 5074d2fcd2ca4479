#include "simple_router.hpp"

namespace ww::sim::net {
namespace {

constexpr int kLongestDelay = 64;

constexpr Key<NetworkConfig> kSimpleRouterKeys[] = {
    {"router_delay", &NetworkConfig::router_delay, between(1, kLongestDelay, "cycles in a router"),
     "cycles", "Routers", "Time in a router of mesh-bufferless or ideal, before the link", ""},
};

}  // namespace

std::span<const Key<NetworkConfig>> simple_router_keys() {
  return kSimpleRouterKeys;
}

Status validate_simple_router(const NetworkConfig& config) {
  WW_TRY(check_table(config, simple_router_keys()));
  return check_range("link_delay", config.link_delay, 1, kLongestDelay, "a wire takes a cycle");
}

}  // namespace ww::sim::net
