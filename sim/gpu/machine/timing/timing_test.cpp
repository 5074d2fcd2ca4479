// Timing mode: what launches cost follows from the system's numbers, and what they compute does not
// depend on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "machine/timing/timed_gpu.hpp"
#include "test_chip.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/packet_trace.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::gpu {
namespace {

using test::dapper_system;
using test::gpu_with;
using test::kChannels;
using test::kStride;
using test::last;
using test::ring;
using test::TestGpu;

TEST(Mesh, OfTheDapperChipIsFourByFourWithAControllerInEachRow) {
  const TimingConfig config = dapper_system();
  EXPECT_EQ(config.network.width, 4);
  EXPECT_EQ(config.network.height, 4);
  EXPECT_EQ(default_memory_nodes(config.network, 4), (std::vector<net::NodeId>{1, 7, 8, 14}));
}

TEST(Mesh, OfOtherChipsHasANodeForEveryUnitAndChannel) {
  for (const char* name : {"w9100", "vega10", "mi210"}) {
    const Architecture architecture = test::load_chip(name).architecture();
    const TimingConfig config = default_timing(architecture);
    const int needed = architecture.compute_units() + architecture.l2_channels;
    EXPECT_GE(net::node_count(config.network), needed) << name;
    EXPECT_LT(net::node_count(config.network), needed + config.network.width) << name;
    EXPECT_TRUE(validate(config)) << name;
  }
}

// One wave, one load under way: the latencies add up. Core 0 is node 0, channel 0 node 1: two
// routers each way, (4 + 1) cycles each, and 2 for the ends; the reply's other flits follow.
TEST(Latency, OfAPointerChaseInTheL2IsTheSumOfItsParts) {
  const TimingConfig config = dapper_system();
  auto test = gpu_with(config);
  constexpr std::uint32_t kLines = 256;  // more than a set of the L1 has ways
  const auto data = test->buffer(ring(kLines));
  const auto out = test->buffer(4);
  test->launch("chase", 1, 1, data, out, kLines);  // fills the L2
  test->launch("chase", 1, 1, data, out, kLines);
  const TimingStats few = last(*test);
  EXPECT_EQ(few.dram_reads, 0U);
  EXPECT_DOUBLE_EQ(few.request_latency, 5 * 2 + 2);
  const std::uint64_t reply_flits = (8 + 64 + 15) / 16;
  EXPECT_EQ(few.read_replies.flits, few.read_replies.packets * reply_flits);
  test->launch("chase", 1, 1, data, out, 3 * kLines);
  const TimingStats many = last(*test);
  const double step = static_cast<double>(many.cycles - few.cycles) / (2 * kLines);
  const double parts =
      12 + config.l2_cycles + 12 + static_cast<double>(reply_flits - 1) + config.fill_cycles;
  EXPECT_GE(step, parts);
  EXPECT_LE(step, parts + 40);  // issue, address arithmetic, the wait
}

TEST(Latency, GrowsByWhatEitherDirectionIsDelayed) {
  constexpr std::uint32_t kLines = 256;
  const auto cycles = [](int on_request, int on_reply) {
    TimingConfig config = dapper_system();
    config.request_cycles = on_request;
    config.l2_cycles += on_reply;
    auto test = gpu_with(config);
    const auto data = test->buffer(ring(kLines));
    const auto out = test->buffer(4);
    test->launch("chase", 1, 1, data, out, kLines);  // fills the L2
    test->launch("chase", 1, 1, data, out, kLines);
    return last(*test).cycles;
  };
  const std::uint64_t plain = cycles(0, 0);
  EXPECT_NEAR(static_cast<double>(cycles(20, 0) - plain), 20.0 * kLines, 40);
  EXPECT_EQ(cycles(20, 0), cycles(0, 20));  // one load under way: both ways are the same to it
}

TEST(Units, OutOfUseGetNoWork) {
  const auto cycles = [](int units) {
    TimingConfig config = dapper_system();
    config.cus_in_use = units;
    auto test = gpu_with(config);
    const auto data = test->buffer(ring(4));
    const auto out = test->buffer(48 * 4);
    test->launch("chase", 48, 1, data, out, 4U);
    test->launch("chase", 48, 1, data, out, 400U);  // many waves, each at its own pace
    return last(*test).mshr_full_cycles + last(*test).cycles;
  };
  EXPECT_EQ(cycles(0), cycles(test::load_chip("dapper").architecture().cus_per_engine));
  EXPECT_GT(cycles(1), cycles(0));
  TimingConfig config = dapper_system();
  config.cus_in_use = 1000;
  EXPECT_FALSE(VirtualGpu::create(test::load_chip("dapper"),
                                  Options{.timing = std::make_shared<const TimingConfig>(config)})
                   .has_value());
}

// Places of units that are off have no node, and the places behind them keep theirs.
TEST(Units, ThatAreSwitchedOffHaveNoNode) {
  const auto folder = ScratchFolder::create("chip").value();
  const auto file = (folder.path() / "chip.toml").string();
  ASSERT_TRUE(
      write_file_atomically(file, w9100_text({{"cus_per_engine", "11\ncus_off_per_die = 2"}})));
  const Architecture architecture = test::load_chip(file).architecture();
  ASSERT_EQ(architecture.compute_units(), 42);
  ASSERT_EQ(architecture.cu_places(), 44);
  TestGpu test(
      Options{.threads = 1,
              .timing = std::make_shared<const TimingConfig>(default_timing(architecture))},
      false, file);
  constexpr std::uint32_t kGroups = 42 * 8;
  const auto data = test.buffer(ring(4));
  const auto out = test.buffer(kGroups * 4);
  test.launch("chase", kGroups, 1, data, out, 400U);
  EXPECT_EQ(test.gpu().timing_report()->config.core_nodes.size(), 42U);
  int busy = 0;
  std::uint64_t loads = 0;
  for (const CuActivity& cu : test.totals.cus) {
    busy += cu.busy_cycles != 0 ? 1 : 0;
    loads += cu.l1_accesses;
  }
  EXPECT_EQ(busy, 42);
  EXPECT_EQ(last(test).l1_accesses, loads);
  EXPECT_EQ(last(test).read_requests.packets, last(test).read_replies.packets);
}

// A second die would have an L2 and links of its own, which the network has not.
TEST(Chips, OfSeveralDiesAreRefused) {
  const Chip chip = test::load_chip("mi250x");
  const auto gpu = VirtualGpu::create(
      chip,
      Options{.timing = std::make_shared<const TimingConfig>(default_timing(chip.architecture()))});
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::unsupported);
  EXPECT_THAT(gpu.error().message, ::testing::HasSubstr("mi250x has 2 dies"));
}

