// Topologies: what their routes cost a lone packet, that nothing is lost, and that a network that
// could lock is refused with the circle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "network/graph/table_flows.hpp"
#include "network/graph/table_routing.hpp"
#include "network/graph/topologies.hpp"
#include "testing/lone_packet.hpp"
#include "testing/sized_network.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

using graph::HopTable;
using graph::Routes;
using graph::Topology;
using test::made;
using test::sized;
using testing::HasSubstr;

// A router takes three cycles (VC allocation, switch allocation, traversal), a link its delay, the
// two ends together two cycles, and each flit one.
constexpr int kLoneFlits = 3;

struct Expected {
  int routers{};  // passed
  int links{};    // sum of their delays
};
using ClosedForm = Expected (*)(const NetworkConfig&, int from, int to);

struct Case {
  const char* name;
  int width;
  int height;
  int concentration;
  ClosedForm form;
  const char* ways = "fixed";
};

NetworkConfig sized(const Case& one) {
  NetworkConfig config = sized(one.name, one.width, one.height, one.concentration);
  EXPECT_TRUE(one.ways == std::string("fixed") || set_key(config, "ways", one.ways));
  return config;
}

int ring_distance(int from, int to, int side) {
  const int ahead = (to - from + side) % side;
  return std::min(ahead, side - ahead);
}

// 4 x 4, two nodes at a router.
Expected of_even_torus(const NetworkConfig&, int from, int to) {
  const int links = ring_distance(from / 2 % 4, to / 2 % 4, 4) + ring_distance(from / 8, to / 8, 4);
  return {links + 1, 2 * links};
}
// 3 x 2, four nodes at a router.
Expected of_concentrated_mesh(const NetworkConfig&, int from, int to) {
  const int links = std::abs(from % 6 / 2 - to % 6 / 2) + std::abs(from / 12 - to / 12);
  return {links + 1, 2 * links};
}
// 4 x 3, two nodes at a router. An idle network has no detours.
Expected of_flattened_butterfly(const NetworkConfig&, int from, int to) {
  const int x = std::abs(from / 2 % 4 - to / 2 % 4);
  const int y = std::abs(from / 8 - to / 8);
  return {1 + (x > 0 ? 1 : 0) + (y > 0 ? 1 : 0), 2 * x + y};
}
// 64 nodes, of radix 4.
Expected of_fat_tree(const NetworkConfig&, int from, int to) {
  const int up = from / 4 == to / 4 ? 0 : from / 16 == to / 16 ? 1 : 2;
  return {2 * up + 1, 2 * up};
}
// 5 groups of 4 routers, two nodes at a router.
Expected of_dragonfly(const NetworkConfig&, int from, int to) {
  const int group = from / 8;
  const int target = to / 8;
  if (group == target) {
    return from / 2 == to / 2 ? Expected{1, 0} : Expected{2, 1};
  }
  const int out = target < group ? target : target - 1;  // the router with the link to that group
  const int in = group < target ? group : group - 1;
  const int local = (from / 2 % 4 != out ? 1 : 0) + (to / 2 % 4 != in ? 1 : 0);
  return {2 + local, 8 + local};
}

