// Levels from staircases of latencies.
#include "caches/memory_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::microbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Treads end at these sizes; a set twice as large shows the next one.
Staircase staircase_of(const std::vector<std::pair<std::int64_t, double>>& treads, double past,
                       std::int64_t most) {
  Staircase staircase;
  staircase.past_l1_ticks = past;
  for (std::int64_t bytes = 4096; bytes <= most; bytes *= 2) {
    double ticks = treads.back().second;
    for (auto tread = treads.rbegin(); tread != treads.rend(); ++tread) {
      if (bytes <= tread->first) ticks = tread->second;
    }
    staircase.points.push_back({bytes, ticks + static_cast<double>(bytes / 4096 % 3)});
  }
  return staircase;
}

std::vector<std::string> names(const MemoryLevels& levels) {
  std::vector<std::string> names;
  for (const MemoryLevel& level : levels.found) names.push_back(level.name);
  return names;
}

constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;

TEST(MemoryLevels, AreATreadEach) {
  const auto levels =
      levels_of(staircase_of({{16 * kKiB, 120}, {kMiB, 250}, {16 * kMiB, 600}}, 250, 16 * kMiB));
  EXPECT_THAT(names(levels), ElementsAre("l1", "l2", "memory"));
  EXPECT_EQ(levels.found[0].to_bytes, 16 * kKiB);
  EXPECT_EQ(levels.found[1].to_bytes, kMiB);
  EXPECT_TRUE(levels.missing.empty());
  EXPECT_EQ(levels.found[2].from_bytes, 2 * kMiB);
}

TEST(MemoryLevels, BetweenTheL1AndTheL2AreNamedAndNotReported) {
  const auto levels = levels_of(staircase_of(
      {{16 * kKiB, 120}, {128 * kKiB, 180}, {4 * kMiB, 300}, {128 * kMiB, 480}, {kMiB << 9, 800}},
      300, kMiB << 9));
  EXPECT_THAT(names(levels), ElementsAre("l1", "l2", "cache", "memory"));
  ASSERT_EQ(levels.missing.size(), 1U);
  EXPECT_THAT(levels.missing[0].name, HasSubstr("128 KiB"));
  EXPECT_EQ(levels.found[3].from_bytes, 256 * kMiB);
}

TEST(MemoryLevels, WithoutAnL1ThatKeepsLoadsBeginWithTheL2) {
  const auto levels = levels_of(staircase_of({{kMiB, 250}, {16 * kMiB, 600}}, 255, 16 * kMiB));
  EXPECT_THAT(names(levels), ElementsAre("l2", "memory"));
  ASSERT_EQ(levels.missing.size(), 1U);
  EXPECT_EQ(levels.missing[0].name, "l1");
}

TEST(MemoryLevels, ThatLatencyDoesNotTellApartAreOne) {
  const auto same = levels_of(staircase_of(
      {{16 * kKiB, 120}, {kMiB, 250}, {8 * kMiB, 600}, {64 * kMiB, 640}}, 250, 64 * kMiB));
  EXPECT_THAT(names(same), ElementsAre("l1", "l2", "memory"));
  // No L2 where nothing takes as long as loads past the L1.
  const auto none = levels_of(staircase_of({{16 * kKiB, 120}, {kMiB, 250}}, 400, kMiB));
  EXPECT_TRUE(none.found.empty());
  EXPECT_THAT(none.missing.at(0).reason, HasSubstr("400 cycles"));
}

TEST(MemoryLevels, BehindTheL2NeedASetThatIsLargeEnough) {
  const auto levels = levels_of(staircase_of({{16 * kKiB, 120}, {kMiB, 250}}, 250, kMiB));
  EXPECT_THAT(names(levels), ElementsAre("l1", "l2"));
  EXPECT_THAT(levels.missing.at(0).reason, HasSubstr("no set of up to 1 MiB"));
}

}  // namespace
}  // namespace ww::microbench