TEST(Packets, OfANarrowerDirectionHaveMoreFlits) {
  TimingConfig config = dapper_system();
  config.network.planes = true;
  config.reply_flit_bits = 64;
  auto test = gpu_with(config);
  const auto data = test->buffer(ring(16));
  const auto out = test->buffer(4);
  test->launch("chase", 1, 1, data, out, 16U);
  const TimingStats stats = last(*test);
  EXPECT_EQ(stats.read_replies.flits, stats.read_replies.packets * (8 + 64) / 8);
  EXPECT_EQ(stats.read_requests.flits, stats.read_requests.packets);  // 16 B, as the network has

  config.reply_flit_bits = config.network.flit_bits + 8;
  EXPECT_EQ(validate(config).error().context, "reply_flit_bits");
  config.reply_flit_bits = 12;
  EXPECT_EQ(validate(config).error().context, "reply_flit_bits");
}

TEST(Latency, OfAPointerChaseInMemoryAddsTheChannels) {
  const TimingConfig config = dapper_system();
  auto test = gpu_with(config);
  constexpr std::uint32_t kLines = 400;  // that a slice holds, a line in each of its blocks
  const auto data = test->buffer(ring(kLines));
  const auto out = test->buffer(4);
  test->launch("chase", 1, 1, data, out, kLines);
  const TimingStats cold = last(*test);
  EXPECT_EQ(cold.dram_reads, cold.read_requests.packets);
  test->launch("chase", 1, 1, data, out, kLines);
  const TimingStats warm = last(*test);
  EXPECT_EQ(warm.dram_reads, 0U);
  ASSERT_GT(cold.cycles, warm.cycles);
  const double more = static_cast<double>(cold.cycles - warm.cycles) / kLines;
  const double ratio = 700e6 / config.dram.clock_hz;
  const double hit = (config.dram.cl + config.dram.burst) * ratio + config.dram.return_cycles;
  const double conflict = hit + (config.dram.rp + config.dram.rcd) * ratio;
  EXPECT_GE(more, hit);
  EXPECT_LE(more, conflict + 2);
}

