// Clock domains and links that are narrower than a flit, against closed forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "network/graph/topologies.hpp"
#include "testing/lone_packet.hpp"
#include "vc_router/pace.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/estimate.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

using testing::HasSubstr;

struct Files {
  ScratchFolder folder = *ScratchFolder::create("unequal");
  // A network of this file's text.
  NetworkConfig config(const std::string& text) const {
    const auto file = folder.path() / "graph.toml";
    std::ofstream(file) << text;
    NetworkConfig config;
    config.network = "topology";
    EXPECT_TRUE(set_key(config, "topology", file.string()));
    return config;
  }
  std::unique_ptr<Network> made(const std::string& text) const {
    auto network = make_network(config(text));
    EXPECT_TRUE(network) << network.error().text();
    return network ? std::move(*network) : nullptr;
  }
};

constexpr int kFlitBits = 128;

// A chain of routers with a node each. One entry of `widths` and `delays` for each link.
struct Chain {
  std::vector<int> mhz;
  std::vector<int> widths;
  std::vector<int> delays;
  int synchronizer{2};

  [[nodiscard]] std::string text() const {
    std::string text = "routers = " + std::to_string(mhz.size()) + "\nnodes = [";
    for (std::size_t node = 0; node < mhz.size(); ++node) {
      text += std::to_string(node) + ", ";
    }
    text += "]\nsynchronizer = " + std::to_string(synchronizer) + "\n";
    for (std::size_t router = 0; router < mhz.size(); ++router) {
      text += "[[domain]]\nmhz = " + std::to_string(mhz[router]) + "\nrouters = [" +
              std::to_string(router) + "]\n";
    }
    for (std::size_t link = 0; link + 1 < mhz.size(); ++link) {
      text += "[[link]]\nfrom = " + std::to_string(link) + "\nto = " + std::to_string(link + 1) +
              "\nwidth = " + std::to_string(widths[link]) +
              "\ndelay = " + std::to_string(delays[link]) + "\n";
    }
    return text;
  }
  // Arrival at the last node of a packet that the first is given in cycle 0, where periods are
  // whole cycles and buffers hold all of it. A head takes three cycles of its own a router: it gets
  // a VC, wins the switch, crosses it. What is behind it wins the switch as soon as it is there and
  // the link is free. Delays are in the network's cycles; whatever arrives waits for an edge, and
  // for the synchronizer behind another clock.
  [[nodiscard]] std::uint64_t arrival(int flits) const {
    const int fastest = *std::max_element(mhz.begin(), mhz.end());
    const auto period = [&](std::size_t router) { return fastest / mhz[router]; };
    const auto edge = [&](int cycle, std::size_t router) {
      return (cycle + period(router) - 1) / period(router) * period(router);
    };
    std::vector<int> link_free(mhz.size());
    int arrived = 0;
    for (int flit = 0; flit < flits; ++flit) {
      int at = edge((flit + 1) * period(0) + 1, 0);  // from the node, one in each of its cycles
      for (std::size_t router = 0; router < mhz.size(); ++router) {
        const bool last = router + 1 == mhz.size();
        const int pieces = last ? 1 : kFlitBits / widths[router];
        const int wins = std::max(at + (flit == 0 ? period(router) : 0), link_free[router]);
        link_free[router] = wins + pieces * period(router);
        const int sent = wins + (1 + pieces) * period(router);
        if (last) {
          arrived = edge(sent + 1, router);
        } else {
          at = edge(sent + delays[router], router + 1) +
               (mhz[router] != mhz[router + 1] ? synchronizer * period(router + 1) : 0);
        }
      }
    }
    return static_cast<std::uint64_t>(arrived);
  }
};

TEST(UnequalSpeeds, TakeALonePacketInTheTimeOfTheClosedForm) {
  const Files files;
  const Chain chains[] = {
      {{1000, 1000, 1000}, {128, 128}, {1, 1}},
      {{1000, 1000, 1000}, {32, 8}, {1, 3}},
      {{1000, 500, 1000}, {128, 128}, {1, 1}},
      {{250, 1000, 500, 250}, {128, 128, 128}, {2, 1, 5}, 0},
      {{1200, 400, 600, 300}, {64, 16, 128}, {1, 4, 2}, 3},
  };
  for (const Chain& chain : chains) {
    for (const int flits : {1, 2, 5, 40}) {
      NetworkConfig config = files.config(chain.text());
      config.own<VcRouterConfig>().vc_buffer = 64;
      auto network = make_network(config);
      ASSERT_TRUE(network) << network.error().text();
      const auto last = static_cast<NodeId>(chain.mhz.size() - 1);
      EXPECT_EQ(lone_packet(**network, 0, last, flits).latency, chain.arrival(flits))
          << flits << " flits\n"
          << chain.text();
      EXPECT_TRUE((*network)->check_conservation());
    }
  }
}

