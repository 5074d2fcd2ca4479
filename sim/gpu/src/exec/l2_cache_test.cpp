#include "exec/l2_cache.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu::exec {
namespace {

// Lines of one channel and set: channel 0 repeats every 16 * 256 bytes, its 64 sets every 16
// blocks.
std::uint32_t in_set(std::uint32_t n) {
  return n * 64 * 16;
}

TEST(L2Cache, InterleavesChannelsBy256Bytes) {
  const L2Cache l2{Architecture{}};
  EXPECT_EQ(l2.channel(0), 0);
  EXPECT_EQ(l2.channel(3), 0);
  EXPECT_EQ(l2.channel(4), 1);
  EXPECT_EQ(l2.channel(63), 15);
  EXPECT_EQ(l2.channel(64), 0);
}

TEST(L2Cache, HitsWhatItHoldsAndEvictsTheLeastRecent) {
  L2Cache l2{Architecture{}};
  for (std::uint32_t n = 0; n < 16; ++n) EXPECT_FALSE(l2.read(in_set(n)).hit);
  for (std::uint32_t n = 0; n < 16; ++n) EXPECT_TRUE(l2.read(in_set(n)).hit);
  EXPECT_TRUE(l2.read(in_set(0)).hit);
  EXPECT_FALSE(l2.read(in_set(16)).hit);  // in place of line 1
  EXPECT_TRUE(l2.read(in_set(0)).hit);
  EXPECT_FALSE(l2.read(in_set(1)).hit);
}

TEST(L2Cache, HoldsItsWholeSize) {
  L2Cache l2{Architecture{}};
  for (std::uint32_t line = 0; line < 16384; ++line) EXPECT_TRUE(l2.read(line).fill);
  for (std::uint32_t line = 0; line < 16384; ++line) EXPECT_TRUE(l2.read(line).hit);
}

TEST(L2Cache, WritesDirtyLinesBackAndNoOthers) {
  L2Cache l2{Architecture{}};
  EXPECT_FALSE(l2.write(in_set(0), ~std::uint64_t{0}).fill);
  for (std::uint32_t n = 1; n < 16; ++n) l2.read(in_set(n));
  const auto access = l2.read(in_set(16));
  EXPECT_TRUE(access.writeback);
  EXPECT_EQ(access.victim, in_set(0));
  EXPECT_FALSE(l2.read(in_set(17)).writeback);
}

TEST(L2Cache, ForetellsWhatAMissWillWriteBack) {
  L2Cache l2{Architecture{}};
  l2.write(in_set(0), ~std::uint64_t{0});
  for (std::uint32_t n = 1; n < 16; ++n) l2.read(in_set(n));
  const auto victim_of = [&l2](std::uint32_t line) {
    std::uint32_t victim = L2Cache::kNone;
    l2.look_for_victims(line, 1, &victim);
    return victim;
  };
  EXPECT_EQ(victim_of(in_set(7)), L2Cache::kNone);  // is here
  const std::uint32_t slot = victim_of(in_set(16));
  ASSERT_NE(slot, L2Cache::kNone);
  EXPECT_EQ(l2.to_write_back(slot), in_set(0));
  EXPECT_EQ(l2.read(in_set(16)).victim, in_set(0));
  EXPECT_EQ(l2.to_write_back(slot), L2Cache::kNone);
}

TEST(L2Cache, FillsALineThatWasWrittenInPartWhenItIsRead) {
  L2Cache l2{Architecture{}};
  l2.write(5, 0xFF);
  EXPECT_TRUE(l2.write(5, 0xFF00).hit);
  const auto access = l2.read(5);
  EXPECT_FALSE(access.hit);
  EXPECT_TRUE(access.fill);
  EXPECT_TRUE(l2.read(5).hit);
  l2.write(6, 0xFFFFFFFF);
  l2.write(6, 0xFFFFFFFF00000000);
  EXPECT_TRUE(l2.read(6).hit);  // whole by now
}

TEST(L2Cache, BehavesAlikeAfterSnapshotAndRestore) {
  L2Cache l2{Architecture{}};
  std::uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 12 & 0x7FFF; };
  for (int i = 0; i < 50000; ++i) i % 5 == 0 ? l2.write(next(), 0xF0) : l2.read(next());
  const auto snapshot = l2.snapshot();
  L2Cache copy{Architecture{}};
  copy.restore(*snapshot);
  EXPECT_EQ(copy.snapshot()->hash, snapshot->hash);
  for (int i = 0; i < 50000; ++i) {
    const std::uint32_t line = next();
    const auto a = l2.read(line);
    const auto b = copy.read(line);
    ASSERT_EQ(a.hit, b.hit);
    ASSERT_EQ(a.writeback, b.writeback);
    ASSERT_EQ(a.victim, b.victim);
  }
  EXPECT_EQ(copy.snapshot()->hash, l2.snapshot()->hash);
  EXPECT_NE(copy.snapshot()->hash, snapshot->hash);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