const Case kCases[] = {
    {"crossbar", 4, 3, 1,
     [](const NetworkConfig&, int, int) {
       return Expected{1, 0};
     }},
    {"crossbar-hierarchical", 4, 3, 1,
     [](const NetworkConfig& config, int from, int to) {
       return from / config.width == to / config.width ? Expected{1, 0} : Expected{3, 2};
     }},
    {"crossbar-partitioned", 4, 3, 1,
     [](const NetworkConfig&, int from, int to) {
       return from / 6 == to / 6 ? Expected{1, 0} : Expected{2, 4};
     }},
    {"torus", 5, 3, 1,
     [](const NetworkConfig&, int from, int to) {
       const int links = ring_distance(from % 5, to % 5, 5) + ring_distance(from / 5, to / 5, 3);
       return Expected{links + 1, 2 * links};
     }},
    {"torus", 4, 4, 2, of_even_torus},
    {"torus", 4, 4, 2, of_even_torus, "booksim"},
    {"ring", 7, 1, 1,
     [](const NetworkConfig&, int from, int to) {
       const int links = ring_distance(from, to, 7);
       return Expected{links + 1, links};
     }},
    {"cmesh", 3, 2, 4, of_concentrated_mesh},
    {"cmesh", 3, 2, 4, of_concentrated_mesh, "booksim"},
    {"flatfly", 4, 3, 2, of_flattened_butterfly},
    {"flatfly", 4, 3, 2, of_flattened_butterfly, "booksim"},
    {"flatfly", 4, 3, 2, of_flattened_butterfly, "booksim-adaptive"},
    {"flatfly", 4, 3, 2, of_flattened_butterfly, "booksim-ugal"},
    {"chiplet-mesh", 4, 4, 1,
     [](const NetworkConfig&, int from, int to) {
       const int links = std::abs(from % 4 - to % 4) + std::abs(from / 4 - to / 4);
       const int across = (from % 4 / 2 != to % 4 / 2 ? 1 : 0) + (from / 8 != to / 8 ? 1 : 0);
       return Expected{links + 1, links - across + 4 * across};
     }},
    {"fly", 16, 4, 1,
     [](const NetworkConfig&, int, int) {
       return Expected{3, 2};
     }},
    {"fattree", 16, 4, 1, of_fat_tree},
    {"fattree", 16, 4, 1, of_fat_tree, "booksim"},
    {"fattree", 16, 4, 1, of_fat_tree, "booksim-adaptive"},
    {"dragonfly", 4, 5, 2, of_dragonfly},
    {"dragonfly", 4, 5, 2, of_dragonfly, "booksim"},
    {"dragonfly", 4, 5, 2, of_dragonfly, "ugal"},
};

class TopologiesByName : public testing::TestWithParam<Case> {};

TEST_P(TopologiesByName, TakeALonePacketInTheTimeOfTheClosedForm) {
  const Case& one = GetParam();
  const NetworkConfig config = sized(one);
  const auto network = made(config);
  ASSERT_NE(network, nullptr);
  const int nodes = node_count(config);
  for (int from = 0; from<nodes; from += nodes> 40 ? 3 : 1) {
    for (int to = 0; to < nodes; ++to) {
      const Expected expected = one.form(config, from, to);
      const LonePacket packet =
          lone_packet(*network, static_cast<NodeId>(from), static_cast<NodeId>(to), kLoneFlits);
      EXPECT_EQ(packet.hops, expected.routers) << from << " to " << to;
      const int cycles = 3 * expected.routers + expected.links + 2 + kLoneFlits;
      EXPECT_EQ(packet.latency, static_cast<std::uint64_t>(cycles)) << from << " to " << to;
      while (network->next_event()) {  // until its credits are back
        network->tick();
      }
    }
  }
}

