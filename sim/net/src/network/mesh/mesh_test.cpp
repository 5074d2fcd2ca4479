// The virtual-channel mesh against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "network/mesh/config.hpp"
#include "network/mesh/lane_mesh.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

std::unique_ptr<Network> build(const NetworkConfig& config) {
  auto network = make_network(config);
  EXPECT_TRUE(network) << network.error().text();
  return network ? std::move(*network) : nullptr;
}

NetworkConfig mesh(int k) {
  NetworkConfig config;
  config.width = config.height = k;
  return config;
}

// Sends one packet through an idle network; returns its delivery.
Delivery send_alone(Network& network, NodeId source, NodeId destination, int flits,
                    std::span<const std::byte> payload = {}) {
  Packet packet;
  packet.source = source;
  packet.destinations = {&destination, 1};
  packet.flits = static_cast<std::uint16_t>(flits);
  packet.created = network.now();
  packet.payload = payload;
  packet.tag = 17;
  EXPECT_TRUE(network.inject(packet));
  for (int cycle = 0; cycle < 2000; ++cycle) {
    network.tick();
    if (!network.deliveries().empty()) {
      return network.deliveries()[0];
    }
  }
  ADD_FAILURE() << "never arrived: " << source << " -> " << destination;
  return {};
}

int hops(const NetworkConfig& config, NodeId source, NodeId destination) {
  const int from = static_cast<int>(source) / config.concentration;
  const int to = static_cast<int>(destination) / config.concentration;
  return std::abs(from % config.width - to % config.width) +
         std::abs(from / config.width - to / config.width) + 1;
}

// Every pair, one after the other, each through an idle network.
void expect_latency(const NetworkConfig& config, int flits, int per_hop, int stall = 0) {
  const auto network = build(config);
  const auto nodes = static_cast<NodeId>(node_count(config));
  for (NodeId source = 0; source < nodes; ++source) {
    for (NodeId destination = 0; destination < nodes; ++destination) {
      const Delivery delivery = send_alone(*network, source, destination, flits);
      const int routers = hops(config, source, destination);
      ASSERT_EQ(delivery.arrived.value() - delivery.created.value(),
                static_cast<std::uint64_t>(per_hop * routers + 2 + flits - 1 + stall))
          << source << " -> " << destination << ", " << flits << " flits";
      ASSERT_EQ(delivery.hops, routers);
      ASSERT_EQ(delivery.tag, 17u);
      for (int i = 0; i < 10; ++i) {
        network->tick();  // credits come home
      }
    }
  }
  EXPECT_TRUE(network->check_conservation());
  EXPECT_FALSE(network->next_event());
}

TEST(MeshZeroLoad, IsFourCyclesAHopForEveryPairOf4x4And8x8) {
  for (const int k : {4, 8}) {
    for (const int flits : {1, 5}) {
      expect_latency(mesh(k), flits, 4);
    }
  }
}

TEST(MeshZeroLoad, AddsTheRoutingDelayPerHop) {
  for (const int delay : {1, 2, 3}) {
    NetworkConfig config = mesh(4);
    config.own<VcRouterConfig>().routing_delay = delay;
    expect_latency(config, 1, 4 + delay);
    expect_latency(config, 5, 4 + delay);
  }
}

TEST(MeshZeroLoad, SpeculationSavesACyclePerHop) {
  NetworkConfig config = mesh(4);
  config.own<VcRouterConfig>().speculative = true;
  expect_latency(config, 1, 3);
  expect_latency(config, 5, 3);
  config.own<VcRouterConfig>().routing_delay = 1;
  expect_latency(config, 4, 4);
}

TEST(MeshZeroLoad, OtherDelaysAddUp) {
  NetworkConfig config = mesh(3);
  config.own<VcRouterConfig>().vc_alloc_delay = 2;
  expect_latency(config, 1, 5);
  config = mesh(3);
  config.own<VcRouterConfig>().st_delay = 2;
  expect_latency(config, 1, 5);
  config = mesh(3);
  config.own<VcRouterConfig>().sw_alloc_delay = 3;
  expect_latency(config, 1, 6);
  config = mesh(2);
  config.link_delay = 3;  // between routers only: terminals stay at one cycle
  const auto network = build(config);
  EXPECT_EQ(send_alone(*network, 0, 3, 1).arrived.value(), 3u * 4 + 2 + 2 * 2);
}

