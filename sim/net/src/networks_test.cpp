// The baselines against what their papers say, and configurations that are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ww/sim/net/energy.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/placement.hpp"
#include "ww/sim/net/simulate.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

RunResult run_at(const std::string& network, const std::string& traffic, double rate,
                 int packet_size = 1, const std::string& deflection = "chipper",
                 std::uint64_t times = 1) {
  Simulation request;
  request.network.network = network;
  request.run.traffic.pattern = *pattern_from_string(traffic);
  request.run.traffic.rate = rate;
  request.run.traffic.packet_size = packet_size;
  EXPECT_TRUE(set_key(request.network, "deflection", deflection));
  request.run.warmup = Cycles{3000 * times};
  request.run.cycles = Cycles{8000 * times};
  auto report = simulate(request);
  EXPECT_TRUE(report) << report.error().text();
  return report ? report->run : RunResult{};
}

double saturation(const std::string& network, const std::string& traffic,
                  const std::string& deflection = "chipper") {
  return run_at(network, traffic, 1.0, 1, deflection).accepted_flits_per_node_cycle;
}

TEST(Bufferless, SaturatesEarlierThanBufferedOnUniformTraffic) {
  const double buffered = saturation("mesh", "uniform");
  EXPECT_LT(saturation("mesh-bufferless", "uniform", "chipper"), 0.8 * buffered);
  EXPECT_LT(saturation("mesh-bufferless", "uniform", "bless"), 0.9 * buffered);
}

TEST(Bufferless, OldestFirstDeflectsLessThanChipper) {
  EXPECT_LT(run_at("mesh-bufferless", "uniform", 0.4, 1, "bless").avg_hops,
            run_at("mesh-bufferless", "uniform", 0.4, 1, "chipper").avg_hops);
}

TEST(Bufferless, DeliversEveryPacketWhole) {
  for (const char* deflection : {"chipper", "bless"}) {
    const RunResult result = run_at("mesh-bufferless", "uniform", 0.3, 5, deflection);
    EXPECT_TRUE(result.stable);
    EXPECT_EQ(result.undelivered, 0u);
    EXPECT_GT(result.packets, 5000u);
    EXPECT_GE(result.avg_hops, 3.4);
  }
}

// Retransmit-Once: with a single buffer a node, overload ends in drops, not in a standstill.
TEST(Bufferless, OneReassemblyBufferANodeLosesNothing) {
  for (const char* deflection : {"chipper", "bless"}) {
    Simulation request;
    request.network.network = "mesh-bufferless";
    request.run.traffic.pattern = *pattern_from_string("hot_spot");
    ASSERT_TRUE(set_key(request.network, "deflection", deflection));
    request.run.traffic.packet_size = 5;
    request.run.traffic.rate = 0.12;
    request.run.traffic.hot_fraction = 0.3;
    request.run.warmup = Cycles{2000};
    request.run.cycles = Cycles{6000};
    ASSERT_TRUE(set_key(request.network, "reassembly_buffers", "1"));
    const auto tight = simulate(request);
    ASSERT_TRUE(tight) << deflection << ": " << tight.error().text();
    EXPECT_EQ(tight->run.undelivered, 0u) << deflection;
    EXPECT_GT(tight->run.window.resent_flits, 100u) << deflection;
    ASSERT_TRUE(set_key(request.network, "reassembly_buffers", "1000"));
    const auto wide = simulate(request);
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->run.window.resent_flits, 0u) << deflection;
    EXPECT_LT(wide->run.avg_packet_latency, tight->run.avg_packet_latency) << deflection;
    // A dropped flit has cost its way: the energy is counted.
    EXPECT_GT(tight->run.window.link_flits, wide->run.window.link_flits) << deflection;
  }
}

TEST(Bufferless, StoresNoFlits) {
  Simulation request;
  request.network.network = "mesh-bufferless";
  const auto report = simulate(request);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->energy.buffer_write.to<double>(), 0.0);
  EXPECT_GT(report->energy.link.to<double>(), 0.0);
}

TEST(Adaptive, BeatsXyOnTranspose) {
  EXPECT_GT(saturation("mesh-adaptive", "transpose"), 1.2 * saturation("mesh", "transpose"));
  EXPECT_LT(run_at("mesh-adaptive", "transpose", 0.3, 5).avg_packet_latency,
            run_at("mesh", "transpose", 0.3, 5).avg_packet_latency);
}

TEST(Adaptive, TakesMinimalPathsOnly) {
  EXPECT_NEAR(run_at("mesh-adaptive", "uniform", 0.3).avg_hops, 3.5, 0.05);
}

