// How far the nodes of a crossbar lie from each other on the die.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim::net {

// Of NetworkConfig::own(). Only a network whose packets pass one switch takes it (crossbar).
struct NodeDistances {
  // [source * nodes + destination]: length of the wires from one to the other [um]. Empty: it is
  // not known, and wires to nodes cost nothing.
  std::vector<std::uint32_t> um;
};

}  // namespace ww::sim::net
