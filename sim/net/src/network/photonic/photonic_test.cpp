// Crossbars of light: zero-load latency from lengths and delays, token protocol, rated bandwidth,
// laser control, and nonsense refused by name.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "network/photonic/layout.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/memory_link.hpp"
#include "ww/sim/net/photonic_config.hpp"
#include "ww/sim/net/run.hpp"

namespace ww::sim::net {
namespace {

NetworkConfig gpuopt(const std::string& name = "gpuopt") {
  NetworkConfig config;
  config.network = name;
  config.flit_bits = 256;
  return config;
}

std::unique_ptr<Network> make(const NetworkConfig& config) {
  auto network = make_network(config);
  EXPECT_TRUE(network.has_value()) << network.error().text();
  return network ? std::move(*network) : nullptr;
}

void send(Network& network, NodeId from, std::vector<NodeId> to, int flits, std::uint64_t tag = 0) {
  Packet packet;
  packet.source = from;
  packet.destinations = to;
  packet.flits = static_cast<std::uint16_t>(flits);
  packet.tag = tag;
  packet.created = network.now();
  const Status sent = network.inject(packet);
  ASSERT_TRUE(sent.has_value()) << sent.error().text();
}

// Ticks until `count` packets have arrived; their arrival by tag.
std::map<std::uint64_t, std::uint64_t> arrivals(Network& network, std::size_t count,
                                                int patience = 100000) {
  std::map<std::uint64_t, std::uint64_t> all;
  for (int cycle = 0; cycle < patience && all.size() < count; ++cycle) {
    network.tick();
    for (const Delivery& delivery : network.deliveries()) {
      all[delivery.tag] = delivery.arrived.value();
    }
  }
  EXPECT_EQ(all.size(), count);
  return all;
}

// The optical cycle, at or after `from`, in which a token that was at position 0 in cycle `start`
// passes a position: once a turn.
std::int64_t passing(const photonic::Layout& layout, int position, std::int64_t start,
                     std::int64_t from) {
  std::int64_t at = start + layout.slot(position);
  while (at < from) at += layout.loop_cycles();
  return at;
}

// Sums the steps: the cluster's wire; the power token that passes first; the reader's data token,
// which starts from the reader and is looked for from the next cycle on; the grab; the bits; the
// flight; the wire on the other side.
std::uint64_t zero_load(const NetworkConfig& config, int from_router, int to_router, int flits,
                        std::uint64_t created) {
  const photonic::Layout layout(config);
  const PhotonicConfig& keys = config.own<PhotonicConfig>();
  const int from = layout.position_of_router(from_router);
  const int to = layout.position_of_router(to_router);
  const auto optical = [&](std::uint64_t core) {
    return static_cast<std::int64_t>(core) * keys.optical_mhz / keys.core_mhz;
  };
  const int loop = layout.loop_cycles();
  const std::int64_t begin = optical(created + static_cast<std::uint64_t>(keys.cluster_delay));
  std::int64_t power = begin + loop;
  for (int token = 0; token < keys.power_units; ++token) {
    power = std::min(power, passing(layout, from, token * loop / keys.power_units, begin));
  }
  const bool broadcast = !layout.is_llc(from) && !layout.is_llc(to);
  const int wavelengths = broadcast ? keys.c_wavelengths : keys.nc_wavelengths;
  const std::int64_t bits =
      (std::int64_t{flits} * config.flit_bits + 2 * wavelengths - 1) / (2 * wavelengths);
  const std::int64_t first_bit =
      broadcast ? power + keys.grab_cycles + keys.reservation_cycles
                : passing(layout, from, -layout.slot(to), power + 1) + keys.grab_cycles;
  const std::int64_t arrived = first_bit + bits + layout.flight(from, to);
  std::uint64_t core = 0;
  while (optical(core + 1) <= arrived) ++core;
  return core + static_cast<std::uint64_t>(keys.cluster_delay);
}

TEST(Layout, FollowsFromTheDieAndTheDelayOfAWaveguide) {
  const photonic::Layout layout(gpuopt());
  EXPECT_NEAR(layout.pitch_mm(), 6.1237, 1e-4);  // sqrt(600 / 16)
  EXPECT_NEAR(layout.pass_mm(), 91.856, 1e-3);   // the notes' 9.19 cm
  EXPECT_EQ(layout.loop_cycles(), 7);            // 18 pitches x 11 ps/mm = 1212.5 ps of 200
  EXPECT_EQ(layout.flight(0, 1), 1);             // 67.4 ps
  EXPECT_EQ(layout.flight(0, 15), 6);            // 1010.4 ps
  EXPECT_EQ(layout.flight(15, 0), 2);            // three pitches: 202.1 ps
  EXPECT_EQ(layout.router_at(4), 7);             // the second row comes back
}

TEST(Photonic, ZeroLoadLatencyIsItsLengthsAndDelays) {
  for (const int flits : {1, 5}) {
    for (int from = 0; from < 16; ++from) {
      for (int to = 0; to < 16; ++to) {
        if (from == to) continue;
        const auto network = make(gpuopt());
        const std::uint64_t created = static_cast<std::uint64_t>(3 * from + to);
        network->skip_to(Cycles{created});
        send(*network, static_cast<NodeId>(from), {static_cast<NodeId>(to)}, flits);
        EXPECT_EQ(arrivals(*network, 1)[0], zero_load(gpuopt(), from, to, flits, created))
            << from << " to " << to;
      }
    }
  }
}

TEST(Photonic, StaysElectricalWithinACluster) {
  NetworkConfig config = gpuopt();
  config.concentration = 8;
  const auto network = make(config);
  send(*network, 0, {7}, 5);
  EXPECT_EQ(arrivals(*network, 1)[0], 2u);
  EXPECT_EQ(network->events().photonic.modulated_bits, 0u);
}

// Sends from everywhere to one station, as much as its link carries and more.
TEST(Photonic, AnMwsrLinkSaturatesAtItsRatedBytes) {
  NetworkConfig config = gpuopt();
  config.own<PhotonicConfig>().hold_messages = 16;
  const auto network = make(config);
  const photonic::Layout layout(config);
  const NodeId reader = 0;
  std::uint64_t flits = 0;
  constexpr int kCycles = 20000;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    for (NodeId node = 0; node < 16; ++node) {
      // LLC stations: SM to SM would go over the C_network.
      if (layout.is_llc(layout.position_of_router(static_cast<int>(node))) &&
          network->source_queue(node, 0) < 32) {
        send(*network, node, {reader}, 5);
      }
    }
    network->tick();
    for (const Delivery& delivery : network->deliveries()) flits += delivery.flits;
  }
  const double optical_cycles = kCycles * 5000.0 / 1400;
  const double bytes_per_cycle = static_cast<double>(flits) * 32 / optical_cycles;
  // 128 wavelengths at both edges: 32 B. A round of the token serves 8 writers with 16 messages of
  // 5 cycles each, and loses a turn and eight grabs.
  const double rated = 32.0;
  const double expected = rated * (8 * 16 * 5) / (8 * 16 * 5 + 7 + 8 * 1);
  EXPECT_LE(bytes_per_cycle, rated);
  EXPECT_NEAR(bytes_per_cycle, expected, 0.01 * rated);
}

TEST(Photonic, ABroadcastIsSentOnceAndReadByAll) {
  const auto network = make(gpuopt());
  const photonic::Layout layout(gpuopt());
  std::vector<NodeId> others;
  for (int position = 2; position < 16; position += 2) {
    others.push_back(static_cast<NodeId>(layout.router_at(position)));
  }
  send(*network, 0, others, 1);
  std::size_t got = 0;
  for (int cycle = 0; cycle < 50; ++cycle) {
    network->tick();
    got += network->deliveries().size();
  }
  EXPECT_EQ(got, others.size());
  const auto light = network->events().photonic;
  EXPECT_EQ(light.messages, 1u);
  EXPECT_EQ(light.c_messages, 1u);
  EXPECT_EQ(light.modulated_bits, 256u);
  EXPECT_EQ(light.detected_bits, 256u * others.size());
}

// Two writers that never stop share a link in turns; a third that comes late waits for two holds at
// most, once it listens without pauses.
TEST(Tokens, NobodyStarves) {
  NetworkConfig config = gpuopt();
  config.own<PhotonicConfig>().backoff_doublings = 0;
  config.own<PhotonicConfig>().hold_messages = 4;
  const auto network = make(config);
  std::map<NodeId, int> got;
  const std::vector<NodeId> writers{1, 3, 4, 6};  // LLC stations
  std::uint64_t worst = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    for (const NodeId node : writers) {
      if (network->source_queue(node, 0) < 8) send(*network, node, {0}, 5);
    }
    if (cycle % 200 == 0) send(*network, 9, {0}, 1, 1);  // a light one among them
    network->tick();
    for (const Delivery& delivery : network->deliveries()) {
      ++got[delivery.source];
      if (delivery.tag == 1) {
        worst = std::max(worst, delivery.arrived.value() - delivery.created.value());
      }
    }
  }
  // Four holds of 4 messages of 5 cycles, a grab each, two turns, flight and wires, in core cycles.
  const double bound = ((4 * (4 * 5 + 1)) + 2 * 7 + 1 + 7) * 1400.0 / 5000 + 4;
  EXPECT_LE(static_cast<double>(worst), bound);
  for (const NodeId node : writers) {
    EXPECT_NEAR(got[node], got[1], 0.02 * got[1]) << "writer " << node;
  }
}

