// Lengths of wires between the nodes of a crossbar: what crossed them, and what that costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "testing/lone_packet.hpp"
#include "ww/sim/net/crossbar_distances.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/node_distances.hpp"
#include "ww/sim/net/random.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint32_t kNodes = 4;

// Distance from node a to node b: 1000 a + 100 b + 1 um.
std::uint64_t length_um(NodeId from, NodeId to) {
  return 1000 * from + 100 * to + 1;
}

NetworkConfig measured_crossbar() {
  NetworkConfig config;
  config.network = "crossbar";
  config.width = kNodes;
  config.height = 1;
  config.classes = 2;
  config.count_toggles = true;
  auto& um = config.own<NodeDistances>().um;
  for (NodeId from = 0; from < kNodes; ++from) {
    for (NodeId to = 0; to < kNodes; ++to) {
      um.push_back(static_cast<std::uint32_t>(length_um(from, to)));
    }
  }
  return config;
}

void send_to_its_end(Network& network, NodeId from, NodeId to, int flits, PacketKind kind,
                     const std::vector<std::byte>& payload) {
  Packet packet;
  packet.source = from;
  packet.destinations = {&to, 1};
  packet.flits = static_cast<std::uint16_t>(flits);
  packet.kind = kind;
  packet.message_class = kind == PacketKind::read_reply ? 1 : 0;
  packet.created = network.now();
  packet.payload = payload;
  ASSERT_TRUE(network.inject(packet));
  while (network.packets_inside() != 0) {
    network.tick();
  }
}

// Two compute units and three channels; 100 ps a millimetre at 1 GHz.
TEST(CrossbarDistances, AreBetweenUnitsAndChannelsBothWays) {
  constexpr std::uint32_t kUnits = 2, kAll = 5;
  const auto distances = crossbar_distances({{1.5, 20, 30.1}, {4, 5, 50.0006}}, 100, Hertz(1e9));
  const auto um = [&](std::uint32_t from, std::uint32_t to) {
    return distances.um[from * kAll + to];
  };
  const auto more = [&](std::uint32_t from, std::uint32_t to) {
    return distances.more_cycles[from * kAll + to];
  };
  EXPECT_EQ(um(0, kUnits), 1500U);
  EXPECT_EQ(um(1, kUnits + 2), 50001U);
  EXPECT_EQ(more(0, kUnits), 0U) << "within the two cycles that a flit takes anyway";
  EXPECT_EQ(more(0, kUnits + 1), 0U);
  EXPECT_EQ(more(0, kUnits + 2), 2U) << "four cycles, the last one hardly begun";
  EXPECT_EQ(more(1, kUnits + 2), 4U);
  for (std::uint32_t from = 0; from < kAll; ++from) {
    for (std::uint32_t to = 0; to < kAll; ++to) {
      EXPECT_EQ(um(from, to), um(to, from));
      EXPECT_EQ(more(from, to), more(to, from));
      if ((from < kUnits) == (to < kUnits)) {
        EXPECT_EQ(um(from, to), 0U);
      }
    }
  }
}

TEST(NodeDistances, LongWiresTakeTheirTime) {
  NetworkConfig config = measured_crossbar();
  const auto latency = [&](NodeId from, NodeId to) {
    const auto network = make_network(config);
    EXPECT_TRUE(network) << network.error().text();
    const LonePacket packet = lone_packet(**network, from, to, 3);
    EXPECT_TRUE((*network)->check_conservation());
    return packet.latency;
  };
  const std::uint64_t at_once = latency(1, 2);
  auto& more = config.own<NodeDistances>().more_cycles;
  more.assign(kNodes * kNodes, 0);
  more[1 * kNodes + 2] = 9;
  EXPECT_EQ(latency(1, 2), at_once + 9);
  EXPECT_EQ(latency(2, 1), at_once);
  more.pop_back();
  EXPECT_FALSE(make_network(config)) << "a time for each length";
}

// Packets that left one after the other may then arrive in the same cycle.
TEST(NodeDistances, PacketsOfUnequalWaysArriveTogether) {
  NetworkConfig config = measured_crossbar();
  auto& more = config.own<NodeDistances>().more_cycles;
  more.assign(kNodes * kNodes, 0);
  for (NodeId from = 0; from < kNodes; ++from) {
    more[from * kNodes + 3] = static_cast<std::uint16_t>(kNodes - 1 - from);
  }
  const auto network = make_network(config);
  ASSERT_TRUE(network) << network.error().text();
  constexpr int kPackets = 50;
  NodeId to = 3;
  for (int packet = 0; packet < kPackets; ++packet) {
    for (NodeId from = 0; from < kNodes; ++from) {
      Packet one;
      one.source = from;
      one.destinations = {&to, 1};
      ASSERT_TRUE((*network)->inject(one));
    }
  }
  std::size_t arrived = 0;
  std::size_t most = 0;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    (*network)->tick();
    arrived += (*network)->deliveries().size();
    most = std::max(most, (*network)->deliveries().size());
    ASSERT_TRUE((*network)->check_conservation());
  }
  EXPECT_EQ(arrived, kPackets * kNodes);
  EXPECT_GT(most, 1U) << "the switch sends one in a cycle";
  EXPECT_LE(most, kNodes);
}