TEST(MeshZeroLoad, BuffersShorterThanTheCreditLoopStallTheFifthFlit) {
  NetworkConfig config = mesh(4);
  config.own<VcRouterConfig>().vc_buffer = 4;
  EXPECT_EQ(credit_loop(config.own<VcRouterConfig>(), config.link_delay), 6);
  expect_latency(config, 4, 4);
  expect_latency(config, 5, 4, 6 - 4);
  // Four flits per loop of six cycles: two more cycles for each further four.
  expect_latency(config, 9, 4, 2 * (6 - 4));
}

TEST(MeshZeroLoad, HoldsForRectanglesConcentrationAndManyVcs) {
  NetworkConfig config;
  config.width = 5;
  config.height = 2;
  expect_latency(config, 3, 4);
  config.concentration = 3;
  expect_latency(config, 1, 4);
  config = mesh(3);
  config.own<VcRouterConfig>().vcs = 16;  // more input VCs than a 64-bit mask holds
  expect_latency(config, 2, 4);
  config = mesh(1);
  config.height = 7;
  expect_latency(config, 2, 4);
}

TEST(MeshZeroLoad, HoldsForTheOtherAllocatorAndForWaitingForTails) {
  NetworkConfig config = mesh(4);
  config.own<VcRouterConfig>().vc_allocator = config.own<VcRouterConfig>().sw_allocator =
      Allocator::separable_input_first;
  expect_latency(config, 5, 4);
  config = mesh(4);
  config.own<VcRouterConfig>().wait_for_tail_credit = true;
  expect_latency(config, 5, 4);
}

TEST(MeshZeroLoad, HoldsForThePapersRouters) {
  expect_latency(dapper_baseline(), 1, 5);  // four stages and the link
  expect_latency(gpuopt_emesh(), 1, 3);     // two cycles and the link
}

TEST(MeshZeroLoad, IsTheIdealNetworksLatency) {
  NetworkConfig config = mesh(4);
  config.network = "ideal";
  expect_latency(config, 1, 4);
  expect_latency(config, 5, 4);
}

TEST(Mesh, UniformTrafficTravelsTheClosedFormsHops) {
  for (const int k : {4, 8}) {
    auto network = build(mesh(k));
    RunConfig config;
    config.traffic.rate = 0.1;
    const auto result = run(*network, config);
    ASSERT_TRUE(result) << result.error().text();
    // Mean distance along an axis of k nodes, the sender included: (k - 1/k) / 3.
    const double expected = 2 * (k - 1.0 / k) / 3 + 1;
    EXPECT_NEAR(result->avg_hops, expected, 0.02 * expected);
    EXPECT_TRUE(result->stable);
  }
}

TEST(Mesh, NeverAcceptsMoreThanTheBisectionCarries) {
  // Uniform traffic: half of it crosses the middle, 2k links of one flit a cycle (k each way).
  for (const int k : {4, 8}) {
    auto network = build(mesh(k));
    RunConfig config;
    config.traffic.rate = 1.0;
    config.warmup = Cycles{2000};
    config.cycles = Cycles{3000};
    const auto result = run(*network, config);
    ASSERT_TRUE(result);
    EXPECT_LE(result->accepted_flits_per_node_cycle, 4.0 / k);
    EXPECT_GT(result->accepted_flits_per_node_cycle, 0.7 * 4.0 / k);
    EXPECT_FALSE(result->stable);
  }
}

TEST(Mesh, TheSameSeedGivesTheSameRun) {
  const auto once = [] {
    auto network = build(mesh(4));
    RunConfig config;
    config.traffic.rate = 0.5;
    config.traffic.packet_size = 5;
    config.traffic.seed = 9;
    return *run(*network, config);
  };
  const RunResult a = once();
  const RunResult b = once();
  EXPECT_EQ(a.avg_packet_latency, b.avg_packet_latency);
  EXPECT_EQ(a.flit_hops, b.flit_hops);
  EXPECT_EQ(a.cycles, b.cycles);
}