TEST(UnequalSpeeds, CarryTheShareOfFlitsThatAnOddRatioOfClocksLeaves) {
  const Files files;
  const Chain chain{{1400, 924, 1400}, {128, 128}, {1, 1}};
  NetworkConfig config = files.config(chain.text());
  config.own<VcRouterConfig>().vc_buffer = 64;
  auto network = make_network(config);
  ASSERT_TRUE(network) << network.error().text();
  const NodeId to = 2;
  constexpr std::uint64_t kCycles = 14000;
  std::uint64_t flits = 0;
  for (std::uint64_t cycle = 0; cycle < kCycles; ++cycle) {
    if (cycle % 4 == 0) {
      Packet packet;
      packet.destinations = {&to, 1};
      packet.flits = 4;
      packet.created = (*network)->now();
      ASSERT_TRUE((*network)->inject(packet));
    }
    (*network)->tick();
    for (const Delivery& delivery : (*network)->deliveries()) {
      flits += delivery.flits;
    }
  }
  EXPECT_NEAR(static_cast<double>(flits), kCycles * 924.0 / 1400.0, 60.0);
  EXPECT_TRUE((*network)->check_conservation());
}

TEST(UnequalSpeeds, LoseNothingInRandomNetworksUnderLoad) {
  const Files files;
  Random random(5);
  for (int graph = 0; graph < 60; ++graph) {
    const std::uint32_t routers = 3 + random.below(5);
    std::string text =
        "routers = " + std::to_string(routers) +
        "\nrouting = \"up-down\"\nsynchronizer = " + std::to_string(random.below(4)) +
        "\nnodes = [0";
    for (std::uint32_t router = 1; router < routers; ++router) {
      text += ", " + std::to_string(router);
    }
    text += "]\n";
    for (std::uint32_t router = 0; router < routers; ++router) {
      text += "[[domain]]\nmhz = " + std::to_string(300 + 100 * random.below(8)) + "\nrouters = [" +
              std::to_string(router) + "]\n";
      const std::uint32_t to = router == 0 ? routers - 1 : random.below(router);
      text += "[[link]]\nfrom = " + std::to_string(router) + "\nto = " + std::to_string(to) +
              "\nwidth = " + std::to_string(8U << random.below(5)) +
              "\ndelay = " + std::to_string(1 + random.below(5)) + "\n";
    }
    NetworkConfig config = files.config(text);
    auto& router = config.own<VcRouterConfig>();
    router.st_delay = 1 + static_cast<int>(random.below(3));  // stages of several cycles, too
    router.sw_alloc_delay = 1 + static_cast<int>(random.below(2));
    router.credit_delay = static_cast<int>(random.below(3));
    router.vc_buffer = 16;
    auto network = make_network(config);
    ASSERT_TRUE(network) << network.error().text() << text;
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    for (int cycle = 0; cycle < 60000 && (cycle < 100 || arrived < sent); ++cycle) {
      for (NodeId node = 0; node < routers && cycle < 100; ++node) {
        const NodeId to = random.below(routers);
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits = static_cast<std::uint16_t>(1 + random.below(6));
        packet.created = (*network)->now();
        ASSERT_TRUE((*network)->inject(packet));
        ++sent;
      }
      (*network)->tick();
      arrived += (*network)->deliveries().size();
      if (cycle % 50 == 0) {
        const Status conserved = (*network)->check_conservation();
        ASSERT_TRUE(conserved) << conserved.error().text() << text;
      }
    }
    ASSERT_EQ(arrived, sent) << text;
  }
}