Simulation on_eight(const std::string& network, const std::string& traffic, double rate) {
  Simulation request;
  request.network.network = network;
  request.run.traffic.pattern = *pattern_from_string(traffic);
  request.run.traffic.rate = rate;
  request.network.width = request.network.height = 8;
  request.network.own<VcRouterConfig>().vcs = 8;
  request.run.traffic.packet_size = 5;
  request.run.warmup = Cycles{3000};
  request.run.cycles = Cycles{6000};
  return request;
}

TEST(Adaptive, WithRegionalCongestionBeatsXyOnTranspose) {
  Simulation request = on_eight("mesh-adaptive", "transpose", 0.3);
  ASSERT_TRUE(set_key(request.network, "adaptive", "rca"));
  const auto regional = simulate(request);
  const auto xy = simulate(on_eight("mesh", "transpose", 0.3));
  ASSERT_TRUE(regional && xy);
  EXPECT_TRUE(regional->run.stable);
  EXPECT_FALSE(xy->run.stable);
}

// HPCA'08: what a router knows beyond its neighbours pays on large meshes as they fill up.
TEST(Adaptive, KnowingTheRegionBeatsKnowingTheNeighbourNearSaturation) {
  for (const char* traffic : {"transpose", "bit_reverse", "uniform"}) {
    Simulation request = on_eight("mesh-adaptive", traffic, 0.3);
    const auto local = simulate(request);
    ASSERT_TRUE(set_key(request.network, "adaptive", "rca"));
    const auto regional = simulate(request);
    ASSERT_TRUE(local && regional);
    EXPECT_LT(regional->run.avg_packet_latency, 0.95 * local->run.avg_packet_latency) << traffic;
    EXPECT_NEAR(regional->run.avg_hops, local->run.avg_hops, 0.1) << traffic;  // both minimal
  }
}

TEST(Adaptive, JumpsOverIdleCyclesAsIfTheyWereSimulated) {
  const auto arrivals = [](bool jump) {
    NetworkConfig config;
    config.network = "mesh-adaptive";
    EXPECT_TRUE(set_key(config, "adaptive", "rca"));
    config.width = config.height = 5;
    auto network = std::move(*make_network(config));
    std::vector<std::uint64_t> cycles;
    for (std::uint64_t burst = 0; burst < 20; ++burst) {
      const Cycles start{burst * 100};  // some flits of the last burst are still under way
      while (network->now() < start) {
        if (jump) {
          network->skip_to(start);
        }
        if (network->now() < start) {
          network->tick();
        }
        for (const Delivery& delivery : network->deliveries()) {
          cycles.push_back(delivery.arrived.value());
        }
      }
      for (NodeId source = 0; source < 25; ++source) {
        const NodeId to = (source * 7 + static_cast<NodeId>(burst)) % 25;
        Packet packet;
        packet.source = source;
        packet.destinations = {&to, 1};
        packet.flits = 4;
        packet.created = network->now();
        EXPECT_TRUE(network->inject(packet));
      }
    }
    return cycles;
  };
  EXPECT_GT(arrivals(false).size(), 400u);
  EXPECT_EQ(arrivals(true), arrivals(false));
}

TEST(Priority, PacketsUnderWayArriveSoonerInOverload) {
  EXPECT_LT(run_at("mesh-priority", "uniform", 1.0).avg_network_latency,
            run_at("mesh", "uniform", 1.0).avg_network_latency);
}

TEST(Requests, AreAnsweredWithoutDeadlock) {
  for (const char* network : {"mesh", "mesh-adaptive", "mesh-priority", "mesh-bufferless"}) {
    Simulation request;
    request.network.network = network;
    request.run.traffic.pattern = *pattern_from_string("many_to_few");
    request.run.traffic.rate = 0.5;  // far more than the memory nodes can answer
    request.run.traffic.max_outstanding = 8;
    request.run.warmup = Cycles{2000};
    request.run.cycles = Cycles{6000};
    const auto report = simulate(request);
    ASSERT_TRUE(report) << network << ": " << report.error().text();
    EXPECT_EQ(report->run.undelivered, 0u) << network;
    EXPECT_GT(report->run.packets, 1000u) << network;
  }
}

// Nodes of a bufferless router share its fifth port, so more of them make the router no wider.
TEST(BufferlessMesh, PaysForTheFivePortsThatARouterHas) {
  NetworkConfig config;
  config.network = "mesh-bufferless";
  for (const int nodes : {1, 4}) {
    config.concentration = nodes;
    EXPECT_EQ(energy_config(config).router.ports, 5) << nodes;
  }
}