TEST_P(TopologiesByName, LoseNothingInOverload) {
  const Case& one = GetParam();
  for (const int classes : {1, 2}) {
    NetworkConfig config = sized(one);
    config.classes = classes;
    config.own<VcRouterConfig>().vcs = 4 * classes;  // a class may have four layers
    const auto network = made(config);
    ASSERT_NE(network, nullptr);
    Random random(7);
    const auto nodes = static_cast<std::uint32_t>(node_count(config));
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    for (int cycle = 0; cycle < 20000; ++cycle) {
      for (NodeId node = 0; node < nodes && cycle < 400; ++node) {
        const NodeId to = random.below(nodes);
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits = static_cast<std::uint16_t>(1 + random.below(5));
        packet.message_class = static_cast<std::uint8_t>(cycle % classes);
        packet.created = network->now();
        ASSERT_TRUE(network->inject(packet));
        ++sent;
      }
      network->tick();
      arrived += network->deliveries().size();
      if (cycle % 100 == 0) {
        const Status conserved = network->check_conservation();
        ASSERT_TRUE(conserved) << conserved.error().text();
        ASSERT_FALSE(network->stuck(Cycles{2000}));
      }
      if (cycle >= 400 && arrived == sent) break;
    }
    EXPECT_EQ(arrived, sent);
    EXPECT_EQ(network->events().injected_flits, network->events().ejected_flits);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TopologiesByName, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = std::string(info.param.name) + std::to_string(info.param.width);
  if (info.param.ways != std::string("fixed")) {
    name += std::string("_") + info.param.ways;
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(DrawnWays, AreThoseOfTheSeedAndSpread) {
  const auto latency = [](const char* ways, std::uint64_t seed) {
    NetworkConfig config = sized("fattree", 4, 4);
    config.own<GraphConfig>().radix = 2;
    config.own<GraphConfig>().ways = ways;
    const auto network = made(config);
    RunConfig run_config;
    run_config.traffic.rate = 0.5;
    run_config.traffic.stream = Stream::native;
    run_config.traffic.seed = seed;
    run_config.cycles = Cycles{2000};
    const auto result = run(*network, run_config);
    EXPECT_TRUE(result) << result.error().text();
    return result ? result->avg_packet_latency : 0;
  };
  const double drawn = latency("booksim", 1);
  EXPECT_EQ(latency("booksim", 1), drawn);
  EXPECT_NE(latency("booksim", 2), drawn);
  EXPECT_NE(latency("fixed", 1), drawn);
  EXPECT_NE(latency("booksim-adaptive", 1), drawn);
}

// Routers that packets pass on 4 x 3 routers, in the mean over all that a packet may draw. It ends
// at its destination's router, also where the x-first way to the drawn one passes it.
double mean_routers_of_valiant() {
  const auto links = [](int from, int to) {
    return (from % 4 != to % 4 ? 1 : 0) + (from / 4 != to / 4 ? 1 : 0);
  };
  int sum = 0;
  for (int from = 0; from < 12; ++from) {
    for (int to = 0; to < 12; ++to) {
      for (int via = 0; via < 12; ++via) {
        const int corner = from / 4 * 4 + via % 4;
        const bool ends_early = from == to || corner == to;
        sum += 1 + (ends_early ? links(from, to) : links(from, via) + links(via, to));
      }
    }
  }
  return sum / 1728.0;
}

TEST(DrawnWays, DetoursPassMoreRouters) {
  const auto hops = [](const char* ways) {
    NetworkConfig config = sized("flatfly", 4, 3, 2);
    EXPECT_TRUE(set_key(config, "ways", ways));
    const auto network = made(config);
    RunConfig run_config;
    run_config.traffic.rate = 0.1;
    run_config.cycles = Cycles{4000};
    const auto result = run(*network, run_config);
    EXPECT_TRUE(result) << result.error().text();
    EXPECT_TRUE(network->check_conservation());
    return result ? result->avg_hops : 0;
  };
  EXPECT_NEAR(hops("fixed"), 1 + 3.0 / 4 + 2.0 / 3, 0.03);
  EXPECT_NEAR(hops("booksim-valiant"), mean_routers_of_valiant(), 0.03);
}

TEST(DrawnWays, AreThoseThatATopologyHas) {
  for (const auto& [network, ways] :
       {std::pair{"torus", "booksim-adaptive"}, std::pair{"dragonfly", "booksim-valiant"},
        std::pair{"fattree", "booksim-valiant"}, std::pair{"flatfly", "ugal"},
        std::pair{"crossbar", "booksim"}}) {
    NetworkConfig config = sized(network, 4, 4);
    config.own<GraphConfig>().ways = ways;
    const auto refused = make_network(config);
    ASSERT_FALSE(refused) << network;
    EXPECT_EQ(refused.error().context, "ways") << refused.error().text();
  }
}

// BookSim's detours use the links of a group with one layer where they begin and where they end.
TEST(DrawnWays, DetoursOfADragonflyAreRefusedUnlessTheyCannotLock) {
  NetworkConfig config = sized("dragonfly", 4, 9, 2);
  config.own<GraphConfig>().ways = "booksim-ugal";
  const auto refused = make_network(config);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, "routing");
  EXPECT_THAT(refused.error().message, HasSubstr(" -> "));
  EXPECT_THAT(refused.error().message, HasSubstr("ways = ugal"));
  config.own<GraphConfig>().deadlock = "watch";
  EXPECT_TRUE(make_network(config));
  config.own<GraphConfig>().deadlock = "refuse";
  config.own<GraphConfig>().ways = "ugal";
  EXPECT_TRUE(make_network(config));
}

// A router with the link to the other group sends its packets for that group over it. As that link
// is busier than the others, some go by way of another group, whatever the layers.
TEST(DrawnWays, DetoursOfADragonflyPassMoreRouters) {
  const auto hops = [](const char* ways) {
    NetworkConfig config = sized("dragonfly", 4, 9, 2);
    config.own<GraphConfig>().ways = ways;
    config.own<GraphConfig>().global_delay = 100;
    config.own<VcRouterConfig>().vc_buffer = 128;
    const auto network = made(config);
    RunConfig run_config;
    run_config.traffic.rate = 0.3;
    run_config.cycles = Cycles{3000};
    const auto result = run(*network, run_config);
    EXPECT_TRUE(result) << result.error().text();
    EXPECT_EQ(result ? result->undelivered : 1, 0u);
    EXPECT_TRUE(network->check_conservation());
    return result ? result->avg_hops : 0;
  };
  EXPECT_GT(hops("ugal"), hops("fixed") + 0.2);
}

// In 4 x 4 routers with four nodes each, those on the edges are joined over two places as well. A
// packet takes at most one link of that kind, in the row where it enters and the column where it
// leaves.
TEST(Topologies, ExpressLinksAreTakenAlongTheEdgesAlone) {
  NetworkConfig config = sized("cmesh", 4, 4, 4);
  config.own<GraphConfig>().express_links = true;
  const auto network = made(config);
  const auto routers_passed = [](int distance, bool on_edge) {
    return on_edge && distance >= 2 ? distance - 1 : distance;
  };
  for (int from = 0; from < 64; from += 4) {
    for (int to = 0; to < 64; to += 7) {
      if (from == to) {
        continue;
      }
      const int x = std::abs(from % 8 / 2 - to % 8 / 2);
      const int y = std::abs(from / 16 - to / 16);
      const bool edge_row = from / 16 == 0 || from / 16 == 3;
      const bool edge_column = to % 8 / 2 == 0 || to % 8 / 2 == 3;
      const int routers = 1 + routers_passed(x, edge_row) + routers_passed(y, edge_column);
      const LonePacket packet =
          lone_packet(*network, static_cast<NodeId>(from), static_cast<NodeId>(to), 1);
      EXPECT_EQ(packet.hops, routers) << from << " to " << to;
      EXPECT_EQ(packet.latency, static_cast<std::uint64_t>(3 * routers + 2 * (x + y) + 3));
    }
  }
}

TEST(Topologies, ExpressLinksNeedEvenSides) {
  NetworkConfig config = sized("cmesh", 6, 3, 4);
  config.own<GraphConfig>().express_links = true;
  const auto refused = make_network(config);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().context, "height");
}

TEST(DrawnWays, AreNotEstimated) {
  NetworkConfig config = sized("torus", 4, 4);
  config.own<GraphConfig>().ways = "booksim";
  EXPECT_EQ(graph::table_flows(graph::torus(config), config.flit_bits), nullptr);
}

Topology toml(const std::string& text) {
  auto topology = graph::topology_of_toml(text, "t.toml", "file");
  EXPECT_TRUE(topology) << topology.error().text();
  return topology ? std::move(*topology) : Topology{};
}

constexpr const char* kOneWayRing = R"(routers = 4
nodes = [0, 1, 2, 3]
link = [{from = 0, to = 1, one_way = true}, {from = 1, to = 2, one_way = true},
        {from = 2, to = 3, one_way = true}, {from = 3, to = 0, one_way = true}]
)";