// Little's law: lines under way are what round trip times throughput makes.
TEST(Bandwidth, FollowsTheMissesUnderWay) {
  for (const int mshrs : {1, 2, 8}) {
    TimingConfig config = dapper_system();
    config.mshrs = mshrs;
    auto test = gpu_with(config);
    const auto data = test->buffer(std::vector<std::uint32_t>(1 << 17, 7));  // the size of the L2
    const auto out = test->buffer(12 * 1024 * 4);
    for (int i = 0; i < 2; ++i) {
      test->launch("stream", 12 * 1024, 256, data, out, 8U, 12 * 1024U);
    }
    const TimingStats& stats = last(*test);
    const double in_flight = 12.0 * mshrs;
    const double lines_per_cycle =
        static_cast<double>(stats.read_replies.packets) / static_cast<double>(stats.cycles);
    // The part of the round trip after the reply's arrival holds no place.
    const double held = stats.request_latency + config.l2_cycles + stats.reply_latency;
    EXPECT_NEAR(lines_per_cycle * held, in_flight, 0.15 * in_flight) << mshrs;
  }
}

// Wide flits, and every wave a load of 256 bytes of channel 0 at a time: its slice sends a line a
// cycle, 64 bytes a clock.
TEST(Bandwidth, OfASaturatedSliceIsALineACycle) {
  TimingConfig config = dapper_system();
  config.network.network = "ideal";
  config.network.flit_bits = 8 * (64 + 8);
  config.l2_bank_cycles = 1;
  auto test = gpu_with(config);
  constexpr std::uint32_t kItems = 12 * 1024;
  constexpr std::uint32_t kBlocks = 400;  // of 64 words, that the slice holds
  std::vector<std::uint32_t> next(kBlocks * kStride);
  for (std::uint32_t i = 0; i < next.size(); ++i) {
    const bool there = i % kStride < 64;  // in channel 0: to its next block; else to one of them
    const std::uint32_t block = there ? i / kStride + 1 : i / 64 * 7;
    next[i] = block % kBlocks * kStride + i % 64;
  }
  const auto data = test->buffer(next);
  const auto out = test->buffer(kItems * 4);
  test->launch("chase", kItems, 256, data, out, 20U);  // fills the L2
  test->launch("chase", kItems, 256, data, out, 20U);
  const TimingStats few = last(*test);
  test->launch("chase", kItems, 256, data, out, 60U);
  const TimingStats many = last(*test);
  const double per_slice =
      64.0 * static_cast<double>(many.read_replies.packets - few.read_replies.packets) /
      static_cast<double>(many.cycles - few.cycles);
  EXPECT_GE(per_slice, 0.9 * 64);
  EXPECT_LE(per_slice, 64 * 1.001);
}

