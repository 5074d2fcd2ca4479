// Minimal adaptive routes with an escape channel: they spread over shortest ways, and cannot lock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "network/graph/topologies.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

using testing::HasSubstr;

// A mesh of side x side routers with their positions, or a ring where side is 1.
std::string grid(int width, int height, bool around, const std::string& ways) {
  std::string text = ways + "routers = " + std::to_string(width * height) + "\nnodes = [";
  std::string places = "positions = [";
  std::string links;
  const auto link = [&links](int from, int to) {
    links += "[[link]]\nfrom = " + std::to_string(from) + "\nto = " + std::to_string(to) + "\n";
  };
  for (int router = 0; router < width * height; ++router) {
    const int x = router % width;
    const int y = router / width;
    text += std::to_string(router) + ", ";
    places += "[" + std::to_string(x) + ", " + std::to_string(y) + "], ";
    if (x + 1 < width) link(router, router + 1);
    if (x + 1 == width && around) link(router, router + 1 - width);
    if (y + 1 < height) link(router, router + width);
  }
  return text + "]\n" + places + "]\n" + links;
}

class Adaptive : public testing::Test {
 protected:
  NetworkConfig config(const std::string& text) {
    const auto file = folder_.path() / "graph.toml";
    std::ofstream(file) << text;
    NetworkConfig config;
    config.network = "topology";
    EXPECT_TRUE(set_key(config, "topology", file.string()));
    return config;
  }
  ScratchFolder folder_ = *ScratchFolder::create("adaptive");
};

// Sends packets from everywhere to everywhere until `until`, and waits for all of them. False when
// some never arrive.
testing::AssertionResult deliver_all(Network& network, Random& random, int until, int flits) {
  const auto nodes = static_cast<std::uint32_t>(node_count(network.config()));
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  for (int cycle = 0; cycle < until || arrived < sent; ++cycle) {
    for (NodeId node = 0; node < nodes && cycle < until; ++node) {
      const NodeId to = random.below(nodes);
      Packet packet;
      packet.source = node;
      packet.destinations = {&to, 1};
      packet.flits =
          static_cast<std::uint16_t>(1 + random.below(static_cast<std::uint32_t>(flits)));
      packet.message_class = static_cast<std::uint8_t>(
          random.below(static_cast<std::uint32_t>(network.config().classes)));
      packet.created = network.now();
      if (!network.inject(packet)) return testing::AssertionFailure() << "refused a packet";
      ++sent;
    }
    network.tick();
    arrived += network.deliveries().size();
    if (cycle % 64 == 0) {
      if (const auto stuck = network.stuck(Cycles{3000})) {
        return testing::AssertionFailure() << stuck->text;
      }
      if (const Status status = network.check_conservation(); !status) {
        return testing::AssertionFailure() << status.error().text();
      }
    }
  }
  return testing::AssertionSuccess();
}

TEST_F(Adaptive, TakesShortestWaysWhereNobodyElseIsAbout) {
  const auto network = make_network(config(grid(4, 4, false, "routing = \"adaptive\"\n")));
  ASSERT_TRUE(network) << network.error().text();
  for (NodeId from = 0; from < 16; ++from) {
    for (NodeId to = 0; to < 16; ++to) {
      Packet packet;
      packet.source = from;
      packet.destinations = {&to, 1};
      packet.flits = 3;
      packet.created = (*network)->now();
      ASSERT_TRUE((*network)->inject(packet));
      while ((*network)->deliveries().empty()) (*network)->tick();
      const Delivery& delivery = (*network)->deliveries().front();
      const int links = std::abs(static_cast<int>(from % 4) - static_cast<int>(to % 4)) +
                        std::abs(static_cast<int>(from / 4) - static_cast<int>(to / 4));
      EXPECT_EQ(delivery.hops, links + 1);
      // The latency is a lone packet's on any topology: three cycles a router, two at the ends.
      EXPECT_EQ(delivery.arrived.value() - delivery.created.value(),
                static_cast<std::uint64_t>(3 * (links + 1) + links + 2 + 3));
      (*network)->tick();
    }
  }
}