TEST(NodeDistances, CountFlitsAndTransitionsByTheLengthOfTheirWay) {
  for (const bool planes : {false, true}) {
    NetworkConfig config = measured_crossbar();
    config.planes = planes;
    const auto made = make_network(config);
    ASSERT_TRUE(made) << made.error().text();
    Network& network = **made;
    // Zeros to ones on 128 wires, and then nothing changes.
    send_to_its_end(network, 0, 3, 2, PacketKind::read_request,
                    std::vector<std::byte>(32, std::byte{0xFF}));
    // 8 bytes of ones and an empty rest.
    send_to_its_end(network, 3, 1, 1, PacketKind::read_reply,
                    std::vector<std::byte>(8, std::byte{0xFF}));
    const power::NetworkEvents events = network.events();
    EXPECT_EQ(events.request_wires.flits, 2U);
    EXPECT_EQ(events.request_wires.flit_um, 2 * length_um(0, 3));
    EXPECT_EQ(events.request_wires.toggle_um, 128 * length_um(0, 3));
    EXPECT_EQ(events.reply_wires.flits, 1U);
    EXPECT_EQ(events.reply_wires.flit_um, length_um(3, 1));
    EXPECT_EQ(events.reply_wires.toggle_um, 64 * length_um(3, 1));
    EXPECT_EQ(events.link_flits, 0U);
    // A window's events are those of its own packets.
    EXPECT_EQ((events - events).request_wires.flit_um, 0U);
  }
}

TEST(NodeDistances, ChangeNoPacketsTimeAndLoseNoFlit) {
  NetworkConfig config = measured_crossbar();
  NetworkConfig plain = config;
  plain.own<NodeDistances>().um.clear();
  auto with = make_network(config);
  auto without = make_network(plain);
  Random random(3);
  std::uint64_t flit_um = 0;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    for (NodeId from = 0; from < kNodes && cycle < 1000; ++from) {
      const NodeId to = random.below(kNodes);
      Packet packet;
      packet.source = from;
      packet.destinations = {&to, 1};
      packet.flits = static_cast<std::uint16_t>(1 + random.below(3));
      packet.created = (*with)->now();
      if (random.below(4) == 0) {
        flit_um += packet.flits * length_um(from, to);
        ASSERT_TRUE((*with)->inject(packet));
        ASSERT_TRUE((*without)->inject(packet));
      }
    }
    (*with)->tick();
    (*without)->tick();
    ASSERT_EQ((*with)->deliveries().size(), (*without)->deliveries().size());
  }
  EXPECT_EQ((*with)->packets_inside(), 0U);
  const power::NetworkEvents events = (*with)->events();
  EXPECT_EQ(events.request_wires.flits, events.injected_flits);
  EXPECT_EQ(events.request_wires.flit_um, flit_um);
  EXPECT_EQ((*without)->events().request_wires.flits, 0U);
}

TEST(NodeDistances, CostWhatACalibrationSaysOfTheChipsWires) {
  power::NetworkEvents events;
  events.cycles = 1;
  events.toggles_counted = true;
  events.request_wires = {10, 10 * 5000, 10 * 5000 * 32};  // 32 of 128 bits change
  events.reply_wires = {20, 20 * 10000, 20 * 10000 * 64};
  power::EnergyConfig config = energy_config(measured_crossbar());
  config.chip_wires = power::ChipWires{{200, 150, 250}, {50, 40, 60}, "a chip", true};
  const auto report = power::account(events, config);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_TRUE(report->chip_wires);
  const power::ChipWiresCharge& charge = *report->chip_wires;
  // At rate 0.25 a bit costs half way between 50 and 200 fJ/mm; at 0.5 it costs 200.
  EXPECT_DOUBLE_EQ(charge.requests.toggle_rate, 0.25);
  EXPECT_NEAR(charge.requests.pj.value, 10 * 128 * 5.0 * 0.125, 1e-9);
  EXPECT_NEAR(charge.replies.pj.value, 20 * 128 * 10.0 * 0.2, 1e-9);
  EXPECT_NEAR(charge.replies.pj.low, 20 * 128 * 10.0 * 0.15, 1e-9);
  EXPECT_NEAR(charge.all.pj.value, charge.requests.pj.value + charge.replies.pj.value, 1e-9);
  EXPECT_NEAR(report->link.to<double>(), charge.all.pj.value, 1e-9);
  // Without counted transitions the assumed rate holds.
  events.toggles_counted = false;
  config.toggle_rate = 0;
  EXPECT_NEAR(power::account(events, config)->chip_wires->all.pj.value,
              (10 * 5.0 + 20 * 10.0) * 128 * 0.05, 1e-9);
}

TEST(NodeDistances, AreRefusedWhereTheyDoNotFit) {
  NetworkConfig config = measured_crossbar();
  config.own<NodeDistances>().um.pop_back();
  EXPECT_EQ(validate(config).error().context, "node_distances");
  config = measured_crossbar();
  config.network = "mesh";
  EXPECT_EQ(validate(config).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::sim::net