// Volatile loads wait for one another, so that a wave has the four lines of one load under way:
// behind a network that is wide enough the waves bound a stream, not misses, slices or channels.
TEST(Bandwidth, OfVolatileLoadsIsALoadForEachWaveAndRoundTrip) {
  for (const std::uint32_t waves : {4U, 8U, 16U}) {  // of each core
    TimingConfig config = dapper_system();
    config.network.network = "ideal";
    config.network.flit_bits = 8 * (64 + 8);
    config.mshrs = 256;
    auto test = gpu_with(config);
    const auto data = test->buffer(std::vector<std::uint32_t>(1 << 17, 7));  // the size of the L2
    const std::uint32_t items = 12 * waves * 64;
    const auto out = test->buffer(items * 4);
    for (int i = 0; i < 2; ++i) test->launch("stream", items, 256, data, out, 128U, 768U);
    const TimingStats& stats = last(*test);
    const double under_way = static_cast<double>(stats.read_replies.packets) /
                             static_cast<double>(stats.cycles) / 12 * stats.round_trip;
    EXPECT_LE(under_way, 4.0 * waves) << waves;
    EXPECT_GE(under_way, 0.6 * 4.0 * waves) << waves;  // arithmetic between them
  }
}

TEST(Bandwidth, OfANarrowNetworkIsAFlitACycleAndController) {
  const TimingConfig config = dapper_system();
  auto test = gpu_with(config);
  const auto data = test->buffer(std::vector<std::uint32_t>(1 << 16, 7));
  const auto out = test->buffer(12 * 1024 * 4);
  test->launch("stream", 12 * 1024, 256, data, out, 128U, 64U);
  test->launch("stream", 12 * 1024, 256, data, out, 128U, 64U);
  const TimingStats& stats = last(*test);
  const double flits_per_controller =
      static_cast<double>(stats.read_replies.flits) / static_cast<double>(stats.cycles) / kChannels;
  EXPECT_GE(flits_per_controller, 0.6);
  EXPECT_LE(flits_per_controller, 1.0);
  EXPECT_GT(stats.output_occupancy, 1);  // the bottleneck of few-to-many traffic
}

// A reply of 128 bytes takes 9 flits of 128 bits, two of 64 take 10: loads that fill the
// controllers' links take nine tenths of the time where a router's buffers hold whole packets. With
// 4 flits they take longer: a packet then blocks the links of three routers at once.
TEST(Lines, OfTwiceTheBytesSaveAHeaderEach) {
  constexpr std::uint32_t kItems = 12 * 1024;
  constexpr std::uint32_t kWords = 1 << 17;  // the size of the L2
  std::vector<std::uint32_t> next(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) next[i] = (i + 211 * 64) % kWords;  // past all waves
  const auto measure = [&](int line_bytes) {
    TimingConfig config = dapper_system();
    config.line_bytes = line_bytes;
    config.network.own<net::VcRouterConfig>().vc_buffer = 32;
    auto test = gpu_with(config);
    const auto data = test->buffer(next);
    const auto out = test->buffer(kItems * 4);
    for (const std::uint32_t steps : {20U, 20U, 60U}) {  // the first fills the L2
      test->launch("chase", kItems, 256, data, out, steps);
    }
    const auto& dispatches = test->gpu().timing_report()->dispatches;
    return std::pair{dispatches[1].stats, dispatches[2].stats};
  };
  const auto [few, many] = measure(64);
  const auto [few_twice, many_twice] = measure(128);
  EXPECT_EQ(many_twice.read_replies.packets, many.read_replies.packets / 2);
  EXPECT_EQ(many_twice.read_replies.flits, 9 * many_twice.read_replies.packets);
  EXPECT_EQ(many_twice.l2_accesses, many.l2_accesses);
  EXPECT_NEAR(static_cast<double>(many_twice.cycles - few_twice.cycles) /
                  static_cast<double>(many.cycles - few.cycles),
              0.9, 0.04);
}

// The pair's other line is there when it is asked for: words 64 bytes apart, one chain.
TEST(Lines, OfTwiceTheBytesBringTheirNeighbour) {
  TimingConfig config = dapper_system();
  config.line_bytes = 128;
  auto test = gpu_with(config);
  constexpr std::uint32_t kLines = 64;
  std::vector<std::uint32_t> next(kLines * 16);
  for (std::uint32_t i = 0; i < kLines; ++i) next[i * 16] = (i + 1) % kLines * 16;
  const auto data = test->buffer(next);
  const auto out = test->buffer(4);
  test->launch("chase", 1, 1, data, out, kLines);
  EXPECT_EQ(last(*test).read_requests.packets, kLines / 2);
  EXPECT_EQ(test->counter("TCP_TCC_READ_REQ_sum"), kLines);  // counts lines of 64 bytes
  EXPECT_EQ(last(*test).dram_reads, kLines);
}

