// The analytic first pass against the engine.
#include "ww/sim/net/estimate.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "testing/lone_packet.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

struct Sampled {
  NetworkConfig network;
  TrafficConfig traffic;
};

// Any network whose ways are fixed, of 4 to 64 nodes, with any buffers, delays, packets and loads.
Sampled sample(Random& random) {
  static const std::vector<const char*> kNames = {"mesh",
                                                  "mesh",
                                                  "crossbar",
                                                  "crossbar-hierarchical",
                                                  "crossbar-partitioned",
                                                  "torus",
                                                  "ring",
                                                  "cmesh",
                                                  "flatfly",
                                                  "chiplet-mesh",
                                                  "fly",
                                                  "fattree",
                                                  "dragonfly"};
  static const std::vector<Pattern> kPatterns = {
      Pattern::uniform,   Pattern::uniform,        Pattern::uniform,
      Pattern::transpose, Pattern::tornado,        Pattern::bit_reverse,
      Pattern::shuffle,   Pattern::bit_complement, Pattern::neighbour};
  for (;;) {
    Sampled one;
    one.network.network = kNames[random.below(static_cast<std::uint32_t>(kNames.size()))];
    one.network.width = 2 + static_cast<int>(random.below(7));
    one.network.height = one.network.network == "ring" ? 1 : 2 + static_cast<int>(random.below(7));
    if (one.network.network == "cmesh") {
      one.network.concentration = random.below(2) == 0 ? 1 : 4;
    }
    auto& router = one.network.own<VcRouterConfig>();
    router.vcs = 1 << random.below(4);
    router.vc_buffer = 1 + static_cast<int>(random.below(16));
    router.routing_delay = static_cast<int>(random.below(3));
    router.speculative = random.below(4) == 0;
    router.vc_alloc_delay = 1;
    one.network.link_delay = 1 + static_cast<int>(random.below(3));
    one.traffic.pattern = kPatterns[random.below(static_cast<std::uint32_t>(kPatterns.size()))];
    one.traffic.packet_size = 1 + static_cast<int>(random.below(8));
    one.traffic.rate = 0.01 + 0.005 * random.below(100);
    one.traffic.seed = 1 + random.below(1000);
    if (validate(one.network) && validate(one.traffic, one.network)) {
      return one;
    }
  }
}

std::string described(const Sampled& one) {
  const auto& router = one.network.own<VcRouterConfig>();
  return fmt::format("{} {}x{}x{}, {} VCs of {}, routing {}, links {}, {}, {} flits at {:.3f}",
                     one.network.network, one.network.width, one.network.height,
                     one.network.concentration, router.vcs, router.vc_buffer, router.routing_delay,
                     one.network.link_delay, to_string(one.traffic.pattern),
                     one.traffic.packet_size, one.traffic.rate);
}

// WW_ESTIMATE_SEED draws others, WW_ESTIMATE_COUNT as many.
std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Estimate, BoundsHoldForRandomConfigurations) {
  Random random(from_environment("WW_ESTIMATE_SEED", 1));
  const auto count = from_environment("WW_ESTIMATE_COUNT", 500);
  std::vector<double> errors;
  std::uint64_t drawn = 0;
  while (errors.size() < count) {
    const Sampled one = sample(random);
    ++drawn;
    const auto estimate = estimate_latency(one.network, one.traffic);
    ASSERT_TRUE(estimate) << estimate.error().text();
    if (!estimate->bounded) {
      continue;
    }
    auto network = make_network(one.network);
    ASSERT_TRUE(network) << network.error().text();
    RunConfig config;
    config.traffic = one.traffic;
    config.warmup = Cycles{1000};
    // A thousand packets at least, so that the pairs of nodes that are drawn do not decide.
    const double packets_a_cycle =
        one.traffic.rate / one.traffic.packet_size * node_count(one.network);
    config.cycles =
        Cycles{std::max<std::uint64_t>(4000, static_cast<std::uint64_t>(1000 / packets_a_cycle))};
    const auto result = run(**network, config);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(result->stable) << described(one);
    EXPECT_GE(result->avg_packet_latency, estimate->low) << described(one);
    EXPECT_LE(result->avg_packet_latency, estimate->high) << described(one);
    errors.push_back(result->avg_packet_latency / estimate->packet_latency - 1);
  }
  EXPECT_LT(drawn, 3 * count) << "bounds that hold for few configurations are of no use";
  std::ranges::sort(errors);
  RecordProperty("drawn", std::to_string(drawn));
  RecordProperty("median_error", fmt::format("{:.4f}", errors[errors.size() / 2]));
  RecordProperty("least_error", fmt::format("{:.4f}", errors.front()));
  RecordProperty("greatest_error", fmt::format("{:.4f}", errors.back()));
}

