#include "ww/sim/trace/cache_replay.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::trace {
namespace {

struct Wave {
  std::uint64_t base{};
  Operation operation{Operation::load};
  std::uint32_t group{};
  bool new_launch{};
};

// Each wave touches 256 B from its base on, four bytes a lane.
CacheTraffic traffic_of(const std::vector<Wave>& waves, const CacheShape& shape) {
  const auto folder = ScratchFolder::create("cache_replay").value();
  const auto file = folder.path() / "trace.wwt";
  auto writer = Writer::create(file, "test");
  EXPECT_TRUE(writer);
  (*writer)->launch({});
  for (const auto& wave : waves) {
    if (wave.new_launch) (*writer)->launch({});
    AccessView view;
    view.instruction = (*writer)->instruction({0, "x", wave.operation, 4, 4});
    view.group = wave.group;
    view.lanes = ~std::uint64_t{0};
    view.base = wave.base;
    view.stride = 4;
    (*writer)->access(view);
  }
  EXPECT_TRUE((*writer)->finish());
  auto reader = Reader::open(file);
  EXPECT_TRUE(reader);
  auto traffic = replay_through_caches(*reader, shape);
  EXPECT_TRUE(traffic);
  return *traffic;
}

TEST(CacheReplay, ServesASecondLoadOfTheSameLinesFromTheL1) {
  const auto traffic = traffic_of({{4096}, {4096}}, {});
  EXPECT_EQ(traffic.l1_accesses, 8U);
  EXPECT_EQ(traffic.l1_hits, 4U);
  EXPECT_EQ(traffic.l2_accesses(), 4U);
  EXPECT_EQ(traffic.memory_read_bytes, 256U);
}

TEST(CacheReplay, LosesTheL1AndKeepsTheL2BetweenLaunches) {
  const auto traffic = traffic_of({{4096}, {4096, Operation::load, 0, true}}, {});
  EXPECT_EQ(traffic.l1_hits, 0U);
  EXPECT_EQ(traffic.l2_accesses(), 8U);
  EXPECT_EQ(traffic.l2_misses, 4U);
}

TEST(CacheReplay, HasAnL1ForEachComputeUnit) {
  const auto traffic = traffic_of({{4096, Operation::load, 0}, {4096, Operation::load, 1}}, {});
  EXPECT_EQ(traffic.l1_hits, 0U);
}

TEST(CacheReplay, WritesBackOnlyWhatNoLongerFits) {
  CacheShape shape;
  shape.l2_bytes = 16 * 64;  // one line a channel
  shape.l2_ways = 1;
  // Two blocks of one channel, 16 x 256 B apart: each line of the second throws one of the first
  // out, and so do the lines of a block among themselves.
  const auto one = traffic_of({{0, Operation::store}}, {});
  EXPECT_EQ(one.memory_write_bytes, 0U);
  EXPECT_EQ(one.memory_read_bytes, 0U);
  const auto two = traffic_of({{0, Operation::store}, {4096, Operation::store}}, shape);
  EXPECT_EQ(two.memory_write_bytes, 7U * 64U);
}

TEST(CacheReplay, ALargerCacheNeverMovesMoreOfACyclicStream) {
  std::vector<Wave> waves;
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 32; ++i) waves.push_back({i * 256});  // 8 KiB, one compute unit
  }
  CacheShape small;
  small.l1_bytes = 4096;
  const auto little = traffic_of(waves, small);
  const auto much = traffic_of(waves, {});
  EXPECT_EQ(little.l2_accesses(), 3U * 128U);  // LRU: a cycle larger than the cache never hits
  EXPECT_EQ(much.l2_accesses(), 128U);
}

// gfx94: a read asks for 128 B and brings 128 B from memory; a store moves 64 B.
CacheShape wide_lines() {
  CacheShape shape;
  shape.l1_line_bytes = 128;
  shape.l2_line_bytes = 128;
  return shape;
}

TEST(CacheReplay, ReadsWholeLinesOf128BytesAndStores64) {
  const auto load = traffic_of({{4096}}, wide_lines());  // 256 B
  EXPECT_EQ(load.l2_reads, 2U);
  EXPECT_EQ(load.l1_l2_bytes(), 256);
  EXPECT_EQ(load.memory_read_bytes, 256U);
  // An access of 256 B from a line's middle on touches three lines of 128 B and four of 64 B.
  const auto beside = traffic_of({{4096 + 64}}, wide_lines());
  EXPECT_EQ(beside.l2_reads, 3U);
  EXPECT_EQ(beside.l1_l2_bytes(), 3 * 128);
  EXPECT_EQ(beside.memory_read_bytes, 3U * 128U);
  EXPECT_EQ(traffic_of({{4096 + 64}}, {}).l1_l2_bytes(), 256);
  const auto store = traffic_of({{4096 + 64, Operation::store}}, wide_lines());
  EXPECT_EQ(store.l2_writes, 4U);
  EXPECT_EQ(store.l1_l2_bytes(), 256);
  EXPECT_EQ(store.memory_read_bytes, 0U);
}