TEST_F(Adaptive, CarriesMoreTransposeTrafficThanDimensionOrder) {
  constexpr int kSide = 8;
  constexpr int kCycles = 3000;
  // Flits that arrive when every node always has a packet for the node across the diagonal.
  const auto arrived = [&](const std::string& ways) {
    NetworkConfig wanted = config(grid(kSide, kSide, false, ways));
    wanted.own<VcRouterConfig>().vc_buffer = 8;
    auto network = make_network(wanted);
    EXPECT_TRUE(network) << network.error().text();
    std::uint64_t flits = 0;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      for (NodeId node = 0; node < kSide * kSide; ++node) {
        const NodeId to = node % kSide * kSide + node / kSide;
        if (to == node || (*network)->source_queue(node, 0) > 1) continue;
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits = 5;
        packet.created = (*network)->now();
        EXPECT_TRUE((*network)->inject(packet));
      }
      (*network)->tick();
      for (const Delivery& delivery : (*network)->deliveries()) flits += delivery.flits;
    }
    return static_cast<double>(flits);
  };
  const double fixed = arrived("routing = \"dimension-order\"\n");
  const double adaptive = arrived("routing = \"adaptive\"\nescape = \"dimension-order\"\n");
  EXPECT_GT(adaptive, 1.3 * fixed);
}

TEST_F(Adaptive, DeliversEverythingInOverloadOnRingsMeshesAndRandomGraphs) {
  Random random(3);
  for (int trial = 0; trial < 120; ++trial) {
    std::string text;
    if (trial % 3 == 0) {  // the shortest ways of a ring alone would lock
      text = grid(3 + static_cast<int>(random.below(6)), 1, true, "routing = \"adaptive\"\n");
    } else if (trial % 3 == 1) {
      text = grid(4, 4, random.below(2) == 0, "routing = \"adaptive\"\n");
    } else {
      const std::uint32_t routers = 4 + random.below(8);
      text = "routing = \"adaptive\"\nrouters = " + std::to_string(routers) + "\nnodes = [";
      std::string links;
      for (std::uint32_t router = 0; router < routers; ++router) {
        text += std::to_string(router) + ", ";
        for (int more = 0; router > 0 && more < 2; ++more) {
          links += "[[link]]\nfrom = " + std::to_string(router) +
                   "\nto = " + std::to_string(random.below(router)) +
                   "\ndelay = " + std::to_string(1 + random.below(3)) + "\n";
        }
      }
      text += "]\n" + links;
    }
    NetworkConfig wanted = config(text);
    wanted.classes = 1 + static_cast<int>(random.below(2));
    auto& router = wanted.own<VcRouterConfig>();
    router.vcs = 2 * wanted.classes + static_cast<int>(random.below(3));
    router.vc_buffer = 4 + static_cast<int>(random.below(6));
    router.speculative = random.below(3) == 0;
    router.vc_alloc_delay = 1 + static_cast<int>(random.below(2));
    auto network = make_network(wanted);
    ASSERT_TRUE(network) << network.error().text() << text;
    ASSERT_TRUE(deliver_all(**network, random, 150, 12)) << text;
  }
}

// All packets go the same way round, and long ones lie in several buffers each.
TEST_F(Adaptive, NeverLocksARingThatIsFullOfLongPackets) {
  for (const int nodes : {5, 6, 9}) {
    for (const int flits : {3, 7, 24}) {
      NetworkConfig wanted = config(grid(nodes, 1, true, "routing = \"adaptive\"\n"));
      auto& router = wanted.own<VcRouterConfig>();
      router.vcs = 2;
      router.vc_buffer = 5;
      auto network = make_network(wanted);
      ASSERT_TRUE(network) << network.error().text();
      std::uint64_t sent = 0;
      std::uint64_t arrived = 0;
      for (int cycle = 0; cycle < 6000 || arrived < sent; ++cycle) {
        for (NodeId node = 0; node < static_cast<NodeId>(nodes) && cycle < 6000; ++node) {
          if ((*network)->source_queue(node, 0) > 1) continue;
          const NodeId to =
              (node + static_cast<NodeId>(nodes - 1) / 2) % static_cast<NodeId>(nodes);
          Packet packet;
          packet.source = node;
          packet.destinations = {&to, 1};
          packet.flits = static_cast<std::uint16_t>(flits);
          packet.created = (*network)->now();
          ASSERT_TRUE((*network)->inject(packet));
          ++sent;
        }
        (*network)->tick();
        arrived += (*network)->deliveries().size();
        // A node may starve while others fill the ring, but something always moves.
        const auto stuck = (*network)->stuck(Cycles{2000});
        ASSERT_FALSE(stuck && stuck->kind == Stuck::Kind::deadlock)
            << nodes << " nodes, " << flits << " flits: " << stuck->text;
      }
    }
  }
}

