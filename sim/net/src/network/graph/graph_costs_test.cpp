// Tests the cost of topologies' wires: by their length, their class and their number.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing/lone_packet.hpp"
#include "testing/sized_network.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"
#include "ww/sim/power/router_area.hpp"

namespace ww::sim::net {
namespace {

using test::made;
using test::sized;
using testing::HasSubstr;

TEST(TopologyFile, LinksCostWhatTheirLengthAndClassSay) {
  auto folder = *ScratchFolder::create("graphs");
  const auto file = folder.path() / "dies.toml";
  std::ofstream(file) << R"(routers = 3
nodes = [0, 1, 2]
[[link]]
from = 0
to = 1
length_mm = 2.5
[[link]]
from = 1
to = 2
class = "die-to-die"
pj_per_bit = 0.5
delay = 4
)";
  NetworkConfig config;
  config.network = "topology";
  ASSERT_TRUE(set_key(config, "topology", file.string()));
  const auto network = made(config);
  lone_packet(*network, 0, 2, 4);
  const power::NetworkEvents events = network->events();
  EXPECT_EQ(events.link_flits, 0u);
  EXPECT_EQ(events.sized_links.length_um, 5000u);  // both directions
  EXPECT_EQ(events.sized_links.flit_um, 4u * 2500u);
  EXPECT_EQ(events.sized_links.crossing_flits, 4u);
  const auto energy = power::account(events, energy_config(network->config()));
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->crossing.to<double>(), 4 * 128 * 0.5);
  // The charge is as of 4 flits over a link of 2.5 mm of the network's common length.
  power::NetworkEvents common;
  common.link_flits = 4;
  power::EnergyConfig same = energy_config(network->config());
  same.link_length = Millimetre(2.5);
  EXPECT_DOUBLE_EQ(energy->link.to<double>(), power::account(common, same)->link.to<double>());
}

TEST(TopologyFile, LinksBetweenAnL2sSidesAreWiresUntilACalibrationSaysWhatCrossingCosts) {
  auto folder = *ScratchFolder::create("graphs");
  const auto file = folder.path() / "sides.toml";
  const auto write = [&](const std::string& more) {
    std::ofstream(file) << "routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\nto = 1\n"
                        << "class = \"l2-crossing\"\n"
                        << more;
  };
  write("");
  NetworkConfig config;
  config.network = "topology";
  ASSERT_TRUE(set_key(config, "topology", file.string()));
  const auto network = made(config);
  lone_packet(*network, 0, 1, 4);
  const power::NetworkEvents events = network->events();
  EXPECT_EQ(events.l2_crossing_wires.wire_milli_pitches, 2u * 128 * 1000);
  EXPECT_EQ(events.l2_crossing_wires.flit_milli_pitches, 4u * 1000);
  EXPECT_EQ(events.sized_links.l2_crossings, 2u);
  EXPECT_EQ(events.sized_links.l2_crossing_flits, 4u);
  power::EnergyConfig energy = energy_config(network->config());
  const auto as_wires = power::account(events, energy);
  EXPECT_GT(as_wires->link.to<double>(), 0);
  EXPECT_EQ(as_wires->crossing.to<double>(), 0);
  energy.crossing = power::CrossingEnergy{{2, 1, 3}, Interval{1, 0, 2}, "a card", true};
  const auto charged = power::account(events, energy);
  EXPECT_EQ(charged->link.to<double>(), 0);
  EXPECT_EQ(charged->link_leakage.to<double>(), 0);
  EXPECT_DOUBLE_EQ(charged->crossing.to<double>(), 4 * 128 * 2.0);
  ASSERT_TRUE(charged->l2_crossing);
  EXPECT_DOUBLE_EQ(charged->l2_crossing->pj.high, 4 * 128 * 3.0);
  EXPECT_TRUE(charged->l2_crossing->is_virtual);
  // A part of the window's events, too.
  EXPECT_EQ((events - power::NetworkEvents{}).sized_links.l2_crossing_flits, 4u);

  write("length_mm = 3.0\n");
  EXPECT_NE(validate(config).error().text().find("is for wires"), std::string::npos);
}