// Loads of words in a row, the second time from an L1 that is empty again.
TEST(Lines, OfTwiceTheBytesComeInPairsFromTheFirstLaunchOn) {
  TimingConfig config = dapper_system();
  config.line_bytes = 128;
  auto test = gpu_with(config);
  constexpr std::uint32_t kItems = 1 << 12;
  const auto x = test->buffer(std::vector<float>(kItems, 1.0F));
  const auto y = test->buffer(std::vector<float>(kItems, 0.5F));
  for (int launch = 0; launch < 2; ++launch) {
    test->launch("saxpy", kItems, 256, y, x, 2.0F);
    EXPECT_EQ(last(*test).read_requests.packets, 2 * kItems * sizeof(float) / 128) << launch;
  }
}

// Every wave asks for the same arguments: one request a core and line, with more for its code's
// constants; what is in the cache crosses no more.
TEST(ScalarLoads, CrossTheNetworkOnceACoreAndLine) {
  const auto requests_with = [](int cache_bytes) {
    TimingConfig config = dapper_system();
    config.scalar_cache_bytes = cache_bytes;
    auto test = gpu_with(config);
    const auto x = test->buffer(std::vector<float>(1 << 14, 1.0F));
    const auto y = test->buffer(std::vector<float>(1 << 14, 1.0F));
    test->launch("saxpy", 1 << 14, 256, y, x, 3.0F);
    EXPECT_EQ(test->read<float>(y, 1), std::vector<float>(1, 4.0F));
    return last(*test);
  };
  const TimingStats without = requests_with(0);
  const TimingStats with = requests_with(8192);
  const std::uint64_t more = with.read_requests.packets - without.read_requests.packets;
  EXPECT_GE(more, 12U);      // a line of arguments for each core
  EXPECT_LE(more, 12U * 4);  // a few lines: arguments, the dispatch packet
  EXPECT_GT(with.cycles, without.cycles);
}

// --- power ---

// The chip's accounting here counts nothing, so what there is is the network's, at 1 V.
TEST(Power, OfTheNetworkReachesTheChips) {
  auto test = gpu_with(dapper_system());
  const auto x = test->buffer(std::vector<float>(1 << 14, 1.0F));
  const auto y = test->buffer(std::vector<float>(1 << 14, 1.0F));
  test->launch("saxpy", 1 << 14, 256, y, x, 3.0F);
  const LaunchActivity& activity = test->gpu().last_activity();
  const power::EnergyReport& network = last(*test).energy;
  EXPECT_NEAR(activity.parts_f.crossbar_wires, network.link.to<double>() * 1e-12,
              1e-6 * activity.parts_f.crossbar_wires);
  EXPECT_NEAR(activity.parts_f.crossbar_wires + activity.parts_f.crossbar_arbiters,
              network.total().to<double>() * 1e-12, 1e-6 * network.total().to<double>() * 1e-12);
  EXPECT_NEAR(activity.capacitance_f.back(), network.total().to<double>() * 1e-12,
              1e-6 * activity.capacitance_f.back());
}

// --- results ---

struct Outcome {
  std::vector<std::uint32_t> results;
  std::string report;
};

