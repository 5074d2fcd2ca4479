#include "machine/compute_unit/l1_cache.hpp"

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

// Two caches: one is given rows, the other their lines one by one. Other lines come between.
TEST(L1Cache, DoesWithARowWhatItDoesWithItsLinesOneByOne) {
  constexpr std::uint32_t kRow = L1Cache::kRow;
  L1Cache rows(4096, 4, 64);
  L1Cache lines(4096, 4, 64);
  ASSERT_TRUE(rows.has_rows());
  EXPECT_FALSE(L1Cache(4096, 8, 64).has_rows());
  std::uint32_t state = 3;
  unsigned allocated = 0;
  unsigned found_whole = 0;
  unsigned found_parts = 0;
  for (std::int64_t now = 0; now < 40000; now += 10) {
    if (now % 1000 == 0) {  // a launch begins
      rows.invalidate_all();
      lines.invalidate_all();
    }
    state = state * 1664525U + 1013904223U;
    const std::uint32_t first = (state >> 10) % 20 * kRow;
    if (now % 30 == 0) {
      const std::uint32_t wanted = first + (state >> 8) % kRow;
      ASSERT_EQ(rows.find_or_allocate(wanted, now).slot, lines.find_or_allocate(wanted, now).slot);
      continue;
    }
    if (now % 70 == 0) {
      rows.invalidate(first + 1);
      lines.invalidate(first + 1);
      continue;
    }
    const L1Cache::FoundRow found = rows.find_row(first);
    unsigned here = 0;
    for (std::uint32_t slot = 0; slot < lines.slots(); ++slot) {
      for (std::uint32_t i = 0; i < kRow; ++i) here += lines.holds(slot, first + i) ? 1U : 0U;
    }
    ASSERT_EQ(found.any, here != 0) << now;
    if (found.any && found.slot == L1Cache::kNone) {
      ++found_parts;  // a row that is no row: line by line
      for (std::uint32_t i = 0; i < kRow; ++i) {
        const auto [slot, hit] = rows.find_or_allocate(first + i, now + i);
        const auto other = lines.find_or_allocate(first + i, now + i);
        ASSERT_EQ(slot, other.slot) << now;
        ASSERT_EQ(hit, other.hit) << now;
      }
      continue;
    }
    std::uint32_t slots[kRow];
    std::int64_t times[kRow];
    if (found.any) {
      ++found_whole;
      rows.use_row(found.slot);
    } else {
      ++allocated;
      rows.allocate_row(first, now, slots);
    }
    std::int64_t latest = 0;
    for (std::uint32_t i = 0; i < kRow; ++i) {
      const auto [slot, hit] = lines.find_or_allocate(first + i, now + i);
      ASSERT_EQ(hit, found.any);
      ASSERT_EQ(slot, hit ? found.slot + i : slots[i]) << now;
      latest = std::max(latest, lines.ready(slot));
      times[i] = now + 100 + i * (state >> 9 & 7U);
    }
    if (found.any) {
      ASSERT_EQ(rows.row_ready(found.slot), latest);
      continue;
    }
    const std::int64_t departure = now % 20 == 0 ? now : now + 1;  // of these, or of others
    rows.row_filled(slots, first, departure, times);
    for (std::uint32_t i = 0; i < kRow; ++i) {
      lines.filled(slots[i], first + i, departure + i, times[i]);
      ASSERT_EQ(rows.ready(slots[i]), lines.ready(slots[i])) << now;
      ASSERT_EQ(rows.fill_time(slots[i]), lines.fill_time(slots[i])) << now;
    }
  }
  EXPECT_GT(allocated, 100U);
  EXPECT_GT(found_whole, 100U);
  EXPECT_GT(found_parts, 100U);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
