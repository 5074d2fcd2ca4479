// The network dapper: what crosses when, what is coalesced, and what is refused.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "network/approx_noc/config.hpp"
#include "network/dapper/config.hpp"
#include "network/dapper/reply_plane.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint16_t kHeader = 8;
constexpr std::uint16_t kFlits = 9;  // a header flit and a 64-byte line

struct Sent {
  NodeId to{};
  std::uint64_t tag{};
  std::int32_t value{};  // of all 16 words
  double threshold{0.1};
  WordType type{WordType::int32};
};

std::vector<std::byte> line(const Sent& sent) {
  std::vector<std::byte> payload(kHeader + 64);
  std::memcpy(payload.data(), &sent.tag, sizeof sent.tag);
  for (std::size_t at = kHeader; at < payload.size(); at += 4) {
    std::memcpy(&payload[at], &sent.value, 4);
  }
  return payload;
}

std::unique_ptr<Network> network(const NetworkConfig& config = dapper_network()) {
  auto made = make_network(config);
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

void reply(Network& net, NodeId from, const Sent& sent, std::uint16_t flits = kFlits) {
  const auto payload = line(sent);
  Packet packet;
  packet.source = from;
  packet.destinations = {&sent.to, 1};
  packet.flits = flits;
  packet.message_class = 1;
  packet.kind = PacketKind::read_reply;
  packet.tag = sent.tag;
  packet.created = net.now();
  packet.payload = payload;
  packet.approximable = {sent.type, sent.threshold, kHeader};
  ASSERT_TRUE(net.inject(packet));
}

struct Arrival {
  Delivery delivery;
  std::vector<std::byte> payload;
};
std::map<std::uint64_t, Arrival> drain(Network& net, int limit = 100000) {
  std::map<std::uint64_t, Arrival> arrivals;
  for (int cycle = 0; cycle < limit && net.packets_inside() != 0; ++cycle) {
    net.tick();
    for (const Delivery& delivery : net.deliveries()) {
      EXPECT_TRUE(
          arrivals
              .emplace(delivery.tag,
                       Arrival{delivery, {delivery.payload.begin(), delivery.payload.end()}})
              .second);
    }
  }
  EXPECT_EQ(net.packets_inside(), 0U);
  return arrivals;
}

std::uint64_t latency(const Delivery& delivery) {
  return delivery.arrived.value() - delivery.injected.value();
}

TEST(Dapper, ReachesEveryCoreInThreeCyclesFromEveryController) {
  for (const NodeId mc : memory_node_in_each_row(4, 4)) {
    auto net = network();
    for (NodeId core = 0; core < 16; ++core) {
      if (core != mc) reply(*net, mc, {core, core, 7, 0.0}, 1);
    }
    const auto arrivals = drain(*net);
    EXPECT_EQ(arrivals.size(), 15U);
    for (const auto& [tag, arrival] : arrivals) {
      EXPECT_EQ(arrival.delivery.destination, tag);
      EXPECT_EQ(latency(arrival.delivery), 3U);
    }
    EXPECT_TRUE(net->check_conservation());
  }
}

TEST(Dapper, SendsAFlitACycleInTheControllersOwnWindow) {
  auto net = network();
  const auto mcs = memory_node_in_each_row(4, 4);
  for (std::uint64_t i = 0; i < 200; ++i) {
    reply(*net, mcs[i % 4], {static_cast<NodeId>(mcs[i % 4] == 0 ? 1 : 0), i, 0, 0.0});
  }
  for (const auto& [tag, arrival] : drain(*net)) {
    const std::uint64_t in_period = arrival.delivery.injected.value() % 1000;
    const std::uint64_t begin = 250 * (tag % 4);
    EXPECT_EQ(latency(arrival.delivery), kFlits + 2U);
    EXPECT_GE(in_period, begin + 2);
    EXPECT_LE(in_period + kFlits, begin + 250 - 2);
  }
}

TEST(Dapper, CoalescesSimilarLinesIntoOnePacket) {
  auto net = network();
  reply(*net, 7, {0, 10, 1000});
  reply(*net, 7, {5, 11, 1050});
  reply(*net, 7, {5, 12, 2000});
  reply(*net, 7, {13, 13, 940});
  const auto arrivals = drain(*net);
  ASSERT_EQ(arrivals.size(), 4U);
  for (const std::uint64_t tag : {10, 11, 13}) {
    const Arrival& arrival = arrivals.at(tag);
    EXPECT_EQ(arrival.payload, line({0, tag, 1000})) << "own header, the leader's data";
    EXPECT_EQ(arrival.delivery.arrived, arrivals.at(10).delivery.arrived);
    EXPECT_EQ(arrival.delivery.source, 7U);
  }
  EXPECT_EQ(arrivals.at(11).delivery.destination, 5U);
  EXPECT_EQ(arrivals.at(13).delivery.destination, 13U);
  EXPECT_EQ(arrivals.at(12).payload, line({0, 12, 2000}));
  const power::NetworkEvents events = net->events();
  EXPECT_EQ(events.overlay.packets, 2U);
  EXPECT_EQ(events.overlay.coalesced, 2U);
  EXPECT_EQ(events.overlay.flits, 2U * kFlits);  // three destinations fit one header flit
  EXPECT_EQ(events.injected_flits, 4U * kFlits);
  EXPECT_EQ(events.ejected_flits, 4U * kFlits);
}

TEST(Dapper, ALongListOfDestinationsTakesAnotherHeaderFlit) {
  auto net = network();
  for (std::uint64_t i = 0; i < 6; ++i) reply(*net, 7, {static_cast<NodeId>(i), i, 1000});
  EXPECT_EQ(drain(*net).size(), 6U);
  EXPECT_EQ(net->events().overlay.packets, 1U);
  // 16 + 6 x (4 + 8) bits.
  EXPECT_EQ(net->events().overlay.flits, kFlits + 1U);
}

TEST(Dapper, ThresholdZeroAndCheckDepthOneLeaveEverythingAlone) {
  for (const bool by_depth : {false, true}) {
    NetworkConfig config = dapper_network();
    if (by_depth) {
      config.own<OverlayConfig>().check_depth = 1;
    } else {
      config.error_threshold = 0;
    }
    auto net = network(config);
    for (std::uint64_t i = 0; i < 20; ++i) {
      reply(*net, 1, {static_cast<NodeId>(4 + i % 8), i, 1000 + static_cast<int>(i)});
    }
    for (const auto& [tag, arrival] : drain(*net)) {
      EXPECT_EQ(arrival.payload, line({0, tag, 1000 + static_cast<int>(tag)}));
    }
    EXPECT_EQ(net->events().overlay.coalesced, 0U);
    EXPECT_EQ(net->events().overlay.packets, 20U);
  }
}

TEST(Dapper, TheNetworksThresholdReplacesThePackets) {
  NetworkConfig config = dapper_network();
  config.error_threshold = 0.3;
  auto net = network(config);
  reply(*net, 7, {0, 1, 1000, 0.1});
  reply(*net, 7, {2, 2, 1250, 0.1});
  EXPECT_EQ(drain(*net).at(2).payload, line({0, 2, 1000}));
}

TEST(Dapper, RepliesOfOtherNodesTakeTheRequestPlane) {
  auto net = network();
  reply(*net, 0, {7, 1, 5});   // from a core
  reply(*net, 7, {7, 2, 5});   // from a controller to itself
  reply(*net, 7, {14, 3, 5});  // from a controller to another: there are circuits
  const auto arrivals = drain(*net);
  for (const std::uint64_t tag : {1, 2, 3}) {
    EXPECT_EQ(arrivals.at(tag).delivery.message_class, 1U);
    EXPECT_EQ(arrivals.at(tag).delivery.kind, PacketKind::read_reply);
    EXPECT_EQ(arrivals.at(tag).payload, line({0, tag, 5}));
  }
  EXPECT_EQ(net->events().overlay.packets, 1U);
}

TEST(Dapper, APacketLongerThanAnyWindowIsSentInParts) {
  auto net = network();
  reply(*net, 14, {3, 1, 5, 0.0}, 700);  // of windows of 250
  const auto arrivals = drain(*net);
  EXPECT_EQ(arrivals.at(1).delivery.flits, 700U);
  EXPECT_EQ(net->events().overlay.flits, 702U);  // two more headers
  EXPECT_EQ(net->events().overlay.packets, 3U);
}

TEST(Dapper, APacketThatDoesNotFitTheRestOfTheWindowWaits) {
  auto net = network();
  net->skip_to(Cycles{240});
  reply(*net, 1, {0, 1, 5});  // 7 usable cycles are left of controller 0's window
  EXPECT_EQ(drain(*net).at(1).delivery.injected.value(), 1002U);
}

TEST(Dapper, AnEpochsTrafficGivesTheNextEpochsWindows) {
  NetworkConfig config = dapper_network();
  ReplyPlane plane(config, memory_node_in_each_row(4, 4));
  Deliveries deliveries;
  const NodeId to = 0;
  for (std::int64_t now = 0; now < 10001; ++now) {
    // A packet every 100 cycles at the third controller: A is 10 a period.
    if (now % 100 == 0 && now < 10000) {
      Packet packet;
      packet.source = 8;
      packet.destinations = {&to, 1};
      packet.flits = 2;
      packet.message_class = 1;
      packet.created = Cycles{static_cast<std::uint64_t>(now)};
      plane.inject(packet, to, now);
    }
    plane.tick(now, deliveries);
  }
  ASSERT_EQ(plane.windows().size(), 4U);
  EXPECT_EQ(plane.windows()[2], 1000 - 3 * 16);
  EXPECT_EQ(plane.windows()[0], 16);
  EXPECT_EQ(plane.events().windows, 4U);
}

TEST(Dapper, SourceQueueIsTheOutputBuffer) {
  auto net = network();
  for (std::uint64_t i = 0; i < 5; ++i) reply(*net, 1, {0, i, 5, 0.0});
  EXPECT_EQ(net->source_queue(1, 1), 5U);
  EXPECT_EQ(net->waiting_sources()[0], 2U);
  net->skip_to(Cycles{2});
  net->tick();  // the first begins to leave
  EXPECT_EQ(net->source_queue(1, 1), 5U);
  for (int i = 0; i < kFlits; ++i) net->tick();
  EXPECT_EQ(net->source_queue(1, 1), 4U + 0U);
  drain(*net);
  EXPECT_EQ(net->source_queue(1, 1), 0U);
  EXPECT_EQ(net->waiting_sources()[0], 0U);
}

// One network ticks each cycle, its twin jumps from event to event.
TEST(Dapper, JumpingOverQuietCyclesChangesNothing) {
  for (const char* name : {"dapper", "approx-noc"}) {
    NetworkConfig config = std::string(name) == "dapper" ? dapper_network() : approx_noc_network();
    config.own<OverlayConfig>().period = 200;
    config.own<OverlayConfig>().epoch = 1000;
    auto slow = network(config);
    auto fast = network(config);
    Random random(3);
    std::uint64_t tag = 0;
    for (int burst = 0; burst < 60; ++burst) {
      for (int i = 0; i < 3; ++i) {
        const NodeId mc = memory_node_in_each_row(4, 4)[random.below(4)];
        const Sent sent{random.below(16), tag++, static_cast<int>(1000 + random.below(100)), 0.1};
        reply(*slow, mc, sent);
        reply(*fast, mc, sent);
      }
      const Cycles until = slow->now() + Cycles{1 + random.below(700)};
      std::vector<std::pair<std::uint64_t, std::uint64_t>> a, b;
      const auto note = [](Network& net, auto& list) {
        for (const Delivery& d : net.deliveries()) list.emplace_back(d.tag, d.arrived.value());
      };
      while (slow->now() < until) {
        slow->tick();
        note(*slow, a);
      }
      while (fast->now() < until) {
        fast->skip_to(until);
        if (fast->now() < until) {
          fast->tick();
          note(*fast, b);
        }
      }
      ASSERT_EQ(a, b) << name;
    }
    EXPECT_EQ(slow->events().overlay.crossbar_flits, fast->events().overlay.crossbar_flits);
    EXPECT_EQ(slow->events().overlay.setups, fast->events().overlay.setups);
    EXPECT_EQ(slow->events().link_flits, fast->events().link_flits);
  }
}

// A reply that just misses its controller's window waits for the next one. That may take longer
// than any patience with networks whose packets should move all the time.
TEST(Dapper, AReplyThatWaitsForItsWindowIsNotStuck) {
  constexpr int kPeriod = 100000;
  constexpr Cycles kRunsPatience{20000};
  NetworkConfig config = dapper_network();
  config.own<OverlayConfig>().period = kPeriod;
  config.own<OverlayConfig>().epoch = kPeriod;
  auto net = network(config);
  const NodeId first_mc = memory_node_in_each_row(4, 4).front();
  net->skip_to(Cycles{kPeriod / 4});  // its window is over
  reply(*net, first_mc, {0, 1, 5});
  while (net->packets_inside() != 0) {
    EXPECT_FALSE(net->stuck(kRunsPatience)) << net->now().value();
    net->skip_to(net->now() + Cycles{kPeriod / 8});
    net->tick();
    ASSERT_LT(net->now().value(), 3U * kPeriod);
  }
  EXPECT_GT(net->now().value(), kPeriod);
}

// Algorithm 3 as printed: its counter stands still once it has reached the equal windows, every
// cycle connects another controller, and nothing more leaves until the next epoch.
TEST(Dapper, LiterallyTheSelectionUnitGetsStuck) {
  NetworkConfig config = dapper_network();
  config.own<OverlayConfig>().literal_selection = true;
  auto net = network(config);
  reply(*net, 1, {0, 1, 5});
  for (int cycle = 0; cycle < 9000; ++cycle) net->tick();
  EXPECT_EQ(net->packets_inside(), 1U);
  const auto stuck = net->stuck(Cycles{5000});
  ASSERT_TRUE(stuck);
  EXPECT_NE(stuck->text.find("wait at memory controllers"), std::string::npos);
}

TEST(Dapper, CountsTransitionsOnEveryWireOfTheCircuit) {
  NetworkConfig config = dapper_network();
  config.count_toggles = true;
  auto net = network(config);
  reply(*net, 5, {4, 0, -1, 0.0, WordType::exact});  // not a controller: request plane
  EXPECT_EQ(drain(*net).size(), 1U);
  EXPECT_EQ(net->events().overlay.link_toggles, 0U);
  EXPECT_GT(net->events().link_toggles, 0U);
  reply(*net, 7, {4, 0, -1, 0.0, WordType::exact});
  EXPECT_EQ(drain(*net).size(), 1U);
  // The row has three links out of node 7, at the end of it; the header is all zeros, the data all
  // ones: 64 wires rise once. The statistics of the epochs passed come first.
  EXPECT_EQ(net->events().overlay.link_toggles, 3U * 64);
  EXPECT_EQ(net->events().overlay.link_flits, 3U * kFlits);
}

struct Broken {
  const char* key;
  void (*change)(NetworkConfig&);
};
class DapperRefuses : public testing::TestWithParam<Broken> {};

TEST_P(DapperRefuses, ByName) {
  NetworkConfig config = dapper_network();
  GetParam().change(config);
  const auto made = make_network(config);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().context, GetParam().key) << made.error().text();
}

