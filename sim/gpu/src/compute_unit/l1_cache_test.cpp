#include "compute_unit/l1_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ww::sim::gpu::exec {
namespace {

constexpr std::uint32_t line = 7;

TEST(L1Cache, HasALinesDataWhenTheRequestForItIsAnswered) {
  L1Cache cache(4096, 4, 64);
  const std::uint32_t slot = cache.allocate(line, 10);
  EXPECT_EQ(cache.ready(slot), L1Cache::kPending);
  cache.filled(slot, line, 10, 200);
  EXPECT_EQ(cache.ready(slot), 200);
}

// A load, a store and a load of one line: the first load's answer comes before the store is done.
TEST(L1Cache, DoesNotTakeAnAnswerFromBeforeAStoreForTheOneBehindIt) {
  L1Cache cache(4096, 4, 64);
  const std::uint32_t before = cache.allocate(line, 10);
  cache.invalidate(line);
  const std::uint32_t behind = cache.allocate(line, 80);
  ASSERT_EQ(before, behind);
  cache.filled(before, line, 10, 200);
  EXPECT_EQ(cache.ready(behind), L1Cache::kPending);
  cache.filled(behind, line, 80, 300);
  EXPECT_EQ(cache.ready(behind), 300);
}

// Against ways that remember when they were used last; one that is thrown out is the next to be
// taken, the first of several.
TEST(L1Cache, TakesTheFirstEmptySlotElseTheLeastRecentOneWhateverItsShape) {
  struct Way {
    std::uint32_t line{L1Cache::kNone};
    int used{-1};
  };
  for (const int ways : {1, 3, 4, 8}) {
    constexpr std::uint32_t sets = 6;
    L1Cache cache(std::int64_t{64} * ways * sets, ways, 64);
    std::vector<std::vector<Way>> plain(sets, std::vector<Way>(static_cast<std::size_t>(ways)));
    std::uint32_t state = 5;
    for (int now = 0; now < 20000; ++now) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t wanted = (state >> 10) % (sets * static_cast<std::uint32_t>(ways) * 2);
      std::vector<Way>& set = plain[wanted % sets];
      const auto found =
          std::find_if(set.begin(), set.end(), [&](const Way& way) { return way.line == wanted; });
      if (now % 5 == 0) {
        cache.invalidate(wanted);
        if (found != set.end()) *found = Way{};
        continue;
      }
      const auto taken = found != set.end()
                             ? found
                             : std::min_element(set.begin(), set.end(),
                                                [](auto& a, auto& b) { return a.used < b.used; });
      const auto [slot, hit] = cache.find_or_allocate(wanted, now);
      ASSERT_EQ(hit, found != set.end()) << ways << " ways, " << now;
      ASSERT_EQ(slot % static_cast<std::uint32_t>(ways), taken - set.begin()) << ways << ' ' << now;
      *taken = {wanted, now};
    }
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