// A narrow link has fewer wires to leak, whatever its class.
TEST(TopologyFile, ALinkLeaksByTheNumberOfItsWires) {
  auto folder = *ScratchFolder::create("graphs");
  const auto file = folder.path() / "narrow.toml";
  for (const char* kind : {"wire", "l2-crossing"}) {
    std::vector<double> leakage;
    for (const int width : {128, 16}) {
      std::ofstream(file) << "routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\nto = 1\nclass = \""
                          << kind << "\"\nwidth = " << width << "\n";
      NetworkConfig config;
      config.network = "topology";
      ASSERT_TRUE(set_key(config, "topology", file.string()));
      const auto network = made(config);
      power::NetworkEvents events = network->events();
      events.cycles = 1000;
      const power::EnergyConfig energy = energy_config(network->config());
      leakage.push_back(power::account(events, energy)->link_leakage.to<double>());
      EXPECT_NEAR(power::network_area(events, energy)->link_mm, 2 * width / 128.0, 1e-9) << kind;
    }
    EXPECT_GT(leakage[0], 0) << kind;
    EXPECT_NEAR(leakage[1] / leakage[0], 16.0 / 128, 1e-9) << kind;
  }
}

// Node 0 and node 15 of 4 x 4 routers in 2 x 2 dies: one die on, and then one die up.
TEST(ChipletMesh, ChargesHopsAsACalibrationOfDiesSays) {
  NetworkConfig config;
  config.network = "chiplet-mesh";
  config.width = config.height = 4;
  ASSERT_TRUE(set_key(config, "die_to_die_pj_per_bit", "0.25"));
  const auto network = made(config);
  lone_packet(*network, 0, 15, 3);
  lone_packet(*network, 0, 3, 2);
  const power::NetworkEvents events = network->events();
  EXPECT_EQ(events.row_hops.links, 8u);
  EXPECT_EQ(events.column_hops.links, 8u);
  EXPECT_EQ(events.row_hops.flits, 5u);
  EXPECT_EQ(events.column_hops.flits, 3u);
  EXPECT_EQ(events.sized_links.crossing_flits, 8u);

  power::EnergyConfig energy = energy_config(network->config());
  EXPECT_DOUBLE_EQ(power::account(events, energy)->crossing.to<double>(), 8 * 128 * 0.25);
  energy.die_hops = power::DieHopEnergy{{0.6, 0.5, 0.7}, {0.8, 0.7, 0.9}, "a package", true};
  const auto charged = power::account(events, energy);
  EXPECT_DOUBLE_EQ(charged->crossing.to<double>(), 128 * (5 * 0.6 + 3 * 0.8));
  ASSERT_TRUE(charged->die_hops);
  EXPECT_DOUBLE_EQ(charged->die_hops->row.pj.low, 128 * 5 * 0.5);
  EXPECT_DOUBLE_EQ(charged->die_hops->column.pj.high, 128 * 3 * 0.9);
  EXPECT_TRUE(charged->die_hops->row.is_virtual);

  // The calibration was of random bits; what others draw lies between theirs and in proportion.
  energy.toggle_rate = 0.1;
  const auto calm = power::account(events, energy);
  EXPECT_DOUBLE_EQ(calm->die_hops->row.pj.value, 128 * 5 * 0.6);
  EXPECT_DOUBLE_EQ(calm->die_hops->row.pj.low, 128 * 5 * 0.5 * 0.2);
  EXPECT_DOUBLE_EQ(calm->die_hops->row.pj.high, 128 * 5 * 0.7);

  // Two such networks side by side, and a window of one.
  power::NetworkEvents both = events;
  both += events;
  EXPECT_EQ(both.row_hops.links, 16u);
  EXPECT_EQ(both.column_hops.flits, 6u);
  const power::NetworkEvents window = events - events;
  EXPECT_EQ(window.row_hops.links, 8u);
  EXPECT_EQ(window.row_hops.flits, 0u);
}