INSTANTIATE_TEST_SUITE_P(
    Settings, DapperRefuses,
    testing::Values(
        Broken{"error_threshold", [](NetworkConfig& c) { c.error_threshold = -0.1; }},
        Broken{"period", [](NetworkConfig& c) { c.own<OverlayConfig>().period = 20000; }},
        Broken{"period", [](NetworkConfig& c) { c.own<OverlayConfig>().period = 3000; }},
        Broken{"check_depth", [](NetworkConfig& c) { c.own<OverlayConfig>().check_depth = 0; }},
        Broken{"memory_nodes",
               [](NetworkConfig& c) {
                 c.memory_nodes = {0, 4, 8};
               }},
        Broken{"memory_nodes",
               [](NetworkConfig& c) {
                 c.memory_nodes = {0, 4, 8, 9};
               }},
        Broken{"memory_nodes",
               [](NetworkConfig& c) {
                 c.memory_nodes = {0, 4, 8, 16};
               }},
        Broken{"alpha", [](NetworkConfig& c) { c.own<OverlayConfig>().alpha = -1; }},
        Broken{"min_window", [](NetworkConfig& c) { c.own<OverlayConfig>().min_window = 300; }},
        Broken{"classes", [](NetworkConfig& c) { c.classes = 1; }},
        Broken{"concentration", [](NetworkConfig& c) { c.concentration = 2; }},
        Broken{"scheme", [](NetworkConfig& c) {
                 c = approx_noc_network();
                 c.own<CompressionConfig>().scheme = "zip";
               }}));

}  // namespace
}  // namespace ww::sim::net
