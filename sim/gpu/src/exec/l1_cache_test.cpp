#include "exec/l1_cache.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ww::sim::gpu::exec
