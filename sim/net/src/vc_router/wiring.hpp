// Connects the network: the links between routers and the nodes at them.
#pragma once

#include <cstdint>
#include <vector>

#include "vc_router/ids.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

struct Wiring {
  // Direction of a link to the next die of a package whose dies lie in rows and columns.
  enum class DieHop : std::uint8_t { none, row, column };
  struct Link {
    RouterId from{};
    PortId output{};
    RouterId to{};
    PortId input{};
    int delay{1};               // cycles
    double pitches{1};          // its length over the link length of the energy accounting
    std::uint32_t length_um{};  // instead of that, if not 0
    // Energy of a link that is no wire on the die, for each bit that crosses, whatever its length.
    double pj_per_bit{};
    DieHop die_hop{};    // says more of a link with pj_per_bit
    bool l2_crossing{};  // between the sides of a partitioned L2
    std::uint32_t
        width_bits{};  // below a flit's, it takes several cycles a flit; 0: as wide as one
  };
  struct Terminal {   // of a node
    RouterId from{};  // where its packets enter
    PortId input{};
    RouterId to{};  // where packets for it leave
    PortId output{};
    int delay{1};  // cycles, each way
    // Length of its wires, each way, over the link length of the energy accounting. 0: they belong
    // to the node and are not counted.
    double pitches{};
  };
  std::uint32_t routers{};
  std::uint32_t ports{};  // of the router with the most
  std::vector<Link> links;
  std::vector<Terminal> terminals;       // [node]
  std::vector<std::uint32_t> clock_mhz;  // [router]; empty: one clock for all
  int synchronizer{2};  // of flits that cross clocks [cycles of the receiving router]
};

}  // namespace ww::sim::net
