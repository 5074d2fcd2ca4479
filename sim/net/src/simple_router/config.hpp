#pragma once

namespace ww::sim::net {

struct SimpleRouterConfig {
  int router_delay{2};  // cycles in a router, before the link
};

}  // namespace ww::sim::net
