// Traces on networks: coalescer, L1, closed forms of a core alone, and what is refused.
#include "ww/sim/net/replay.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "replay/coalescer.hpp"
#include "replay/l1_model.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/simulate.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::net {
namespace {

namespace fs = std::filesystem;
using trace::Operation;

trace::Instruction dword(Operation operation) {
  return {0x100, "test", operation, 4, 4};
}

// Lanes at base + i * stride, all with the same value.
trace::Access strided(std::uint64_t base, std::uint64_t stride, std::uint64_t lanes = ~0ULL,
                      std::uint32_t value = 0) {
  trace::Access access;
  access.lanes = lanes;
  access.has_values = true;
  for (std::size_t lane = 0; lane < trace::kLanes; ++lane) {
    access.address[lane] = (lanes >> lane & 1) != 0 ? base + lane * stride : 0;
    std::memcpy(&access.value[lane * trace::kMaxValueBytes], &value, sizeof value);
  }
  return access;
}

TEST(Coalescer, AsksForEachLineOfAWaveOnce) {
  Coalescer coalescer(64, 64, 1);
  const auto load = dword(Operation::load);
  EXPECT_EQ(coalescer.coalesce(strided(0x1000, 4), load).size(), 4u);
  EXPECT_EQ(coalescer.coalesce(strided(0x1020, 4), load).size(), 5u);  // not aligned
  EXPECT_EQ(coalescer.coalesce(strided(0x1000, 64), load).size(), 64u);
  EXPECT_EQ(coalescer.coalesce(strided(0x1000, 0), load).size(), 1u);
  EXPECT_EQ(coalescer.coalesce(strided(0x1000, 4, 0x1), load).size(), 1u);
  // Every lane's word lies across two lines.
  EXPECT_EQ(coalescer.coalesce(strided(0x103E, 64, 0x3), load).size(), 3u);
}

TEST(Coalescer, NarrowerGroupsAndLongerLinesChangeTheCount) {
  Coalescer quarters(16, 64, 1);
  EXPECT_EQ(quarters.coalesce(strided(0x1000, 0), dword(Operation::load)).size(), 4u);
  Coalescer long_lines(64, 128, 1);
  EXPECT_EQ(long_lines.coalesce(strided(0x1000, 4), dword(Operation::load)).size(), 2u);
}

TEST(Coalescer, AStoreCarriesTheBytesItWrites) {
  Coalescer coalescer(64, 64, 1);
  auto access = strided(0x1000, 8, 0x7);  // three words, a gap between them
  for (std::uint32_t lane = 0; lane < 3; ++lane) {
    const std::uint32_t value = 0x01010101 * (lane + 1);
    std::memcpy(&access.value[lane * trace::kMaxValueBytes], &value, sizeof value);
  }
  const auto lines = coalescer.coalesce(access, dword(Operation::store));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].reply_bytes, 0);
  EXPECT_EQ(lines[0].known, 12);
  const std::vector<std::byte> expected{std::byte{1}, std::byte{1}, std::byte{1}, std::byte{1},
                                        std::byte{2}, std::byte{2}, std::byte{2}, std::byte{2},
                                        std::byte{3}, std::byte{3}, std::byte{3}, std::byte{3}};
  EXPECT_EQ(lines[0].data, expected);
}

TEST(Coalescer, ALoadsReplyHoldsWhatTheTraceHasShownOfTheLine) {
  Coalescer coalescer(64, 64, 1);
  static_cast<void>(
      coalescer.coalesce(strided(0x1000, 4, 0xFF, 0xAAAAAAAA), dword(Operation::store)));
  const auto lines =
      coalescer.coalesce(strided(0x1020, 4, 0x3, 0x55555555), dword(Operation::load));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].known, 32 + 8);
  EXPECT_EQ(lines[0].reply_bytes, 64);
  EXPECT_EQ(lines[0].data[0], std::byte{0xAA});
  EXPECT_EQ(lines[0].data[31], std::byte{0xAA});
  EXPECT_EQ(lines[0].data[32], std::byte{0x55});
}