TEST(UnequalSpeeds, ChargeTheClockOfASlowRouterAndTheWiresOfANarrowLinkForWhatTheyAre) {
  const Files files;
  const Chain slow{{1000, 250}, {128}, {1}};
  const Chain even{{1000, 1000}, {32}, {1}};
  const auto energy_of = [&](const Chain& chain) {
    const auto network = files.made(chain.text());
    for (int cycle = 0; cycle < 1000; ++cycle) {
      network->tick();
    }
    const auto energy = power::account(network->events(), energy_config(network->config()));
    EXPECT_TRUE(energy);
    return *energy;
  };
  const auto of_slow = energy_of(slow);
  const auto of_even = energy_of(even);
  EXPECT_NEAR(of_slow.clock / of_even.clock, (1 + 0.25) / 2, 1e-9);
  EXPECT_NEAR(of_even.link_leakage / of_slow.link_leakage, 32.0 / 128, 1e-9);
}

TEST(UnequalSpeeds, CannotBeEstimated) {
  const Files files;
  const auto estimate =
      estimate_latency(files.config(Chain{{1000, 500}, {128}, {1}}.text()), TrafficConfig{});
  ASSERT_FALSE(estimate);
  EXPECT_EQ(estimate.error().code, ErrorCode::unsupported);
}

TEST(NarrowLinks, CountTheTransitionsOfTheirOwnWires) {
  const Files files;
  // Eight bytes of ones, then eight of zeros: on 128 wires 64 rise; on 64 wires they rise, then
  // fall.
  std::vector<std::byte> payload(16);
  std::fill_n(payload.begin(), 8, std::byte{0xFF});
  const NodeId to = 1;
  const auto toggles = [&](int width) {
    NetworkConfig config = files.config(Chain{{1000, 1000}, {width}, {1}}.text());
    config.count_toggles = true;
    auto network = make_network(config);
    EXPECT_TRUE(network) << network.error().text();
    Packet packet;
    packet.destinations = {&to, 1};
    packet.flits = 1;
    packet.payload = payload;
    EXPECT_TRUE((*network)->inject(packet));
    for (int cycle = 0; cycle < 40; ++cycle) {
      (*network)->tick();
    }
    return (*network)->events().link_toggles;
  };
  EXPECT_EQ(toggles(128), 64U);
  EXPECT_EQ(toggles(64), 128U);
}

TEST(Clock, HasItsEdgesAsEvenlyAsCyclesAllow) {
  const Clock clock(700, 1400 * 3 / 2);  // one of three
  EXPECT_EQ(clock.from(0), 0);
  EXPECT_EQ(clock.after(0, 1), 3);
  EXPECT_EQ(clock.from(4), 6);
  const Clock odd(924, 1400);
  std::int64_t edges = 0;
  for (std::int64_t cycle = 0; cycle < 1400; ++cycle) {
    EXPECT_EQ(odd.edges_before(cycle), edges) << cycle;
    if (odd.has_edge(cycle)) {
      EXPECT_EQ(odd.from(cycle), cycle);
      EXPECT_EQ(odd.after(0, static_cast<int>(edges)), cycle);
      ++edges;
    }
  }
  EXPECT_EQ(edges, 924);
}

TEST(TopologyFile, RefusesWidthsAndClocksThatCannotBeWithFileAndLine) {
  const std::string head = "routers = 2\nnodes = [0, 1]\n";
  const std::string link = "[[link]]\nfrom = 0\nto = 1\n";
  const struct {
    std::string text;
    const char* message;
  } refused[] = {
      {head + link + "width = 256\n", "t.toml:6: width: is wider than a flit of 128 bits"},
      {head + link + "width = 48\n", "t.toml:6: width: is no multiple of 8 bits that divides"},
      {head + "[[domain]]\nmhz = 500\nrouters = [0]\n" + link,
       "domain: leaves router 1 without a clock"},
      {head + "[[domain]]\nmhz = 500\nrouters = [0, 1]\n[[domain]]\nmhz = 700\nrouters = [1]\n",
       "t.toml:8: routers: names router 1, which has a clock"},
      {head + "[[domain]]\nmhz = 0\nrouters = [0, 1]\n", "t.toml:4: mhz: is not a number of 1"},
      {head + "[[domain]]\nmhz = 1\nrouters = [0]\n[[domain]]\nmhz = 65\nrouters = [1]\n",
       "differ by more than 64"},
      {"synchronizer = 3\n" + head + link, "t.toml:1: synchronizer: is for routers of different"},
      {"escape = \"minimal\"\n" + head + link, "t.toml:1: escape: is for routing adaptive"},
  };
  for (const auto& [text, message] : refused) {
    const auto topology = graph::topology_of_toml(text, "t.toml", "file");
    ASSERT_FALSE(topology) << text;
    EXPECT_THAT(topology.error().text(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace ww::sim::net