TEST(Mesh, JumpsOverIdleCyclesWithoutChangingLatency) {
  const auto network = build(mesh(4));
  EXPECT_FALSE(network->next_event());
  network->skip_to(Cycles{1000000});
  EXPECT_EQ(network->now(), Cycles{1000000});
  NodeId to = 15;
  Packet packet;
  packet.destinations = {&to, 1};
  packet.created = network->now();
  ASSERT_TRUE(network->inject(packet));
  int ticks = 0;
  while (network->deliveries().empty()) {
    network->skip_to(Cycles{2000000});
    network->tick();
    ++ticks;
  }
  EXPECT_EQ(network->deliveries()[0].arrived, Cycles{1000000 + 4 * 7 + 2});
  EXPECT_LT(ticks, 30);  // of 31 cycles some were empty
}

// A packet that took another's head along would cross as many links as that one.
TEST(Mesh, EveryPacketTakesItsOwnWayThroughShallowBuffers) {
  for (const int buffer : {1, 2, 3}) {
    NetworkConfig config = mesh(4);
    auto& router = config.own<VcRouterConfig>();
    router.vcs = 16;
    router.vc_buffer = buffer;
    config.link_delay = 5;
    const auto network = build(config);
    ASSERT_NE(network, nullptr);
    Random random(7);
    std::uint64_t sent = 0;
    std::uint64_t link_flits = 0;
    for (std::uint64_t delivered = 0; delivered < 3000;) {
      for (NodeId node = 0; node < 16 && sent < 3000; ++node, ++sent) {
        Packet packet;
        const NodeId to = random.below(16);
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits = static_cast<std::uint16_t>(1 + random.below(3));
        packet.created = network->now();
        ASSERT_TRUE(network->inject(packet));
        link_flits += packet.flits * static_cast<std::uint64_t>(hops(config, node, to) - 1);
      }
      network->tick();
      delivered += network->deliveries().size();
      ASSERT_LT(network->now().value(), 100000u);
    }
    std::uint64_t crossed = 0;
    for (const LinkUse& link : network->link_use()) {
      crossed += link.flits;
    }
    EXPECT_EQ(crossed, link_flits) << buffer;
  }
}

TEST(Mesh, SaysHowManyPacketsWaitAtANode) {
  NetworkConfig config = mesh(4);
  config.classes = 2;
  const auto network = build(config);
  const NodeId to = 15;
  for (const bool reply : {false, true, true}) {
    Packet packet;
    packet.destinations = {&to, 1};
    packet.flits = 4;
    packet.message_class = reply ? 1 : 0;
    ASSERT_TRUE(network->inject(packet));
  }
  EXPECT_EQ(network->source_queue(0, 0), 1u);
  EXPECT_EQ(network->source_queue(0, 1), 2u);
  EXPECT_EQ(network->source_queue(1, 0), 0u);
  for (int cycle = 0; cycle < 100; ++cycle) {
    network->tick();
  }
  EXPECT_EQ(network->source_queue(0, 0), 0u);
  EXPECT_EQ(network->source_queue(0, 1), 0u);
}

TEST(Mesh, SendsACopyToEveryDestination) {
  const auto network = build(mesh(4));
  const std::vector<NodeId> everybody{0, 3, 5, 15};
  Packet packet;
  packet.source = 3;
  packet.destinations = everybody;
  packet.flits = 2;
  ASSERT_TRUE(network->inject(packet));
  std::vector<NodeId> reached;
  for (int cycle = 0; cycle < 100; ++cycle) {
    network->tick();
    for (const Delivery& delivery : network->deliveries()) {
      reached.push_back(delivery.destination);
    }
  }
  std::sort(reached.begin(), reached.end());
  EXPECT_EQ(reached, everybody);
}

