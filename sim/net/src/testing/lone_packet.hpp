// Sends a packet that is alone in a network, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

struct LonePacket {
  std::uint64_t latency{};  // cycles from its creation to its last flit's arrival
  int hops{};               // routers that it passed
};

// Injects a packet of `flits` flits and ticks until it arrives; a packet that is lost fails the
// test.
inline LonePacket lone_packet(Network& network, NodeId from, NodeId to, int flits) {
  constexpr int kLongest = 10000;
  Packet packet;
  packet.source = from;
  packet.destinations = {&to, 1};
  packet.flits = static_cast<std::uint16_t>(flits);
  packet.created = network.now();
  EXPECT_TRUE(network.inject(packet));
  for (int cycle = 0; cycle < kLongest; ++cycle) {
    network.tick();
    if (network.deliveries().empty()) continue;
    const Delivery& delivery = network.deliveries().front();
    return {delivery.arrived.value() - delivery.created.value(), delivery.hops};
  }
  ADD_FAILURE() << from << " to " << to << " does not arrive";
  return {};
}

}  // namespace ww::sim::net