TEST(Tokens, AStationGrabsNoMoreThanItMay) {
  for (const int grab : {1, 2, 8}) {
    NetworkConfig config = gpuopt();
    config.own<PhotonicConfig>().max_grab = grab;
    const auto network = make(config);
    // Long messages from one station to eight others: as many at a time as it may hold tokens.
    for (NodeId to = 0; to < 16; ++to) {
      if (to != 1) send(*network, 1, {to}, 50, to);
    }
    const auto at = arrivals(*network, 15);
    std::uint64_t last = 0;
    for (const auto& [tag, cycle] : at) last = std::max(last, cycle);
    const double rounds = std::ceil(15.0 / grab);
    EXPECT_GE(static_cast<double>(last), rounds * 50 * 1400 / 5000);
    EXPECT_LE(static_cast<double>(last), rounds * (50 + 3 * 7 + 2) * 1400 / 5000 + 12);
  }
}

TEST(Tokens, PausesDoubleUntilAStationListensForGood) {
  NetworkConfig config = gpuopt();
  config.own<PhotonicConfig>().hold_messages = 1;
  config.own<PhotonicConfig>().backoff_doublings = 3;
  const auto network = make(config);
  send(*network, 1, {0}, 2000, 1);  // holds the link for 2000 optical cycles
  for (int cycle = 0; cycle < 10; ++cycle) network->tick();
  send(*network, 3, {0}, 1, 2);
  const auto at = arrivals(*network, 2);
  // Three attempts fail, the fourth waits for its token.
  EXPECT_EQ(network->events().photonic.failed_attempts, 3u);
  EXPECT_GT(at.at(2), at.at(1) - 7);
}