// Kernels with stores after loads, atomics, private memory and LDS, one after the other.
Outcome run_kernels(TestGpu& test) {
  constexpr std::uint32_t kItems = 8192;
  constexpr std::uint32_t kPrivate = kItems / 32;  // work-items that read 32 words each
  std::vector<std::uint32_t> values(kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) values[i] = i * 2654435761U % 251;
  const auto in = test.buffer(values);
  const auto out = test.buffer(kItems * 4);
  const auto bins = test.buffer(256 * 4);
  const auto x = test.buffer(std::vector<float>(kItems, 1.5F));
  const auto y = test.buffer(std::vector<float>(kItems, 0.25F));
  for (int i = 0; i < 3; ++i) test.launch("add_one", kItems, 256, in);
  test.launch("scatter_private", kPrivate, 64, in, out);
  test.launch("saxpy", kItems, 256, y, x, 3.0F);
  test.launch("histogram", kItems, 256, in, bins, kItems);
  Outcome run;
  for (const auto& [address, count] :
       {std::pair{in, kItems}, {out, kItems}, {bins, 256U}, {y, kItems}}) {
    const auto words = test.read<std::uint32_t>(address, count);
    run.results.insert(run.results.end(), words.begin(), words.end());
  }
  if (const TimingReport* report = test.gpu().timing_report()) {
    TimingReport copy = *report;
    copy.total.cpu_s = 0;
    for (auto& dispatch : copy.dispatches) dispatch.stats.cpu_s = 0;
    run.report = to_json_text(copy);
  }
  return run;
}

TEST(Results, AreThoseOfFunctionalModeOnEveryExactNetwork) {
  TestGpu functional;
  const Outcome expected = run_kernels(functional);
  EXPECT_TRUE(expected.report.empty());
  for (const char* network :
       {"ideal", "mesh", "mesh-adaptive", "mesh-bufferless", "mesh-priority"}) {
    TimingConfig config = dapper_system();
    config.network.network = network;
    config.network.own<net::VcRouterConfig>().vcs = 6;
    auto test = gpu_with(config);
    EXPECT_EQ(run_kernels(*test).results, expected.results) << network;
  }
}

TEST(Results, OfABarrierOfTheGridAreThoseOfFunctionalMode) {
  constexpr std::uint32_t kGroups = 20;
  const auto meet = [](TestGpu& test) {
    const auto words = test.buffer(kGroups * 4);
    const auto out = test.buffer(kGroups * 128 * 4);
    const Grid grid{1, {kGroups * 128, 1, 1}, {128, 1, 1}, true};
    const auto done = test.try_launch("meet", grid, words, out, 3U, ~0U);
    EXPECT_TRUE(done) << done.error().text();
    return test.read<std::uint32_t>(out, kGroups * 128);
  };
  TestGpu functional;
  auto timed = gpu_with(dapper_system());
  EXPECT_EQ(meet(*timed), meet(functional));
}

TEST(Results, DoNotDependOnWhatTheSystemIsShortOf) {
  TestGpu functional;
  const Outcome expected = run_kernels(functional);
  TimingConfig config = dapper_system();
  config.mshrs = 1;
  config.writes = 1;
  config.request_buffer = 1;
  config.output_buffer = 1;
  config.l2_banks = 1;
  config.dram.queue = 2;
  config.network_clock_hz = 433e6;
  auto test = gpu_with(config);
  EXPECT_EQ(run_kernels(*test).results, expected.results);
  config.line_bytes = 128;
  config.dram.queue = 4;
  config.scalar_cache_bytes = 1024;
  auto other = gpu_with(config);
  EXPECT_EQ(run_kernels(*other).results, expected.results);
}

TEST(Reports, OfTheSameRunAreTheSameBytes) {
  auto first = gpu_with(dapper_system());
  auto second = gpu_with(dapper_system());
  const Outcome one = run_kernels(*first);
  EXPECT_FALSE(one.report.empty());
  EXPECT_EQ(one.report, run_kernels(*second).report);
}

TEST(Reports, CountEveryPacketOnceAndEveryRequestAnswered) {
  auto test = gpu_with(dapper_system());
  run_kernels(*test);
  const TimingStats& total = test->gpu().timing_report()->total;
  EXPECT_EQ(total.read_requests.packets, total.read_replies.packets);
  EXPECT_EQ(total.write_requests.packets, total.write_replies.packets);
  EXPECT_EQ(total.atomic_requests.packets, total.atomic_replies.packets);
  const auto flits = total.read_requests.flits + total.read_replies.flits +
                     total.write_requests.flits + total.write_replies.flits +
                     total.atomic_requests.flits + total.atomic_replies.flits;
  EXPECT_EQ(total.events.ejected_flits, flits);
  EXPECT_EQ(total.events.cycles, total.network_cycles);
  EXPECT_GT(total.energy.total().to<double>(), 0);
  EXPECT_EQ(total.changed_replies, 0U);
}

