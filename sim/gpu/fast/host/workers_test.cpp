#include "fast/host/workers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>

namespace ww::sim::gpu::exec {
namespace {

TEST(Workers, ExecuteEachItemOnce) {
  Workers workers(3, [] { return false; });
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<std::atomic<int>> times(count);
    workers.run(
        count,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++times[i];
        },
        count % 2 == 0);
    for (const auto& each : times) EXPECT_EQ(each, 1);
  }
}

TEST(Workers, LeaveAllToTheCallerWhileTheyRest) {
  Workers workers(2, [] { return false; });
  EXPECT_FALSE(workers.alone());
  workers.rest(true);
  EXPECT_TRUE(workers.alone());
  workers.wake();
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int round = 0; round < 100; ++round) {
    workers.run(
        64,
        [&](std::size_t, std::size_t) {
          const std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        },
        true);
  }
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
  workers.rest(false);
  EXPECT_FALSE(workers.alone());
}

TEST(Workers, MeasureHowFarTheirCoresAreApart) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
  Workers workers(2, [] { return false; });
  std::int64_t round_trip = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (round_trip == 0 && std::chrono::steady_clock::now() < end) {
    workers.wake();
    std::this_thread::yield();
    round_trip = workers.round_trip_ns();
  }
  if (round_trip == 0) GTEST_SKIP() << "the machine is busy: no thread answered in ten seconds";
  EXPECT_EQ(workers.round_trip_ns(), round_trip) << "nothing was woken since";
}

TEST(Workers, HaveNobodyToAskWhereTheCallerIsTheOnlyThread) {
  Workers workers(1, [] { return false; });
  EXPECT_TRUE(workers.alone());
  EXPECT_EQ(workers.round_trip_ns(), 0);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