TEST(Mesh, DeliversPayloadAndCountsItsRealTransitions) {
  NetworkConfig config = mesh(4);
  config.flit_bits = 32;
  config.count_toggles = true;
  const auto network = build(config);
  // Two flits: all ones, then all zeros. On each of the three links 32 bits rise, then fall.
  const std::vector<std::byte> payload{std::byte{255}, std::byte{255}, std::byte{255},
                                       std::byte{255}, std::byte{0},   std::byte{0},
                                       std::byte{0},   std::byte{0}};
  const Delivery delivery = send_alone(*network, 0, 3, 2, payload);
  EXPECT_TRUE(
      std::equal(payload.begin(), payload.end(), delivery.payload.begin(), delivery.payload.end()));
  const power::NetworkEvents events = network->events();
  EXPECT_TRUE(events.toggles_counted);
  EXPECT_EQ(events.link_toggles, 3u * 64u);
  EXPECT_EQ(events.link_flits, 6u);
  EXPECT_EQ(events.crossbar_flits, 8u);
  EXPECT_EQ(events.buffer_writes, 8u);
  EXPECT_EQ(events.vc_grants, 4u);
}

TEST(Mesh, TheDetectorNamesWhatDoesNotMove) {
  const auto network = build(mesh(4));
  EXPECT_FALSE(network->stuck(Cycles{0}));
  NodeId to = 15;
  Packet packet;
  packet.destinations = {&to, 1};
  ASSERT_TRUE(network->inject(packet));
  network->tick();
  network->tick();  // on the wire: nothing moves for a cycle
  network->tick();
  const auto why = network->stuck(Cycles{0});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->kind, Stuck::Kind::deadlock);
  EXPECT_NE(why->text.find("has moved"), std::string::npos);
  EXPECT_FALSE(network->stuck(Cycles{100}));
}

// Everything that a run reports, on `threads` threads.
std::string run_text(NetworkConfig config, const TrafficConfig& traffic, int threads) {
  config.own<MeshConfig>().threads = threads;
  const auto network = build(config);
  RunConfig run_config;
  run_config.traffic = traffic;
  run_config.warmup = Cycles{100};
  run_config.cycles = Cycles{400};
  const auto result = run(*network, run_config);
  if (!result) {
    return result.error().text();
  }
  EXPECT_TRUE(network->check_conservation());
  std::string text =
      fmt::format("{} {} {} {} {}", result->avg_packet_latency, result->avg_network_latency,
                  result->p99_packet_latency, result->packets, result->cycles.value());
  for (const power::NetworkEvents& events : {network->events(), result->window}) {
    text += fmt::format(" {} {} {} {} {}", events.injected_flits, events.ejected_flits,
                        events.crossbar_flits, events.vc_grants, events.link_toggles);
  }
  for (const LinkUse& use : network->link_use()) {
    text += fmt::format(" {}:{}", use.flits, use.toggles);
  }
  return text;
}

TEST(Mesh, ThreadsShareItAndChangeNothing) {
  TrafficConfig traffic;
  traffic.packet_size = 3;
  NetworkConfig plain = mesh(16);
  NetworkConfig odd = mesh(15);     // 225 routers: the last word of the masks is not full
  NetworkConfig shared = mesh(12);  // 96 routers and 1,152 nodes: 2 and 18 words
  shared.height = 8;
  shared.concentration = 12;
  NetworkConfig replies = mesh(16);
  replies.classes = 2;
  NetworkConfig regional = mesh(12);
  regional.network = "mesh-adaptive";
  regional.own<MeshConfig>().adaptive = "rca";
  NetworkConfig adaptive = mesh(16);  // heads look at credits where they come
  adaptive.network = "mesh-adaptive";
  for (const NetworkConfig& config : {plain, odd, shared, replies, regional, adaptive}) {
    traffic.rate = config.concentration > 1 ? 0.01 : 0.15;
    const std::string alone = run_text(config, traffic, 1);
    EXPECT_GT(alone.size(), 1000U) << alone;
    EXPECT_EQ(run_text(config, traffic, 2), alone) << config.network;
    EXPECT_EQ(run_text(config, traffic, 3), alone) << config.network;
    EXPECT_EQ(run_text(config, traffic, 64), alone) << "at most one for 64 routers";
  }
}