// Replies of a Dapper network pass bypass routers alone.
TEST(Reports, CountTheHopsOfBypassRouters) {
  auto test = gpu_with(default_timing(test::load_chip("dapper").architecture(), "dapper"));
  run_kernels(*test);
  const TimingReport& report = *test->gpu().timing_report();
  const power::NetworkEvents& events = report.total.events;
  ASSERT_GT(events.overlay.crossbar_flits, 0U);
  const auto json = nlohmann::json::parse(to_json_text(report));
  EXPECT_EQ(json["total"]["flit_hops"], events.crossbar_flits + events.overlay.crossbar_flits);
  EXPECT_EQ(json["total"]["reply_plane"]["flit_hops"], events.overlay.crossbar_flits);
}

TEST(Launches, GoOnAfterOneThatFailed) {
  TimingConfig config = dapper_system();
  auto test = gpu_with(config);
  const auto data = test->buffer(std::vector<std::uint32_t>(1024, 1));
  EXPECT_FALSE(test->try_launch("out_of_bounds", Grid{1, {1024, 1, 1}, {64, 1, 1}}, data,
                                std::uint32_t{1 << 28}));
  test->launch("add_one", 1024, 64, data);
  EXPECT_EQ(test->read<std::uint32_t>(data, 1024), std::vector<std::uint32_t>(1024, 2));
}

// --- packet traces ---

TEST(PacketTrace, OfALaunchIsReplayedAsItRan) {
  const auto folder = ScratchFolder::create("timing").value();
  const auto file = folder.path() / "packets";
  TimingConfig config = dapper_system();
  config.network.memory_nodes = default_memory_nodes(config.network, kChannels);
  config.packet_trace = file;
  TimingStats stats;
  {
    auto test = gpu_with(config);
    constexpr std::uint32_t kItems = 1U << 14;
    const auto x = test->buffer(std::vector<float>(kItems, 1.5F));
    const auto y = test->buffer(std::vector<float>(kItems, 0.25F));
    test->launch("saxpy", kItems, 256, y, x, 2.0F);
    stats = last(*test);
  }
  const auto trace = net::read_packets(file);
  ASSERT_TRUE(trace) << trace.error().text();
  const double requests =
      static_cast<double>(stats.read_requests.packets + stats.write_requests.packets);
  EXPECT_EQ(static_cast<double>(trace->packets.size()), 2 * requests);
  const double recorded = (stats.request_latency + stats.reply_latency) / 2;
  const auto replayed = [&](bool open_loop) {
    const auto network = net::make_network(config.network);
    EXPECT_TRUE(network);
    const auto run = net::replay_packets(**network, *trace, open_loop);
    EXPECT_TRUE(run) << run.error().text();
    return *run;
  };
  const net::RunResult open = replayed(true);
  EXPECT_NEAR(open.avg_packet_latency, recorded, 1e-9);
  const net::RunResult closed = replayed(false);
  EXPECT_NEAR(static_cast<double>(closed.cycles.value()), static_cast<double>(open.cycles.value()),
              0.02 * static_cast<double>(open.cycles.value()));
}

// --- settings ---

TEST(Settings, AreReadAsTheyAreWritten) {
  TimingConfig config = dapper_system();
  config.network.network = "mesh-adaptive";
  config.network.own<net::VcRouterConfig>().sw_allocator = net::Allocator::separable_input_first;
  config.network.memory_nodes = {0, 5, 10, 15};
  config.network.error_threshold = 0.15;
  config.dram.cl = 9;
  config.estimator = "mcpat";
  TimingConfig read;
  const auto status = read_timing(to_toml(config), "text", read);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(to_toml(read), to_toml(config));
}