// Two long messages of a station to one reader: one is sent, the other waits for the link; a third
// station could use the light that the second holds meanwhile, where power comes first.
TEST(Tokens, WhoTakesTheLinkFirstHoldsNoPowerWhileItWaits) {
  const auto held = [](const char* order) {
    NetworkConfig config = gpuopt();
    config.own<PhotonicConfig>().token_order = order;
    config.own<PhotonicConfig>().backoff_doublings = 0;
    const auto network = make(config);
    send(*network, 1, {0}, 1000, 1);
    for (int cycle = 0; cycle < 10; ++cycle) network->tick();
    send(*network, 3, {0}, 1000, 2);
    EXPECT_EQ(arrivals(*network, 2).size(), 2u);
    EXPECT_TRUE(network->check_conservation().has_value());
    return network->events().photonic.held_unit_optical_cycles;
  };
  // 1000 flits of 32 B take as many optical cycles.
  EXPECT_NEAR(static_cast<double>(held("data")), 2000, 2 * (7 + 2));
  EXPECT_NEAR(static_cast<double>(held("power")), 3000, 60);
}

// Under load nothing is lost, twice taken or forgotten, whichever token comes first.
TEST(Tokens, AreConservedInEitherOrder) {
  for (const char* order : {"power", "data"}) {
    NetworkConfig config = gpuopt("ps-gpuopt");
    config.own<PhotonicConfig>().token_order = order;
    config.own<PhotonicConfig>().power_units = 5;
    const auto network = make(config);
    std::uint64_t sent = 0;
    std::uint64_t got = 0;
    for (int cycle = 0; cycle < 8000 && got < sent + 1; ++cycle) {
      if (cycle < 4000) {
        for (NodeId node = 0; node < 16; ++node) {
          const auto to = static_cast<NodeId>((node + 1 + cycle % 15) % 16);
          if (network->source_queue(node, 0) < 4) {
            send(*network, node, {to}, 3);
            ++sent;
          }
        }
      }
      network->tick();
      got += network->deliveries().size();
      if (cycle % 97 == 0) {
        const Status kept = network->check_conservation();
        ASSERT_TRUE(kept.has_value())
            << order << ", cycle " << cycle << ": " << kept.error().text();
      }
      if (cycle >= 4000 && got == sent) break;
    }
    EXPECT_EQ(got, sent) << order;
  }
}

