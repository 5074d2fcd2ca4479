// How far the nodes of a crossbar lie from each other on the die.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim::net {

// Goes into NetworkConfig::own(). Only a network whose packets pass one switch takes it (crossbar).
struct NodeDistances {
  // [source * nodes + destination]: length of the wires from one to the other [um]. Empty: it is
  // not known, and wires have the lengths that the topology draws.
  std::vector<std::uint32_t> um;
  // [as `um`]: cycles that a flit takes on these wires beyond the two that it takes from a node to
  // the switch and from there to a node anyway. Empty: none. Credits do not wait for them: what
  // arrives on such wires has a place.
  std::vector<std::uint16_t> more_cycles;
};

}  // namespace ww::sim::net