constexpr const char* kJoin = R"(routers = 4
routing = "adaptive"
nodes = [0, 1, 3]
link = [{from = 0, to = 2}, {from = 1, to = 2}, {from = 2, to = 3}]
)";

TEST_F(Adaptive, LetsAHeadThatLostAVcAskForTheEscapeChannel) {
  // Two packets reach router 2 together, and it has one adaptive VC to give. A short one that does
  // not get it must not wait behind the long one.
  for (const NodeId with_short : {0U, 1U}) {
    NetworkConfig wanted = config(kJoin);
    wanted.own<VcRouterConfig>().vcs = 2;
    auto network = make_network(wanted);
    ASSERT_TRUE(network) << network.error().text();
    const NodeId to = 2;
    for (const NodeId node : {0U, 1U}) {
      Packet packet;
      packet.source = node;
      packet.destinations = {&to, 1};
      packet.flits = node == with_short ? 1 : 40;
      ASSERT_TRUE((*network)->inject(packet));
    }
    while ((*network)->deliveries().empty()) (*network)->tick();
    EXPECT_EQ((*network)->deliveries().front().flits, 1);
    EXPECT_LT((*network)->now().value(), 20U);
  }
}

TEST_F(Adaptive, GivesABufferToOnePacketAtATime) {
  // Packets of one flit over one link, whose two VCs are free again only when their credit is back.
  const auto arrived = [&](const std::string& text, bool wait) {
    NetworkConfig wanted = config(text);
    auto& router = wanted.own<VcRouterConfig>();
    router.vcs = 2;
    router.wait_for_tail_credit = wait;
    auto network = make_network(wanted);
    EXPECT_TRUE(network) << network.error().text();
    std::uint64_t packets = 0;
    for (int cycle = 0; cycle < 2000; ++cycle) {
      for (const NodeId node : {0U, 1U}) {
        if ((*network)->source_queue(node, 0) > 4) continue;
        const NodeId to = 2;
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.created = (*network)->now();
        EXPECT_TRUE((*network)->inject(packet));
      }
      (*network)->tick();
      packets += (*network)->deliveries().size();
    }
    return packets;
  };
  std::string minimal = kJoin;
  minimal.replace(minimal.find("adaptive"), 8, "minimal");
  EXPECT_GT(arrived(minimal, false), 1200U);
  const std::uint64_t waiting = arrived(minimal, true);
  EXPECT_LT(waiting, 800U);
  EXPECT_NEAR(static_cast<double>(arrived(kJoin, false)), static_cast<double>(waiting), 100);
}

TEST_F(Adaptive, IsRefusedWithTheCircleWhereItsEscapeCouldLock) {
  const auto refused =
      make_network(config(grid(5, 1, true, "routing = \"adaptive\"\nescape = \"minimal\"\n")));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("0 -> 1 -> 2 -> 3 -> 4 -> 0"));
  EXPECT_THAT(refused.error().message, HasSubstr("escape up-down cannot deadlock"));
  NetworkConfig one_vc = config(grid(4, 4, false, "routing = \"adaptive\"\n"));
  one_vc.own<VcRouterConfig>().vcs = 1;
  one_vc.own<VcRouterConfig>().vc_buffer = 16;
  EXPECT_EQ(validate(one_vc).error().context, "vcs");
}

TEST_F(Adaptive, EscapesFromEveryRouterThatAPacketCanReach) {
  // One of the two shortest ways from 0 to 3, over router 2, leaves by a one-way link: from 2 no
  // way goes up and then down to router 3 other than this link, which up-down finds, too.
  const std::string text = R"(routers = 4
routing = "adaptive"
nodes = [0, 3]
link = [{from = 0, to = 1}, {from = 1, to = 3}, {from = 0, to = 2, one_way = true},
        {from = 2, to = 3, one_way = true}]
)";
  EXPECT_TRUE(make_network(config(text)));
  // Dimension order has no way from router 2, where only adaptive packets come.
  const std::string lost = R"(routers = 4
routing = "adaptive"
escape = "dimension-order"
nodes = [0, 3]
positions = [[0, 0], [1, 0], [0, 1], [2, 0]]
link = [{from = 0, to = 1}, {from = 1, to = 3}, {from = 0, to = 2, one_way = true},
        {from = 2, to = 3, one_way = true}]
)";
  const auto refused = make_network(config(lost));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no way from router 2 to router 3"));
}

}  // namespace
}  // namespace ww::sim::net
