// Meshes at light loads, where routers mostly have nothing to arbitrate: the short way through
// them must give what arbitrating gives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

// Returns the report of a run. Where toggles are counted, every router arbitrates.
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

TEST(LightLoad, NothingComesWhenTheLastPacketHasLeft) {
  for (const int buffer : {7, 8, 9}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      NetworkConfig config;
      config.width = 3;
      config.height = 2;
      config.link_delay = 2;
      auto& router = config.own<VcRouterConfig>();
      router.vcs = 1;
      router.vc_buffer = buffer;
      router.routing_delay = 0;
      router.credit_delay = 0;
      const auto made = make_network(config);
      ASSERT_TRUE(made) << made.error().text();
      Network& mesh = **made;
      Random random(seed);
      for (int cycle = 0; cycle < 300; ++cycle) {
        for (NodeId node = 0; node < 6; ++node) {
          if (random.unit() >= 0.2) continue;
          const NodeId to = random.below(6);
          Packet packet;
          packet.source = node;
          packet.destinations = {&to, 1};
          packet.flits = static_cast<std::uint16_t>(1 + random.below(3));
          packet.created = mesh.now();
          ASSERT_TRUE(mesh.inject(packet));
        }
        mesh.tick();
      }
      for (int cycle = 0; cycle < 10'000 && mesh.packets_inside() != 0; ++cycle) mesh.tick();
      for (int cycle = 0; cycle < 64; ++cycle) mesh.tick();
      EXPECT_FALSE(mesh.next_event()) << buffer << ", " << seed;
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

std::string text_of(const Delivery& delivery) {
  return fmt::format("{}-{} {} {} {}..{}..{}", delivery.source, delivery.destination,
                     delivery.flits, delivery.tag, delivery.created.value(),
                     delivery.injected.value(), delivery.arrived.value());
}

TEST(LightLoad, ManyCyclesAtOnceGiveWhatOneAfterAnotherGives) {
  Random random(7);
  for (const int buffer : {3, 4, 8, 20}) {
    for (const int flits : {1, 2, 5}) {
      for (const std::uint32_t packets_in_100 : {3, 20, 150}) {
        NetworkConfig config;
        config.width = 4;
        config.height = 3;
        config.own<VcRouterConfig>().vc_buffer = buffer;
        const auto made = make_network(config);
        const auto made_alike = make_network(config);
        ASSERT_TRUE(made && made_alike);
        Network& at_once = **made;
        Network& in_turn = **made_alike;
        while (at_once.now() < Cycles{2000}) {
          const std::uint64_t begin = at_once.now().value();
          const std::uint64_t end = begin + 1 + random.below(40);
          std::vector<Plan::Entry> packets;
          for (std::uint64_t cycle = begin; cycle < end; ++cycle) {
            while (random.below(100) < packets_in_100 * 100 / (packets_in_100 + 100)) {
              packets.push_back({cycle, random.below(12), random.below(12)});
            }
          }
          const Plan plan{Cycles{end}, packets, static_cast<std::uint16_t>(flits), begin};
          std::vector<Delivery> some;
          std::vector<Delivery> others;
          ASSERT_TRUE(at_once.advance(plan, some));
          ASSERT_TRUE(in_turn.Network::advance(plan, others));
          ASSERT_EQ(at_once.now().value(), end);
          ASSERT_TRUE(at_once.deliveries().empty());
          ASSERT_TRUE(at_once.check_conservation());
          ASSERT_EQ(some.size(), others.size());
          for (std::size_t n = 0; n < some.size(); ++n) {
            ASSERT_EQ(text_of(some[n]), text_of(others[n])) << buffer << " " << flits;
          }
          ASSERT_EQ(at_once.events().crossbar_flits, in_turn.events().crossbar_flits);
          ASSERT_EQ(at_once.events().injected_flits, in_turn.events().injected_flits);
          ASSERT_EQ(at_once.events().vc_grants, in_turn.events().vc_grants);
          ASSERT_EQ(at_once.next_event(), in_turn.next_event());
        }
        EXPECT_GT(at_once.events().ejected_flits, 0U);
      }
    }
  }
}

TEST(LightLoad, AdvanceRefusesWhatInjectRefuses) {
  NetworkConfig config;
  config.width = config.height = 4;
  const auto mesh = make_network(config);
  ASSERT_TRUE(mesh);
  std::vector<Delivery> delivered;
  const std::vector<Plan::Entry> packets{{0, 0, 16}};
  const Status refused = (*mesh)->advance({Cycles{1}, packets, 1, 0}, delivered);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_range);
}

// The packets of 3000 cycles, planned for at most `most` cycles at a time.
std::vector<std::string> planned(std::uint64_t most) {
  NetworkConfig config;
  config.width = config.height = 4;
  TrafficConfig traffic;
  traffic.rate = 0.3;
  traffic.packet_size = 3;
  traffic.stream = Stream::native;
  TrafficSource source(traffic, config);
  source.measure(Cycles{1000}, Cycles{2000});
  EXPECT_TRUE(source.plans());
  std::vector<std::string> texts;
  std::uint64_t measured = 0;
  for (std::uint64_t now = 0; now < 3000;) {
    const Plan plan = source.plan(Cycles{now}, Cycles{std::min<std::uint64_t>(now + most, 3000)});
    EXPECT_GT(plan.end.value(), now);
    for (const Plan::Entry& packet : plan.packets) {
      EXPECT_TRUE(packet.created >= now && packet.created < plan.end.value());
      EXPECT_EQ(plan.tag, packet.created >= 1000 && packet.created < 2000 ? 1U : 0U);
      measured += plan.tag;
      texts.push_back(fmt::format("{} {} {}", packet.created, packet.source, packet.destination));
    }
    now = plan.end.value();
  }
  EXPECT_EQ(source.measured_packets(), measured);
  EXPECT_EQ(source.offered_flits(Cycles{3000}), 3.0 * static_cast<double>(texts.size()));
  return texts;
}

TEST(LightLoad, APlanDoesNotDependOnHowTheCyclesAreCut) {
  const std::vector<std::string> one_by_one = planned(1);
  EXPECT_NEAR(static_cast<double>(one_by_one.size()), 3000 * 16 * 0.1, 300);
  EXPECT_EQ(planned(7), one_by_one);
  EXPECT_EQ(planned(3000), one_by_one);
}

}  // namespace
}  // namespace ww::sim::net