// Flits of the ideal network cross the links of a mesh, which leak and take room.
TEST(IdealNetwork, HasTheLinksOfAMesh) {
  for (const int width : {2, 5}) {
    std::vector<std::uint64_t> links;
    for (const char* network : {"mesh", "mesh-bufferless", "ideal"}) {
      NetworkConfig config;
      config.network = network;
      config.width = width;
      config.height = 3;
      links.push_back((**make_network(config)).events().links);
    }
    EXPECT_EQ(links[0], 2u * ((width - 1) * 3 + width * 2));
    EXPECT_EQ(links[1], links[0]);
    EXPECT_EQ(links[2], links[0]);
  }
}

// A memory controller has its output buffer in every network that joins it.
TEST(ReplyBuffers, CostTheSameWhetherMemoryNodesAreNamedOrFound) {
  for (const char* network : {"mesh", "mesh-priority", "torus", "crossbar", "approx-noc", "dapper",
                              "ideal", "mesh-bufferless"}) {
    for (const bool planes : {false, true}) {
      Simulation request;
      request.network.network = network;
      request.network.planes = planes;
      request.run.traffic.pattern = *pattern_from_string("many_to_few");
      request.run.traffic.rate = 0.05;
      request.run.traffic.max_outstanding = 4;
      request.run.warmup = Cycles{0};
      request.run.cycles = Cycles{4000};
      const auto found = simulate(request);
      ASSERT_TRUE(found) << network << ": " << found.error().text();
      request.network.memory_nodes = place(*network_of(request), {}, {})->memory;
      const auto named = simulate(request);
      ASSERT_TRUE(named) << network << ": " << named.error().text();
      EXPECT_GT(found->energy.reply_buffer.to<double>(), 0) << network << planes;
      EXPECT_EQ(nlohmann::json(found->energy), nlohmann::json(named->energy)) << network << planes;
    }
  }
}

// Where the stations of light stand depends on which nodes have memory.
TEST(ReplyBuffers, TakeEachFlitOfAReplyOnceInEveryNetwork) {
  for (const NetworkKind* kind : network_kinds()) {
    if (!kind->chosen_by.empty()) {
      continue;  // needs a file
    }
    Simulation request;
    request.network = kind->paper != nullptr ? kind->paper() : dapper_baseline();
    request.network.network = kind->name;
    request.network.classes = 2;
    request.run.traffic.pattern = *pattern_from_string("many_to_few");
    NetworkConfig config = *network_of(request);
    config.memory_nodes = place(config, {}, {})->memory;
    const NodeId memory = config.memory_nodes.front();
    NodeId core = 0;
    while (std::ranges::find(config.memory_nodes, core) != config.memory_nodes.end()) ++core;
    auto made = make_network(config);
    ASSERT_TRUE(made) << kind->name << ": " << made.error().text();
    Network& network = **made;
    const auto send = [&](NodeId from, NodeId to, PacketKind what, std::uint16_t flits) {
      Packet packet;
      packet.source = from;
      packet.destinations = {&to, 1};
      packet.flits = flits;
      packet.message_class = is_reply(what) ? 1 : 0;
      packet.kind = what;
      EXPECT_TRUE(network.inject(packet)) << kind->name;
    };
    send(core, memory, PacketKind::read_request, 1);
    send(core, memory, PacketKind::write_request, 5);
    EXPECT_EQ(network.events().reply_buffer_flits, 0U) << kind->name;
    send(memory, core, PacketKind::read_reply, 5);
    send(memory, core, PacketKind::write_reply, 1);
    for (int cycle = 0; cycle < 2000 && network.packets_inside() > 0; ++cycle) network.tick();
    EXPECT_EQ(network.packets_inside(), 0U) << kind->name;
    EXPECT_EQ(network.events().reply_buffer_flits, 6U) << kind->name;
  }
}