TEST(TopologyFile, ThatCouldLockIsRefusedWithTheCircle) {
  const auto checked = graph::check_routes(toml(kOneWayRing));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().context, "routing");
  EXPECT_THAT(checked.error().message, HasSubstr("0 -> 1 -> 2 -> 3 -> 0"));
  const auto by_up_down = graph::topology_of_toml(kOneWayRing, "t.toml", "up-down");
  ASSERT_TRUE(by_up_down);
  // Router 0 is the root: to router 3 a packet would go down to router 2 and then up again.
  EXPECT_THAT(graph::check_routes(*by_up_down).error().message, HasSubstr("no way from router 0"));
}

TEST(TopologyFile, WithoutAWayIsRefused) {
  const auto checked = graph::check_routes(toml("routers = 2\nnodes = [0, 1]\n"));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("no way from router 0 to router 1"));
}

TEST(TopologyFile, ErrorsNameFileLineAndKey) {
  const struct {
    const char* text;
    const char* message;
  } refused[] = {
      {"routers = 2\nnodes = [0, 2]\n", "t.toml:2: nodes: is not a number of 0 to 1"},
      {"routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\nto = 1\nlenght_mm = 2\n",
       "t.toml:6: lenght_mm: is not a key of this table"},
      {"routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\n", "t.toml:3: to: is missing"},
      {"routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 1\nto = 1\n", "to: is the router that"},
      {"routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\nto = 1\nclass = \"die-to-die\"\n",
       "pj_per_bit: is missing"},
      {"routers = 2\nnodes = [0, 1]\nrouting = \"random\"\n", "routing 'random' is unknown"},
      {"routers = 2\nnodes = [0]\n", "two nodes"},
      {"routers = = 2\n", "t.toml:1: "},
  };
  for (const auto& [text, message] : refused) {
    const auto topology = graph::topology_of_toml(text, "t.toml", "file");
    ASSERT_FALSE(topology) << text;
    EXPECT_THAT(topology.error().text(), HasSubstr(message));
  }
}