// On one thread routers whose packets share no port do not arbitrate; on several all do.
TEST(Mesh, RoutersThatDoNotArbitrateChangeNothing) {
  std::uint64_t seed = 100;
  for (const int vcs : {1, 2, 4, 7}) {
    for (const int buffer : {(10 + vcs) / vcs, 12}) {
      for (const int size : {1, 2, 5, 17}) {
        NetworkConfig config = mesh(9);
        config.height = 8;
        config.classes = vcs > 1 ? 1 + size % 2 : 1;
        config.link_delay = 1 + (vcs + buffer) % 3;
        config.own<VcRouterConfig>().vcs = vcs;
        config.own<VcRouterConfig>().vc_buffer = buffer;
        config.own<VcRouterConfig>().credit_delay = (buffer + size) % 3;
        TrafficConfig traffic;
        traffic.packet_size = size;
        traffic.seed = ++seed;
        traffic.rate = 0.01 * static_cast<double>(seed % 7 * (seed % 7));
        EXPECT_EQ(run_text(config, traffic, 1), run_text(config, traffic, 2)) << fmt::format(
            "{} flits at {}, {} VCs of {}, seed {}", size, traffic.rate, vcs, buffer, traffic.seed);
      }
    }
  }
}

TEST(Mesh, LanesChangeNothing) {
  std::uint64_t seed = 0;
  const auto check = [&](NetworkConfig config, double rate, int size, int threads) {
    TrafficConfig traffic;
    traffic.rate = rate;
    traffic.packet_size = size;
    traffic.seed = ++seed;
    traffic.stream = seed % 3 == 0 ? Stream::native : Stream::automatic;
    const std::string scalar = run_text(config, traffic, 1);
    config.expected_load = 1;
    if (!fits_lanes(config)) {
      GTEST_SKIP() << "this host has no AVX-512";
    }
    EXPECT_GT(scalar.size(), 60U) << scalar;
    EXPECT_EQ(run_text(config, traffic, threads), scalar) << fmt::format(
        "{}x{}, {} flits at {}, {} VCs of {}", config.width, config.height, size, rate,
        config.own<VcRouterConfig>().vcs, config.own<VcRouterConfig>().vc_buffer);
  };
  for (const int vcs : {2, 4, 5}) {
    for (const int buffer : {4, 7, 8, 9, 16}) {
      NetworkConfig config = mesh(3);
      config.width = 3 + buffer % 4;
      config.height = 1 + (buffer + vcs) % 6;
      config.own<VcRouterConfig>().vcs = vcs;
      config.own<VcRouterConfig>().vc_buffer = buffer;
      check(config, 0.02, 5, 1);
      check(config, 0.1, 1, 1);
      check(config, 0.3, 5, 1);
      config.link_delay = 1 + buffer % 2;
      config.own<VcRouterConfig>().credit_delay = buffer % 3;
      check(config, 0.5, 1 + buffer % 5, 1);
      check(config, 0.9, 20, 1);
    }
  }
  for (const int threads : {1, 2, 3}) {
    check(mesh(15), 0.2, 2, threads);
    check(mesh(16), 0.05, 1, threads);
  }
}

TEST(Mesh, ThreadsPassOnReplies) {
  NetworkConfig config = mesh(16);
  config.classes = 2;
  TrafficConfig traffic;
  traffic.pattern = Pattern::many_to_few;
  traffic.rate = 0.1;
  traffic.max_outstanding = 4;
  for (NodeId node = 0; node < 256; ++node) {
    (node % 5 == 0 ? traffic.memory_nodes : traffic.core_nodes).push_back(node);
  }
  EXPECT_EQ(run_text(config, traffic, 4), run_text(config, traffic, 1));
}

TEST(Mesh, ThreadsWaitForACallerThatPauses) {
  NetworkConfig config = mesh(16);
  config.own<MeshConfig>().threads = 2;
  const auto network = build(config);
  const Delivery first = send_alone(*network, 0, 255, 5);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other thread falls asleep
  const Delivery second = send_alone(*network, 255, 0, 5);
  EXPECT_EQ(first.arrived - first.created, second.arrived - second.created);
}

TEST(Mesh, RefusesPacketsByKey) {
  const auto network = build(mesh(4));
  NodeId to = 16;
  Packet packet;
  packet.destinations = {&to, 1};
  auto status = network->inject(packet);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context, "packet.destinations");
  EXPECT_NE(status.error().message.find("unreachable"), std::string::npos);
  to = 3;
  packet.message_class = 1;
  status = network->inject(packet);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context, "packet.message_class");
}

}  // namespace
}  // namespace ww::sim::net