TEST(Planes, CarryRequestsAndRepliesApart) {
  Simulation request;
  request.run.traffic.pattern = *pattern_from_string("many_to_few");
  request.run.traffic.rate = 0.05;
  request.run.traffic.max_outstanding = 16;
  request.run.warmup = Cycles{2000};
  request.run.cycles = Cycles{6000};
  const auto shared = simulate(request);
  request.network.planes = true;
  const auto planes = simulate(request);
  ASSERT_TRUE(shared && planes);
  EXPECT_EQ(planes->run.undelivered, 0u);
  EXPECT_EQ(planes->run.window.routers, 2 * shared->run.window.routers);
  EXPECT_EQ(planes->run.window.links, 2 * shared->run.window.links);
  EXPECT_LT(planes->run.avg_packet_latency, shared->run.avg_packet_latency);
  // One class a plane: enough where classes that share links need two.
  request.network.own<VcRouterConfig>().vcs = 1;
  request.network.own<VcRouterConfig>().vc_buffer = 8;
  EXPECT_TRUE(simulate(request));
}

TEST(Patterns, RunOnEveryNetwork) {
  for (const std::string_view network : network_names()) {
    if (network == "prior-opt") continue;                      // it joins SMs and LLC slices alone
    if (find_network(network)->set_size != nullptr) continue;  // its nodes are in a file
    for (const char* pattern : {"uniform", "transpose", "bitcomp", "bit_reverse", "shuffle",
                                "tornado", "neighbor", "hotspot"}) {
      // PS_GPUOPT's lasers follow the load once in an epoch of 1000 cycles, from zero on: what it
      // accepts comes and goes over many epochs.
      const RunResult result = run_at(std::string(network), pattern, 0.05, 2, "chipper",
                                      network == "ps-gpuopt" ? 12 : 1);
      EXPECT_EQ(result.undelivered, 0u) << network << " " << pattern;
      EXPECT_NEAR(result.accepted_flits_per_node_cycle, 0.05, 0.005) << network << " " << pattern;
    }
  }
}

TEST(Bursts, KeepTheMeanRateAndRaiseLatency) {
  RunConfig config;
  config.traffic.rate = 0.3;
  config.warmup = Cycles{5000};
  config.cycles = Cycles{60000};
  const auto calm = run(**make_network({}), config);
  config.traffic.burst_start = 0.02;
  config.traffic.burst_stop = 0.02;
  const auto bursty = run(**make_network({}), config);
  ASSERT_TRUE(calm && bursty);
  EXPECT_NEAR(bursty->offered_flits_per_node_cycle, 0.3, 0.02);
  EXPECT_GT(bursty->avg_packet_latency, calm->avg_packet_latency);
}

Simulation quick() {
  Simulation request;
  request.run.warmup = Cycles{1000};
  request.run.cycles = Cycles{3000};
  return request;
}

TEST(Curve, RisesUntilTheNetworkNoLongerKeepsUp) {
  const auto points = curve(quick(), {0.9, 0.1, 0.5, 0.7, 0.3, 1.0});
  ASSERT_TRUE(points) << points.error().text();
  ASSERT_GE(points->size(), 5u);
  for (std::size_t i = 1; i < points->size(); ++i) {
    EXPECT_GT((*points)[i].rate, (*points)[i - 1].rate);
    EXPECT_GT((*points)[i].run.avg_packet_latency, (*points)[i - 1].run.avg_packet_latency);
  }
  EXPECT_FALSE(points->back().run.stable);
  const auto json = curve_json(quick(), *points);
  EXPECT_EQ(json["points"].size(), points->size());
  Simulation first = quick();
  first.run.traffic.rate = 0.1;
  const auto report = simulate(first);
  ASSERT_TRUE(report);
  const nlohmann::json alone = *report;
  for (const char* key : {"energy_pj", "energy_pj_per_flit", "measured_cycles"}) {
    EXPECT_EQ(json["points"][0][key], alone[key]) << key;
  }
}