TEST(TopologyFile, OfAnynetGivesDelaysOneWayAndLinksBothWays) {
  const auto topology = graph::topology_of_anynet(
      "router 0 node 0 node 1 router 1 7\nrouter 1 node 2 3\n", "t", "file");
  ASSERT_TRUE(topology) << topology.error().text();
  ASSERT_EQ(topology->wiring.links.size(), 2u);
  EXPECT_EQ(topology->wiring.links[0].delay, 7);
  EXPECT_EQ(topology->wiring.links[1].delay, 1);
  EXPECT_EQ(topology->wiring.terminals[2].delay, 3);
  for (const char* bad :
       {"switch 0 node 0\n", "router 0 node 0 node 1 router 2\n", "router 0 node 0 router 1 0\n",
        "router 0 node 0 router 1 9999\n", "router 0 x\n", "node 0 node 1\n", "router 0 router 0\n",
        "router 0 node 0\nrouter 1 node 0\n"}) {
    EXPECT_FALSE(graph::topology_of_anynet(bad, "t", "file")) << bad;
  }
}

// BookSim takes any weight, and files of chiplets have large ones.
TEST(TopologyFile, OfAnynetTakesLongLinks) {
  const auto latency = [](int delay) {
    const ScratchFolder folder = *ScratchFolder::create("anynet");
    const auto file = folder.path() / "t.anynet";
    std::ofstream(file) << "router 0 node 0 node 1 router 1 " << delay
                        << "\nrouter 1 node 2 node 3 router 0 " << delay << "\n";
    NetworkConfig config;
    config.network = "topology";
    config.own<GraphConfig>().topology = file.string();
    const auto network = made(config);
    return network ? lone_packet(*network, 0, 3, 1).latency : 0;
  };
  const auto near = latency(4);
  ASSERT_GT(near, 0u);
  EXPECT_EQ(latency(100), near + 96);
  EXPECT_EQ(latency(4096), near + 4092);
}