TEST(ChipletMesh, CountsTheTogglesOfHops) {
  NetworkConfig config;
  config.network = "chiplet-mesh";
  config.width = config.height = 4;
  config.count_toggles = true;
  const auto network = made(config);
  std::vector<std::byte> payload(2 * 128 / 8);
  std::fill_n(payload.begin(), payload.size() / 2, std::byte{0xff});
  constexpr NodeId kTo = 15;
  Packet packet;
  packet.destinations = {&kTo, 1};
  packet.flits = 3;
  packet.payload = payload;
  ASSERT_TRUE(network->inject(packet));
  while (network->next_event()) network->tick();
  const power::NetworkEvents events = network->events();
  std::uint64_t from_1_to_2 = 0;
  std::uint64_t from_7_to_11 = 0;
  for (const LinkUse& use : network->link_use()) {
    if (use.from_router == 1 && use.to_router == 2) from_1_to_2 = use.toggles;
    if (use.from_router == 7 && use.to_router == 11) from_7_to_11 = use.toggles;
  }
  EXPECT_GE(from_1_to_2, 128u);  // all ones, and then all zeros
  EXPECT_EQ(events.row_hops.toggles, from_1_to_2);
  EXPECT_EQ(events.column_hops.toggles, from_7_to_11);
  power::EnergyConfig energy = energy_config(network->config());
  energy.die_hops = power::DieHopEnergy{{0.6, 0.5, 0.7}, {0.8, 0.7, 0.9}, "a package", true};
  EXPECT_DOUBLE_EQ(power::account(events, energy)->die_hops->row.toggle_rate,
                   static_cast<double>(events.row_hops.toggles) / (3 * 128));
}

// Names the way of a lone packet, in distances between neighbouring nodes.
struct Way {
  const char* name;
  int width;
  int height;
  int concentration;
  NodeId from;
  NodeId to;
  double pitches;
  const char* key = nullptr;  // set to "true"
};

const Way kWays[] = {
    {"mesh", 8, 8, 1, 0, 63, 14},
    {"flatfly", 8, 8, 1, 0, 63, 14},
    {"flatfly", 4, 4, 4, 0, 63, 12},
    {"flatfly", 4, 4, 2, 0, 31, 9},  // two nodes in a row: tiles of 2 x 1
    {"cmesh", 4, 4, 4, 0, 63, 12},
    {"cmesh", 4, 4, 4, 0, 4, 4, "express_links"},
    {"torus", 8, 8, 1, 0, 9, 4},
    {"torus", 8, 8, 1, 0, 63, 4},
    {"ring", 4, 4, 1, 0, 1, 1},
    {"ring", 8, 1, 1, 0, 1, 2},
    {"dragonfly", 4, 5, 1, 0, 5, 2},
    {"dragonfly", 4, 5, 1, 0, 19, 13},  // 3 to the link up, 3 + 4 along it, 3 from there
    {"dragonfly", 4, 5, 2, 0, 10, 3},
    {"fly", 8, 8, 1, 0, 63, 11},
    {"fly", 8, 8, 1, 0, 1, 0},  // through routers that lie together
    {"fattree", 8, 8, 1, 0, 63, 11},
    {"chiplet-mesh", 4, 4, 1, 0, 15, 4},  // and two links between dies
    {"crossbar", 8, 8, 1, 0, 63, 14},
    {"crossbar", 8, 8, 1, 0, 27, 8},
    {"crossbar", 4, 4, 4, 0, 63, 14},
    {"crossbar-hierarchical", 4, 4, 1, 0, 15, 6},
    {"crossbar-hierarchical", 4, 4, 1, 0, 3, 3},
    {"crossbar-partitioned", 4, 4, 1, 0, 15, 6},
};