TEST(Coalescer, AnAtomicCarriesEveryLanesOperandAndMakesMemoryUnknown) {
  Coalescer coalescer(64, 64, 1);
  static_cast<void>(coalescer.coalesce(strided(0x1000, 4, 0xFFFF), dword(Operation::store)));
  const auto atomics = coalescer.coalesce(strided(0x1000, 0), dword(Operation::atomic_return));
  ASSERT_EQ(atomics.size(), 1u);
  EXPECT_EQ(atomics[0].data.size(), 64u * 4u);
  EXPECT_EQ(atomics[0].reply_bytes, 64 * 4);
  const auto lines = coalescer.coalesce(strided(0x1008, 4, 0x1), dword(Operation::load));
  EXPECT_EQ(lines[0].known, 60);  // all but the word that the atomic changed
}

TEST(L1Model, KeepsTheMostRecentWaysOfASet) {
  L1Model l1(2, 2);
  using Found = L1Model::Found;
  EXPECT_EQ(l1.find(0), Found::miss);
  l1.allocate(0);
  EXPECT_EQ(l1.find(0), Found::under_way);
  l1.fill(0);
  EXPECT_EQ(l1.find(0), Found::there);
  l1.allocate(2);
  l1.allocate(1);  // the other set
  EXPECT_EQ(l1.find(0), Found::there);
  l1.allocate(4);  // 2 is the older one now
  EXPECT_EQ(l1.find(2), Found::miss);
  EXPECT_EQ(l1.find(0), Found::there);
  l1.invalidate(0);
  EXPECT_EQ(l1.find(0), Found::miss);
  l1.invalidate_all();
  EXPECT_EQ(l1.find(4), Found::miss);
}

// A trace file of a test, removed at its end.
class TraceFile {
 public:
  TraceFile() { writer_ = std::move(*trace::Writer::create(path_, "test")); }

  void launch() { writer_->launch(trace::Launch{launches_++, "kernel", {64, 1, 1}, {64, 1, 1}}); }
  void add(Operation operation, std::uint32_t group, std::uint64_t base, std::int64_t stride,
           const std::vector<std::uint32_t>& values = {}, std::uint64_t lanes = ~0ULL) {
    trace::AccessView view;
    view.instruction = writer_->instruction(dword(operation));
    view.group = group;
    view.lanes = lanes;
    view.base = base;
    view.stride = stride;
    if (!values.empty()) {
      view.values = reinterpret_cast<const std::byte*>(values.data());
      view.value_stride = sizeof(std::uint32_t);
    }
    writer_->access(view);
  }
  const fs::path& finish() {
    EXPECT_TRUE(writer_->finish());
    return path_;
  }

 private:
  ScratchFolder scratch_ = ScratchFolder::create("replay").value();
  fs::path path_ = scratch_.path() / "trace.wwt";
  std::unique_ptr<trace::Writer> writer_;
  std::uint64_t launches_{};
};

NetworkConfig two_classes(const std::string& name = "mesh") {
  NetworkConfig config;
  config.network = name;
  config.classes = 2;
  config.count_toggles = true;
  return config;
}

ReplayResult replay_file(const fs::path& file, const ReplayConfig& config = {},
                         const NetworkConfig& network_config = two_classes()) {
  auto network = make_network(network_config);
  EXPECT_TRUE(network) << network.error().text();
  auto reader = trace::Reader::open(file);
  EXPECT_TRUE(reader) << reader.error().text();
  auto result = replay(**network, *reader, config);
  EXPECT_TRUE(result) << result.error().text();
  EXPECT_EQ((*network)->packets_inside(), 0u);
  EXPECT_TRUE((*network)->check_conservation());
  return result ? *result : ReplayResult{};
}

TEST(Replay, OneRequestAtATimeTakesTheClosedFormsTime) {
  TraceFile file;
  file.launch();
  for (std::uint64_t i = 0; i < 10; ++i) {
    file.add(Operation::load, 0, 64 * i, 4, {}, 0x1);
  }
  ReplayConfig config;
  config.core_nodes = {0};
  config.memory_nodes = {15};
  config.max_outstanding = 1;
  const ReplayResult result = replay_file(file.finish(), config);
  EXPECT_EQ(result.stats.read_requests, 10u);
  // Seven routers each way; 8 bytes are one flit of 128 bits, 72 bytes are five.
  const double there = 4 * 7 + 2;
  const double back = 4 * 7 + 2 + 4;
  EXPECT_DOUBLE_EQ(result.stats.avg_round_trip, there + 100 + back);
  EXPECT_DOUBLE_EQ(result.run.avg_packet_latency, (there + back) / 2);
  EXPECT_EQ(result.run.window.ejected_flits, 10u * 6u);
}