TEST(CacheReplay, FillsALineOf128BytesOfWhichAStoreWroteHalf) {
  // The store leaves halves of the first and the last line unwritten, which a load then brings.
  const auto traffic =
      traffic_of({{4096 + 64, Operation::store}, {4096 + 64, Operation::load}}, wide_lines());
  EXPECT_EQ(traffic.memory_read_bytes, 2U * 128U);
  CacheShape no_room = wide_lines();
  no_room.l2_bytes = 16 * 128;
  no_room.l2_ways = 1;
  // Bytes that were not written are not written back either.
  const auto evicted = traffic_of({{64, Operation::store}, {64 + 4096, Operation::store}}, no_room);
  EXPECT_EQ(evicted.memory_write_bytes % 64, 0U);
  EXPECT_LE(evicted.memory_write_bytes, 512U);
}

TEST(CacheReplay, RefusesLinesThatNoCacheHas) {
  const auto folder = ScratchFolder::create("cache_replay").value();
  const auto file = folder.path() / "trace.wwt";
  auto writer = Writer::create(file, "test");
  ASSERT_TRUE((*writer)->finish());
  for (const auto& [l1, l2] : {std::pair{96, 128}, std::pair{128, 64}, std::pair{256, 256}}) {
    auto reader = Reader::open(file);
    ASSERT_TRUE(reader);
    CacheShape shape;
    shape.l1_line_bytes = l1;
    shape.l2_line_bytes = l2;
    const auto traffic = replay_through_caches(*reader, shape);
    ASSERT_FALSE(traffic);
    EXPECT_EQ(traffic.error().code, ErrorCode::out_of_range);
  }
}

TEST(CacheReplay, GivesEachOfSeveralShapesWhatItGivesThatShapeAlone) {
  test::Folder folder;
  test::write(folder / "a.wwt", test::random_content(11, 20'000));
  std::vector<CacheShape> shapes(4);
  shapes[1].l1_bytes = 4096;
  shapes[2].l2_bytes = 64 * 1024;
  shapes[3] = wide_lines();
  auto reader = Reader::open(folder / "a.wwt");
  ASSERT_TRUE(reader);
  const auto together = replay_through_caches(*reader, shapes);
  ASSERT_TRUE(together);
  ASSERT_EQ(together->size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    auto again = Reader::open(folder / "a.wwt");
    ASSERT_TRUE(again);
    const auto alone = replay_through_caches(*again, shapes[i]);
    ASSERT_TRUE(alone);
    EXPECT_EQ(together->at(i), *alone) << i;
  }
  EXPECT_GT(together->at(1).l2_reads, together->at(0).l2_reads);
  EXPECT_GT(together->at(2).memory_read_bytes, together->at(0).memory_read_bytes);
}

// The least recently used line goes first; one that a store took out of the L1 leaves room.
TEST(CacheReplay, ReplacesTheLineThatWasUsedLongestAgo) {
  CacheShape two_lines;
  two_lines.l1_bytes = 8 * 64;  // four sets of two lines
  two_lines.l1_ways = 2;
  const auto hits = [&](const std::vector<Wave>& waves) {
    return traffic_of(waves, two_lines).l1_hits;
  };
  // Each wave fills one line in each of the four sets.
  EXPECT_EQ(hits({{0}, {256}, {0}, {512}, {0}}), 8U);    // 512 replaces 256
  EXPECT_EQ(hits({{0}, {256}, {0}, {512}, {256}}), 4U);  // so that 256 is gone
  EXPECT_EQ(hits({{0}, {256}, {0, Operation::store}, {512}, {256}}), 4U);
}

TEST(CacheReplay, RefusesACacheWithoutASet) {
  CacheShape shape;
  shape.l1_bytes = 64;
  const auto folder = ScratchFolder::create("cache_replay").value();
  const auto file = folder.path() / "trace.wwt";
  auto writer = Writer::create(file, "test");
  ASSERT_TRUE((*writer)->finish());
  auto empty = Reader::open(file);
  ASSERT_TRUE(empty);
  const auto traffic = replay_through_caches(*empty, shape);
  ASSERT_FALSE(traffic);
  EXPECT_EQ(traffic.error().code, ErrorCode::out_of_range);
}

}  // namespace
}  // namespace ww::sim::trace