TEST(PsGpuopt, CountsEveryEpochOnceByWhatWasLitAndHeld) {
  const auto network = make(gpuopt("ps-gpuopt"));
  for (int cycle = 0; cycle < 20000; ++cycle) {
    if (cycle < 10000 && network->source_queue(1, 0) < 4) send(*network, 1, {0}, 5);
    network->tick();
  }
  const auto light = network->events().photonic;
  const auto sum = [](const auto& bins) {
    std::uint64_t all = 0;
    for (const std::uint64_t count : bins) all += count;
    return all;
  };
  EXPECT_EQ(light.epochs, 19u);
  EXPECT_EQ(sum(light.epochs_by_lit), 19u);
  EXPECT_EQ(sum(light.epochs_by_held), 19u);
  // One station sent to one reader in the first half: a unit; then nothing.
  EXPECT_NEAR(static_cast<double>(light.epochs_by_held[1]), 10, 1);
  EXPECT_NEAR(static_cast<double>(light.epochs_by_held[0]), 9, 1);
  EXPECT_EQ(light.epochs_by_lit[14], 1u);  // the first, before anything was predicted
}

// The paper leaves open what P and W are; each reading lights what it says.
TEST(PsGpuopt, ReadsPAndWAsAsked) {
  const auto lit = [](auto change) {
    NetworkConfig config = gpuopt("ps-gpuopt");
    change(config.own<PhotonicConfig>());
    const auto network = make(config);
    for (int cycle = 0; cycle < 30000; ++cycle) {
      for (const NodeId node : {1u, 3u, 4u, 6u}) {  // four LLC stations, a little each
        if (cycle % 40 == 0) send(*network, node, {0}, 5);
      }
      network->tick();
    }
    return network->events().photonic.mean_lit_units();
  };
  const double as_lit = lit([](auto& keys) {
    keys.wt = 1;
    keys.table_counts = "lit";
    keys.table_start = 7;
  });
  const double as_held = lit([](auto& keys) {
    keys.wt = 1;
    keys.table_start = 7;
  });
  // Four ask in every epoch: an entry that starts at 7 stays there (4 >= 7 / 2); by what is held,
  // one unit, it comes to 2. The SM station that reads asks for one more, by F3, and the first
  // epoch of thirty has 14.
  EXPECT_NEAR(as_lit, 1 + 7, 0.4);
  EXPECT_NEAR(as_held, 1 + 2, 0.6);
  const double from_none = lit([](auto& keys) {
    keys.wt = 1;
    keys.table_counts = "lit";
  });
  EXPECT_LT(from_none, as_lit);
  EXPECT_NEAR(from_none, 1 + 5, 0.6);  // up to one more than ask
}