TEST(Replay, RequestsUnderWayOverlapUpToTheBound) {
  TraceFile file;
  file.launch();
  file.add(Operation::load, 0, 0, 64);  // 64 lines
  const fs::path& path = file.finish();
  ReplayConfig config;
  config.core_nodes = {0};
  std::uint64_t last = ~std::uint64_t{0};
  for (const int bound : {1, 2, 8, 64}) {
    config.max_outstanding = bound;
    const std::uint64_t cycles = replay_file(path, config).run.cycles.value();
    EXPECT_LT(cycles, last);
    last = cycles;
  }
}

TEST(Replay, TheL1AnswersWhatItHoldsUntilAStoreThrowsItOut) {
  TraceFile file;
  file.launch();
  file.add(Operation::load, 0, 0, 4);   // four lines missed
  file.add(Operation::load, 0, 0, 4);   // hit
  file.add(Operation::store, 0, 0, 4);  // four written through
  file.add(Operation::load, 0, 0, 4);   // missed again
  file.add(Operation::load, 1, 0, 4);   // another core's L1
  file.add(Operation::atomic, 0, 0, 4);
  file.launch();
  file.add(Operation::load, 0, 0, 4);  // L1s are empty when a launch begins
  const ReplayResult result = replay_file(file.finish());
  EXPECT_EQ(result.stats.read_requests, 4u * 4u);
  EXPECT_EQ(result.stats.write_requests, 4u);
  EXPECT_EQ(result.stats.atomic_requests, 4u);
  EXPECT_EQ(result.stats.l1_loads, 20u);
  EXPECT_EQ(result.stats.l1_hits, 4u);
  EXPECT_DOUBLE_EQ(result.stats.l1_hit_rate(), 0.2);
  EXPECT_EQ(result.run.packets, 2 * result.stats.requests());
}

TEST(Replay, EveryNetworkAnswersEveryRequest) {
  TraceFile file;
  for (int launch = 0; launch < 2; ++launch) {
    file.launch();
    for (std::uint32_t group = 0; group < 40; ++group) {
      file.add(Operation::load, group, 4096 * group, 4, std::vector<std::uint32_t>(64, group));
      file.add(Operation::store, group, 1 << 20 | 256 * group, 4,
               std::vector<std::uint32_t>(64, ~group));
    }
  }
  const fs::path& path = file.finish();
  for (const std::string_view name : network_names()) {
    if (find_network(name)->set_size != nullptr) continue;  // its nodes are in a file
    const ReplayResult result = replay_file(path, {}, two_classes(std::string(name)));
    EXPECT_EQ(result.stats.requests(), 2u * 40u * 8u) << name;
    const ReplayResult again = replay_file(path, {}, two_classes(std::string(name)));
    EXPECT_EQ(result.run.cycles, again.run.cycles) << name;
    EXPECT_EQ(result.run.window.link_toggles, again.run.window.link_toggles) << name;
  }
}

TEST(Replay, CountsTheHopsOfRepliesOverCircuits) {
  TraceFile file;
  file.launch();
  file.add(Operation::load, 0, 0, 64);
  const ReplayResult result = replay_file(file.finish(), {}, two_classes("dapper"));
  const power::NetworkEvents& events = result.run.window;
  EXPECT_GT(events.overlay.crossbar_flits, 0u);
  EXPECT_EQ(result.run.flit_hops, events.crossbar_flits + events.overlay.crossbar_flits);
}

TEST(Replay, LinesGoToMemoryNodesByAddress) {
  TraceFile file;
  file.launch();
  for (std::uint64_t i = 0; i < 8; ++i) {
    file.add(Operation::load, 0, 1024 * i, 64, {}, 0xF);  // always the first 256 of 1,024 bytes
  }
  ReplayConfig config;
  config.core_nodes = {0};
  config.memory_nodes = {1, 2, 3, 4};
  // All lie at node 1, one link away: two routers each way.
  EXPECT_DOUBLE_EQ(replay_file(file.finish(), config).run.avg_hops, 2.0);
}

