// Who is connected to whom: the links between routers and the nodes at them.
#pragma once

#include <cstdint>
#include <vector>

#include "vc_router/ids.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

struct Wiring {
  struct Link {
    RouterId from;
    PortId output;
    RouterId to;
    PortId input;
    int delay{1};  // cycles
  };
  struct Terminal {  // of a node; its port is an input and an output
    RouterId router;
    PortId port;
  };
  std::uint32_t routers{};
  std::uint32_t ports{};  // of the router with the most
  std::vector<Link> links;
  std::vector<Terminal> terminals;  // [node]
};

}  // namespace ww::sim::net