TEST(Report, HoldsTheContractsKeys) {
  const auto report = simulate(quick());
  ASSERT_TRUE(report) << report.error().text();
  const nlohmann::json json = *report;
  for (const char* key : {"avg_packet_latency", "avg_network_latency", "p99_packet_latency",
                          "accepted_flits_per_node_cycle", "avg_hops", "cycles", "flit_hops",
                          "wall_s", "cpu_s", "flit_hops_per_cpu_s", "stable", "energy_pj"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  double sum = 0;
  for (const auto& [name, value] : report->energy.components()) {
    sum += json["energy_pj"][name].get<double>();
  }
  EXPECT_NEAR(json["energy_pj"]["total"].get<double>(), sum, 1e-6 * sum);
  EXPECT_EQ(json["estimators_pj"]["orion2"]["status"], "unavailable");  // no 22 nm
}

TEST(Report, TheHeatMapShowsTheMiddleBusier) {
  Simulation request = quick();
  request.run.traffic.rate = 0.4;
  const auto report = simulate(request);
  ASSERT_TRUE(report);
  const nlohmann::json map = heatmap_json(*report);
  const auto use = [&](std::uint32_t from, std::uint32_t to) {
    for (const auto& link : map["links"]) {
      if (link["from"] == from && link["to"] == to) {
        return link["use"].get<double>();
      }
    }
    return -1.0;
  };
  // Uniform traffic of rate r on a row of 4: 3/4 r through an outer link, r in the middle.
  EXPECT_NEAR(use(1, 2), 0.4, 0.04);
  EXPECT_NEAR(use(0, 1), 0.3, 0.04);
  EXPECT_NE(heatmap_text(*report).find("o-"), std::string::npos);
}

// The message and the key of a refusal.
TEST(Simulate, MarksEveryEnergyWhereTheModelOfItsWiresIsFlagged) {
  Simulation simulation;
  simulation.run.traffic.rate = 0.1;
  simulation.run.warmup = Cycles{100};
  simulation.run.cycles = Cycles{500};
  const auto plain = simulate(simulation);
  simulation.misfit = "pairs depart from distance";
  const auto flagged = simulate(simulation);
  ASSERT_TRUE(plain && flagged);
  EXPECT_FALSE(nlohmann::json(*plain).contains("status"));
  const nlohmann::json json = *flagged;
  EXPECT_EQ(json["status"], "misfit");
  EXPECT_EQ(json["reason"], "pairs depart from distance");
  EXPECT_EQ(json["energy_pj"]["status"], "misfit");
  int marked = 0;
  for (const auto& one : json["estimators_pj"]) {
    if (one.contains("total")) {
      EXPECT_EQ(one["status"], "misfit");
      ++marked;
    }
  }
  EXPECT_GT(marked, 1);
}

Error refused(const Simulation& request) {
  const auto report = simulate(request);
  EXPECT_FALSE(report);
  return report ? Error{} : report.error();
}

TEST(Refusal, NamesTheKeyAndTheReason) {
  Simulation request;
  request.network.own<VcRouterConfig>().vcs = 0;
  EXPECT_EQ(refused(request).context, "vcs");
  request = {};
  request.network.own<VcRouterConfig>().vc_buffer = 0;
  EXPECT_EQ(refused(request).context, "vc_buffer");
  request = {};
  request.network.own<VcRouterConfig>().vc_buffer = 1;
  EXPECT_EQ(refused(request).context, "vc_buffer");
  EXPECT_NE(refused(request).message.find("credit loop"), std::string::npos);
  request = {};
  request.run.traffic.rate = 1.01;
  EXPECT_EQ(refused(request).context, "rate");
  request = {};
  request.network.width = request.network.height = 0;
  EXPECT_EQ(refused(request).context, "width");
  request = {};
  request.run.traffic.burst_start = 0.1;
  EXPECT_EQ(refused(request).context, "burst_start");
  request = {};
  EXPECT_EQ(pattern_from_string("rumour").error().context, "traffic");
  request = {};
  request.network.network = "hypercube";
  EXPECT_EQ(refused(request).context, "network");
  request = {};
  EXPECT_EQ(allocator_from_string("wavefront").error().context, "allocator");
  request = {};
  request.run.traffic.pattern = *pattern_from_string("transpose");
  request.network.height = 3;
  EXPECT_EQ(refused(request).context, "traffic");
  request = {};
  request.run.traffic.pattern = *pattern_from_string("many_to_few");
  request.network.classes = 1;
  EXPECT_EQ(refused(request).context, "classes");
  request = {};
  request.network.network = "mesh-adaptive";
  request.network.own<VcRouterConfig>().vcs = 1;
  EXPECT_EQ(refused(request).context, "vcs");
  request = {};
  request.network.network = "mesh-bufferless";
  EXPECT_EQ(set_key(request.network, "reassembly_buffers", "0").error().context,
            "reassembly_buffers");
  EXPECT_EQ(refused(request).context, "reassembly_buffers");  // the field holds what was refused
  request = {};
  request.network.network = "mesh-adaptive";
  EXPECT_EQ(set_key(request.network, "adaptive", "psychic").error().context, "adaptive");
  EXPECT_EQ(refused(request).context, "adaptive");
  request = {};
  request.run.traffic.packet_size = 0;
  EXPECT_EQ(refused(request).context, "packet_size");
  request = {};
  request.run.cycles = Cycles{0};
  EXPECT_EQ(refused(request).context, "cycles");
}

}  // namespace
}  // namespace ww::sim::net