TEST(Replay, CountsRealTransitionsWhereTheTraceHasValues) {
  const auto toggles_with = [](const std::vector<std::uint32_t>& values) {
    TraceFile file;
    file.launch();
    for (std::uint64_t i = 0; i < 50; ++i) {
      file.add(Operation::store, 0, 256 * i, 4, values);
    }
    const ReplayResult result = replay_file(file.finish());
    EXPECT_EQ(result.stats.random_bytes, values.empty() ? 50u * 256u : 0u);
    EXPECT_EQ(result.run.window.toggles_counted, !values.empty());
    return result.run.window.link_toggles;
  };
  std::vector<std::uint32_t> alternating;
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    alternating.push_back((lane / 4) % 2 == 0 ? 0 : ~0u);  // a flit holds four words
  }
  const std::uint64_t zeros = toggles_with(std::vector<std::uint32_t>(64, 0));
  const std::uint64_t random = toggles_with({});
  EXPECT_LT(2 * zeros, random);
  EXPECT_GT(toggles_with(alternating), random);
}

TEST(Replay, ATruncatedTraceIsRefusedWithItsChunk) {
  TraceFile file;
  file.launch();
  for (std::uint32_t i = 0; i < 20000; ++i) {
    file.add(Operation::load, i, (i * 7919ULL) % 65536 * 64, 64, {i * 2654435761u}, 0x1);
  }
  const fs::path path = file.finish();
  fs::resize_file(path, fs::file_size(path) / 2);
  Simulation request;
  request.trace = path;
  const auto report = simulate(request);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::parse_error);
  EXPECT_NE(report.error().message.find("truncated"), std::string::npos);
  EXPECT_NE(report.error().text().find("chunk"), std::string::npos);
}

TEST(Replay, RefusalsNameTheKey) {
  const auto refused = [](auto change) {
    Simulation request;
    request.trace = "/nonexistent/trace.wwt";
    change(request);
    const auto report = simulate(request);
    EXPECT_FALSE(report);
    return report ? Error{} : report.error();
  };
  EXPECT_EQ(refused([](auto&) {}).code, ErrorCode::not_found);
  TraceFile empty;
  const fs::path& path = empty.finish();
  const auto key = [&](auto change) {
    return refused([&](Simulation& request) {
             request.trace = path;
             change(request);
           })
        .context;
  };
  EXPECT_EQ(key([](auto& r) { r.replay.coalesce_lanes = 0; }), "coalesce_lanes");
  EXPECT_EQ(key([](auto& r) { r.replay.coalesce_lanes = 48; }), "coalesce_lanes");
  EXPECT_EQ(key([](auto& r) { r.replay.line_bytes = 48; }), "line_bytes");
  EXPECT_EQ(key([](auto& r) { r.replay.l1_sets = 0; }), "l1_sets");
  EXPECT_EQ(key([](auto& r) { r.replay.l1_ways = 0; }), "l1_ways");
  EXPECT_EQ(key([](auto& r) { r.replay.interleave_bytes = 32; }), "interleave_bytes");
  EXPECT_EQ(key([](auto& r) { r.run.traffic.max_outstanding = -1; }), "max_outstanding");
  EXPECT_EQ(key([](auto& r) { r.run.traffic.memory_delay = 0; }), "memory_delay");
  EXPECT_EQ(key([](auto& r) { r.network.memory_nodes = {16}; }), "memory_nodes");
  EXPECT_EQ(key([](auto& r) { r.network.memory_nodes = {3, 3}; }), "memory_nodes");
  EXPECT_EQ(key([](auto& r) {
              r.network.memory_nodes = {3};
              r.run.traffic.core_nodes = {1, 3};
            }),
            "core_nodes");
  EXPECT_EQ(key([](auto& r) { r.network.classes = 1; }), "classes");
}

TEST(Replay, AnEmptyTraceEndsAtOnce) {
  TraceFile file;
  const ReplayResult result = replay_file(file.finish());
  EXPECT_EQ(result.run.cycles.value(), 0u);
  EXPECT_EQ(result.stats.requests(), 0u);
}

}  // namespace
}  // namespace ww::sim::net