TEST(Topologies, WiresAreAsLongAsTheirGeometrySays) {
  for (const Way& way : kWays) {
    constexpr int kFlits = 5;
    NetworkConfig config = sized(way.name, way.width, way.height, way.concentration);
    if (way.key != nullptr) {
      ASSERT_TRUE(set_key(config, way.key, "true"));
    }
    const auto network = made(config);
    lone_packet(*network, way.from, way.to, kFlits);
    const power::NetworkEvents events = network->events();
    const auto label = [&] { return fmt::format("{} {} to {}", way.name, way.from, way.to); };
    EXPECT_EQ(
        static_cast<double>(1000 * events.link_flits + events.pitched_wires.flit_milli_pitches +
                            events.l2_crossing_wires.flit_milli_pitches),
        1000 * kFlits * way.pitches)
        << label();
    // A mesh's link energy for the same distance.
    power::NetworkEvents common;
    common.link_flits = kFlits;
    power::EnergyConfig energy = energy_config(network->config());
    energy.link_length = Millimetre(2);
    const double link = power::account(common, energy)->link.to<double>();
    EXPECT_NEAR(power::account(events, energy)->link.to<double>(), way.pitches * link,
                1e-9 * (1 + way.pitches * link))
        << label();
  }
}

// The wires of a whole network leak and take room, whether a flit crosses them or not.
TEST(Topologies, CountEveryWireByItsLength) {
  struct Whole {
    const char* name;
    double pitches;  // of all directed links and wires to nodes, 8 x 8 nodes
  };
  for (const Whole& one : {Whole{"mesh", 224}, Whole{"torus", 2 * 256}, Whole{"ring", 128},
                           Whole{"flatfly", 2688}, Whole{"crossbar", 2 * 256}}) {
    const auto network = made(sized(one.name, 8, 8));
    const power::NetworkEvents events = network->events();
    power::EnergyConfig energy = energy_config(network->config());
    energy.link_length = Millimetre(0.5);
    const auto area = power::network_area(events, energy);
    ASSERT_TRUE(area);
    EXPECT_NEAR(area->link_mm, 0.5 * one.pitches, 1e-6) << one.name;
    power::NetworkEvents leaking = events;
    leaking.cycles = 1000;
    power::NetworkEvents links;
    links.cycles = 1000;
    links.links = 1;
    EXPECT_NEAR(power::account(leaking, energy)->link_leakage.to<double>(),
                one.pitches * power::account(links, energy)->link_leakage.to<double>(), 1e-6)
        << one.name;
    // Two planes have twice the wires; a window of time has those of the network.
    power::NetworkEvents both = events;
    both += events;
    EXPECT_NEAR(power::network_area(both, energy)->link_mm, one.pitches, 1e-6) << one.name;
    EXPECT_NEAR(power::network_area(events - events, energy)->link_mm, 0.5 * one.pitches, 1e-6)
        << one.name;
  }
}

// Transitions count with the length of the wires on which they happen.
TEST(Topologies, CountTransitionsByTheLengthOfTheirWires) {
  for (const auto& [name, pitches] : {std::pair("flatfly", 3), {"crossbar", 2 * 3}}) {
    NetworkConfig config = sized(name, 4, 4);
    config.count_toggles = true;
    const auto network = made(config);
    std::vector<std::byte> payload(3 * 128 / 8, std::byte{0});
    std::fill_n(payload.begin() + 128 / 8, 128 / 8, std::byte{0xff});
    constexpr NodeId kFrom = 12;
    constexpr NodeId kTo = 15;
    Packet packet;
    packet.source = kFrom;
    packet.destinations = {&kTo, 1};
    packet.flits = 3;
    packet.payload = payload;
    ASSERT_TRUE(network->inject(packet));
    while (network->next_event()) network->tick();
    // All wires toggle from zeros to ones and back.
    EXPECT_EQ(network->events().pitched_wires.toggle_milli_pitches, 1000u * 2 * 128 * pitches)
        << name;
  }
}

}  // namespace
}  // namespace ww::sim::net