// Random graphs, connected or not, with one-way links and odd delays.
std::string random_graph(Random& random) {
  const std::uint32_t routers = 2 + random.below(9);
  std::string text = "routers = " + std::to_string(routers) + "\nnodes = [";
  const std::uint32_t nodes = 2 + random.below(12);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    text += std::to_string(random.below(routers)) + ", ";
  }
  text += "]\n";
  const std::uint32_t links = routers - 1 + random.below(2 * routers);
  for (std::uint32_t link = 0; link < links; ++link) {
    // The first ones make a tree, mostly, so that most graphs are connected.
    const bool tree = link + 1 < routers && random.below(50) != 0;
    const std::uint32_t from = tree ? link + 1 : random.below(routers);
    const std::uint32_t to = random.below(tree ? link + 1 : routers);
    if (from == to) continue;
    text += "[[link]]\nfrom = " + std::to_string(from) + "\nto = " + std::to_string(to) +
            "\ndelay = " + std::to_string(1 + random.below(4)) +
            (tree || random.below(3) != 0 ? "\n" : "\none_way = true\n");
  }
  return text;
}

TEST(RandomGraphs, DeliverEverythingOrAreRefusedWithAReason) {
  Random random(11);
  auto folder = *ScratchFolder::create("graphs");
  const auto file = folder.path() / "graph.toml";
  int delivered = 0;
  int circles = 0;
  int without_way = 0;
  for (int graph = 0; graph < 1000; ++graph) {
    {
      std::ofstream out(file);
      out << random_graph(random);
    }
    NetworkConfig config;
    config.network = "topology";
    ASSERT_TRUE(set_key(config, "topology", file.string()));
    ASSERT_TRUE(set_key(config, "routing", graph % 2 == 0 ? "minimal" : "up-down"));
    auto network = make_network(config);
    if (!network) {
      ASSERT_EQ(network.error().context, "routing") << network.error().text();
      const bool circle = network.error().message.find(" -> ") != std::string::npos;
      EXPECT_TRUE(graph % 2 == 0 || !circle) << "up-down cannot lock: " << network.error().text();
      ++(circle ? circles : without_way);
      continue;
    }
    const auto nodes = static_cast<std::uint32_t>(node_count((*network)->config()));
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    for (int cycle = 0; cycle < 5000 && (cycle < 60 || arrived < sent); ++cycle) {
      for (NodeId node = 0; node < nodes && cycle < 60; ++node) {
        const NodeId to = random.below(nodes);
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits = static_cast<std::uint16_t>(1 + random.below(9));
        packet.created = (*network)->now();
        ASSERT_TRUE((*network)->inject(packet));
        ++sent;
      }
      (*network)->tick();
      arrived += (*network)->deliveries().size();
    }
    ASSERT_EQ(arrived, sent) << "graph " << graph;
    ASSERT_TRUE((*network)->check_conservation());
    ++delivered;
  }
  EXPECT_GT(delivered, 500);
  EXPECT_GT(circles, 10);
  EXPECT_GT(without_way, 0);
}

TEST(Topologies, RefuseSizesThatTheyCannotHave) {
  NetworkConfig fly = sized("fly", 5, 1);
  EXPECT_EQ(validate(fly).error().context, "radix");
  EXPECT_EQ(validate(sized("cmesh", 2, 2, 3)).error().context, "concentration");
  EXPECT_EQ(validate(sized("crossbar", 16, 16)).error().context, "width");
  NetworkConfig torus = sized("torus", 4, 4);
  torus.own<VcRouterConfig>().vcs = 1;
  torus.own<VcRouterConfig>().vc_buffer = 16;
  EXPECT_EQ(validate(torus).error().context, "vcs");  // a dateline needs two
  NetworkConfig none;
  none.network = "topology";
  EXPECT_EQ(make_network(none).error().context, "topology");
}

}  // namespace
}  // namespace ww::sim::net