// This bound lets a sweep skip a point. Half as much again as a channel carries leaves a third of
// its packets waiting, so the last packet waits for half as long as all of them were sent.
TEST(Estimate, SaysTheRateBeyondWhichNoNetworkKeepsUp) {
  Random random(9);
  for (int compared = 0; compared < 40;) {
    Sampled one = sample(random);
    const auto estimate = estimate_latency(one.network, one.traffic);
    ASSERT_TRUE(estimate) << estimate.error().text();
    one.traffic.rate = 1.5 * estimate->full_rate;
    if (one.traffic.rate > 1) {
      continue;
    }
    ++compared;
    auto network = make_network(one.network);
    ASSERT_TRUE(network) << network.error().text();
    RunConfig config;
    config.traffic = one.traffic;
    config.warmup = Cycles{500};
    config.cycles = Cycles{2500};
    const auto result = run(**network, config);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(result->max_packet_latency > 0.3 * 3000 || result->undelivered > 0)
        << described(one) << ": " << result->max_packet_latency;
  }
}

TEST(Estimate, IsExactForLonePackets) {
  Random random(5);
  int compared = 0;
  while (compared < 40) {
    Sampled one = sample(random);
    one.traffic.pattern = Pattern::neighbour;
    one.network.own<VcRouterConfig>().vc_buffer = 32;  // no stalls of short buffers
    if (!validate(one.network) || !validate(one.traffic, one.network)) {
      continue;
    }
    const auto estimate = estimate_latency(one.network, one.traffic);
    ASSERT_TRUE(estimate);
    auto network = make_network(one.network);
    ASSERT_TRUE(network);
    double latency = 0;
    double hops = 0;
    const int nodes = node_count(one.network);
    for (NodeId node = 0; node < static_cast<NodeId>(nodes); ++node) {
      const NodeId to = permutation_partner(Pattern::neighbour, node, one.network);
      const auto alone = lone_packet(**network, node, to, one.traffic.packet_size);
      latency += static_cast<double>(alone.latency) / nodes;
      hops += static_cast<double>(alone.hops) / nodes;
    }
    EXPECT_NEAR(estimate->zero_load_latency, latency, 1e-6) << described(one);
    EXPECT_NEAR(estimate->avg_hops, hops, 1e-6) << described(one);
    ++compared;
  }
}

TEST(Estimate, FindsTheFullChannelOfAMesh) {
  NetworkConfig network;
  network.width = network.height = 8;
  TrafficConfig traffic;
  traffic.rate = 0.1;
  const auto uniform = estimate_latency(network, traffic);
  ASSERT_TRUE(uniform);
  // Half of the packets of 32 nodes cross to the other half over 8 links: 0.1 * 32 / 2 / 8.
  EXPECT_NEAR(uniform->busiest_link, 0.2, 1e-9);
  EXPECT_NEAR(uniform->full_rate, 0.5, 1e-9);
  traffic.pattern = Pattern::transpose;
  const auto transpose = estimate_latency(network, traffic);
  ASSERT_TRUE(transpose);
  EXPECT_NEAR(transpose->full_rate, 1.0 / 7, 1e-9);
}

TEST(Estimate, RefusesWhatHasNoFixedWay) {
  NetworkConfig network;
  TrafficConfig traffic;
  for (const char* name : {"mesh-adaptive", "mesh-bufferless", "dapper"}) {
    network.network = name;
    const auto estimate = estimate_latency(network, traffic);
    ASSERT_FALSE(estimate) << name;
    EXPECT_EQ(estimate.error().code, ErrorCode::unsupported);
  }
  network.network = "mesh";
  traffic.pattern = Pattern::hot_spot;
  EXPECT_EQ(estimate_latency(network, traffic).error().context, "traffic");
}

}  // namespace
}  // namespace ww::sim::net