TEST(PsGpuopt, LightsFewLasersWhereThereIsNothingToSend) {
  NetworkConfig config = gpuopt("ps-gpuopt");
  const auto guarded = make(config);
  guarded->skip_to(Cycles{100000});
  // An idle epoch leaves one unit lit (P = S = 0: P + 1), as the least entry of the paper's table
  // 4, 1.17, has it; the first of the hundred epochs has 14.
  EXPECT_NEAR(guarded->events().photonic.mean_lit_units(), 1.13, 0.01);
  EXPECT_EQ(guarded->events().photonic.epochs, 99u);
  // If P is what was lit, stations that always ask keep what they begin with.
  config.own<PhotonicConfig>().flex_literal = true;
  config.own<PhotonicConfig>().table_counts = "lit";
  config.own<PhotonicConfig>().table_start = 7;
  const auto literal = make(config);
  literal->skip_to(Cycles{100000});
  EXPECT_GT(literal->events().photonic.mean_lit_units(), 6.9);
}

TEST(PsGpuopt, SkippingIsTicking) {
  const auto skipped = make(gpuopt("ps-gpuopt"));
  const auto ticked = make(gpuopt("ps-gpuopt"));
  for (int round = 0; round < 5; ++round) {
    for (Network* network : {skipped.get(), ticked.get()}) {
      send(*network, 1, {0}, 5);
      while (network->packets_inside() > 0) network->tick();
    }
    const Cycles to = skipped->now() + Cycles{1234};
    skipped->skip_to(to);
    while (ticked->now() < to) ticked->tick();
    EXPECT_EQ(skipped->events().photonic.lit_unit_cycles,
              ticked->events().photonic.lit_unit_cycles);
    EXPECT_EQ(skipped->events().photonic.halted_cycles, ticked->events().photonic.halted_cycles);
  }
}

TEST(PsGpuopt, ALoneMessageGetsItsPower) {
  NetworkConfig config = gpuopt("ps-gpuopt");
  for (const char* waits : {"messages", "station"}) {
    config.own<PhotonicConfig>().wait_counts = waits;
    for (const NodeId from : {0u, 1u}) {  // an SM and an LLC station
      const auto network = make(config);
      network->skip_to(Cycles{50500});  // dark, or nearly
      send(*network, from, {from + 2 - 2 * (from % 2)}, 5);
      const auto at = arrivals(*network, 1);
      EXPECT_LE(at.begin()->second, 50500u + 4000u) << waits;
    }
  }
}

// Dark lasers light up when the next epochs begin. That may take longer than a run is patient with
// networks whose messages should move all the time.
TEST(PsGpuopt, MessagesThatWaitForLightAreNotStuck) {
  NetworkConfig config = gpuopt("ps-gpuopt");
  config.own<PhotonicConfig>().epoch = 100000;
  const auto network = make(config);
  RunConfig load;
  load.traffic.rate = 0.0005;
  load.cycles = Cycles{300000};
  const auto result = run(*network, load);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->undelivered, 0u);
  EXPECT_GT(result->max_packet_latency, 20000) << "nobody waited for light";
}

TEST(PsGpuopt, HaltsLessThanFourCyclesAnEpoch) {
  const auto network = make(gpuopt("ps-gpuopt"));
  network->skip_to(Cycles{10000});
  EXPECT_EQ(network->events().photonic.halted_cycles, 30u);  // of 10 000: 0.3%, table 1
}