TEST(Settings, ThatMakeNoSenseAreRefusedByName) {
  const auto refused = [](const std::string& text) {
    TimingRequest request;
    request.settings = text;
    request.origin = "settings.toml";
    const auto made = make_timing(test::load_chip("dapper").architecture(), request);
    if (!made) return made.error().text();
    const auto gpu = VirtualGpu::create(test::load_chip("dapper"), Options{.timing = *made});
    return gpu ? std::string("accepted") : gpu.error().text();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused("[network]\nerror_threshold = -0.1\n"), HasSubstr("error_threshold = -0.1"));
  EXPECT_THAT(refused("[approximation]\ndefault_threshold = 1.5\n"),
              HasSubstr("default_threshold"));
  EXPECT_THAT(refused("[system]\nmshrs = 0\n"), HasSubstr("mshrs = 0"));
  EXPECT_THAT(refused("[system]\nwrites = 2\nmshrs = 0\n"), HasSubstr("settings.toml:3"));
  for (const char* key : {"writes", "request_buffer", "fill_cycles", "l2_cycles", "l2_banks",
                          "l2_bank_cycles", "output_buffer"}) {
    EXPECT_THAT(refused("[system]\n" + std::string(key) + " = 0\n"), HasSubstr(key));
  }
  for (const char* key : {"banks", "burst", "rcd", "rp", "cl"}) {
    EXPECT_THAT(refused("[dram]\n" + std::string(key) + " = 0\n"), HasSubstr(key));
  }
  EXPECT_THAT(refused("[network]\nvcs = 1000\n"), HasSubstr("settings.toml:2"));
  EXPECT_THAT(refused("[system]\noutput_bufer = 66\n"), HasSubstr("settings.toml:2"));
  EXPECT_THAT(refused("[network]\nmemory_nodes = [0, 0, 1, 2]\n"), HasSubstr("memory_nodes"));
  EXPECT_THAT(refused("[network]\nmemory_nodes = [0, 1, 2]\n"), HasSubstr("memory_nodes"));
  EXPECT_THAT(refused("[network]\nmemory_nodes = [0, 1, 2, 99]\n"), HasSubstr("node 99"));
  EXPECT_THAT(refused("[network]\nmemory_nodes = [0, 1, 2, 3.5]\n"), HasSubstr("settings.toml:2"));
  EXPECT_THAT(refused("[network]\nnetwork = \"tube\"\n"), HasSubstr("tube"));
  EXPECT_THAT(refused("[network]\nwidth = 3\nheight = 3\n"), HasSubstr("width"));
  EXPECT_THAT(refused("[network]\nclasses = 1\n"), HasSubstr("classes"));
  const std::string dapper = "[network]\nnetwork = \"dapper\"\n";
  EXPECT_THAT(refused(dapper + "check_depth = 0\n"), HasSubstr("check_depth"));
  EXPECT_THAT(refused(dapper + "period = 20000\n"), HasSubstr("period"));
  EXPECT_THAT(refused(dapper + "memory_nodes = [0, 1, 8, 14]\n"), HasSubstr("row"));
  EXPECT_THAT(refused("[dram]\nqueue = 1\n"), HasSubstr("dram.queue"));
  EXPECT_THAT(refused("[system]\nline_bytes = 96\n"), HasSubstr("line_bytes = 96"));
  EXPECT_THAT(refused("[system]\nline_bytes = 128\n[dram]\nqueue = 3\n"), HasSubstr("dram.queue"));
  EXPECT_THAT(refused("[system]\nscalar_cache_bytes = -1\n"), HasSubstr("scalar_cache_bytes"));
  EXPECT_THAT(refused("[energy]\nestimator = \"abacus\"\n"), HasSubstr("abacus"));
  EXPECT_THAT(refused("[network\n"), HasSubstr("settings.toml:1"));
  EXPECT_EQ(refused(""), "accepted");
}

}  // namespace
}  // namespace ww::sim::gpu
