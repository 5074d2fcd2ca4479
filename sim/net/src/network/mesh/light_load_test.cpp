// Meshes at light loads, where routers mostly have nothing to arbitrate: the short way through
// them must give what arbitrating gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

// What a run reports. Where toggles are counted, every router arbitrates.
std::string run_text(NetworkConfig config, const TrafficConfig& traffic, bool arbitrates) {
  config.count_toggles = arbitrates;
  auto network = make_network(config);
  if (!network) {
    return network.error().text();
  }
  RunConfig run_config;
  run_config.traffic = traffic;
  run_config.warmup = Cycles{101};
  run_config.cycles = Cycles{1003};
  const auto result = run(**network, run_config);
  if (!result) {
    return result.error().text();
  }
  EXPECT_TRUE((*network)->check_conservation());
  const power::NetworkEvents& window = result->window;
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {}", result->avg_packet_latency,
                                 result->avg_network_latency, result->max_packet_latency,
                                 result->packets, result->cycles.value(), window.injected_flits,
                                 window.ejected_flits, window.crossbar_flits, window.vc_grants);
  for (const LinkUse& use : result->links) {
    text += fmt::format(" {}", use.flits);
  }
  return text;
}

TEST(LightLoad, GivesWhatArbitratingGivesWhateverTheBuffersAndPackets) {
  for (const int buffer : {3, 5, 7, 8, 9, 12}) {
    for (const int flits : {1, 2, 5, 9, 20}) {
      for (const double rate : {0.02, 0.1, 0.3}) {
        NetworkConfig config;
        config.width = config.height = 4;
        config.own<VcRouterConfig>().vc_buffer = buffer;
        TrafficConfig traffic;
        traffic.packet_size = flits;
        traffic.rate = rate;
        traffic.stream = Stream::native;
        const std::string text = run_text(config, traffic, true);
        EXPECT_GT(text.size(), 100U) << text;
        EXPECT_EQ(run_text(config, traffic, false), text) << buffer << " " << flits << " " << rate;
      }
    }
  }
}

TEST(LightLoad, APacketLeavesItsQueueInTheTick) {
  NetworkConfig config;
  config.width = config.height = 4;
  const auto network = make_network(config);
  ASSERT_TRUE(network);
  Network& mesh = **network;
  EXPECT_FALSE(mesh.next_event());
  const NodeId to = 15;
  Packet packet;
  packet.destinations = {&to, 1};
  ASSERT_TRUE(mesh.inject(packet));
  ASSERT_TRUE(mesh.inject(packet));
  EXPECT_EQ(mesh.source_queue(0, 0), 2U);
  EXPECT_EQ(mesh.events().injected_flits, 0U);
  EXPECT_EQ(mesh.next_event(), Cycles{0});
  EXPECT_TRUE(mesh.check_conservation());
  mesh.tick();
  EXPECT_EQ(mesh.source_queue(0, 0), 1U);
  EXPECT_EQ(mesh.events().injected_flits, 1U);
  mesh.tick();
  EXPECT_EQ(mesh.source_queue(0, 0), 0U);
  EXPECT_EQ(mesh.events().injected_flits, 2U);
  std::vector<std::uint64_t> injected;
  for (int cycle = 0; cycle < 100; ++cycle) {
    mesh.tick();
    for (const Delivery& delivery : mesh.deliveries()) {
      injected.push_back(delivery.injected.value());
    }
  }
  EXPECT_EQ(injected, (std::vector<std::uint64_t>{0, 1}));
}

}  // namespace
}  // namespace ww::sim::net