TEST(PerfectPredictor, PaysForWhatIsHeldAlone) {
  NetworkConfig config = gpuopt("ps-gpuopt");
  config.own<PhotonicConfig>().predictor = "perfect";
  const auto network = make(config);
  send(*network, 1, {0}, 50);
  arrivals(*network, 1);
  const auto light = network->events().photonic;
  EXPECT_EQ(light.lit_unit_cycles, light.held_unit_optical_cycles * 1400 / 5000);
  EXPECT_GE(light.held_unit_optical_cycles, 50u);
  EXPECT_LE(light.held_unit_optical_cycles, 50u + 2 * 7);
}

TEST(PriorOpt, RefusesWhatItHasNoLinkFor) {
  const auto network = make(gpuopt("prior-opt"));
  Packet packet;
  const NodeId to = 2;  // SM to SM
  packet.destinations = {&to, 1};
  const Status sent = network->inject(packet);
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().context, "packet.destinations");
  EXPECT_EQ(network->packets_inside(), 0u);
}

TEST(MemoryLink, CarriesItsRatedBytesEachWay) {
  auto link = MemoryLink::create({});
  ASSERT_TRUE(link.has_value());
  EXPECT_DOUBLE_EQ(link->bytes_per_second(), 160e9);  // 320 GB/s for both: section 5.4
  EXPECT_EQ(link->flight(), 2);                       // 50 mm x 5 ps/mm = 250 ps of 200
  using Direction = MemoryLink::Direction;
  EXPECT_EQ(link->send(Direction::from_memory, 10, 128), 10 + 4 + 2);
  EXPECT_EQ(link->send(Direction::from_memory, 11, 128), 14 + 4 + 2);  // behind the first
  EXPECT_EQ(link->send(Direction::to_memory, 11, 1), 11 + 1 + 2);      // beside them
  MemoryLinkConfig dark;
  dark.wavelengths = 0;
  EXPECT_EQ(MemoryLink::create(dark).error().context, "memory_link.wavelengths");
}

void expect_refused(const NetworkConfig& config, const std::string& key) {
  const auto network = make_network(config);
  ASSERT_FALSE(network.has_value()) << key;
  EXPECT_EQ(network.error().context, key);
}

TEST(PhotonicConfig, RefusesNonsenseByName) {
  const auto with = [](auto change) {
    NetworkConfig config = gpuopt("ps-gpuopt");
    change(config);
    return config;
  };
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().power_units = 0; }),
                 "power_units");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().waveguide_wavelengths = 65; }),
                 "waveguide_wavelengths");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().nc_wavelengths = 100; }),
                 "nc_wavelengths");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().llc_stations = {16}; }),
                 "llc_stations");
  expect_refused(with([](NetworkConfig& c) {
                   c.own<PhotonicConfig>().llc_stations = {1, 1};
                 }),
                 "llc_stations");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().station_queue = 0; }),
                 "station_queue");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().predictor = "oracle"; }),
                 "predictor");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().epoch = 3; }), "laser_epoch");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().token_order = "both"; }),
                 "token_order");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().table_start = 8; }),
                 "table_start");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().table_counts = "lost"; }),
                 "table_counts");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().wait_counts = ""; }),
                 "wait_counts");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().unit_cap = 8; }), "unit_cap");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().waveguide_ps_per_mm = 1; }),
                 "waveguide_ps_per_mm");
  expect_refused(with([](NetworkConfig& c) { c.own<PhotonicConfig>().alpha = std::nan(""); }),
                 "predictor_alpha");
  expect_refused(with([](NetworkConfig& c) {
                   c.width = 9;
                   c.height = 9;
                 }),
                 "width");
  expect_refused(with([](NetworkConfig& c) {
                   c.planes = true;
                   c.classes = 2;
                 }),
                 "planes");
}

}  // namespace
}  // namespace ww::sim::net
