#include "caches/cache_figures.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <list>
#include <nlohmann/json.hpp>
#include <vector>

namespace ww::microbench {
namespace {

// Share of hits of a second walk through a set-associative cache with the oldest line replaced.
HitShare cache_of(std::int64_t bytes, std::int64_t line, std::int64_t ways) {
  return [=](std::int64_t step, std::int64_t loads) -> Result<double> {
    const std::int64_t sets = bytes / line / ways;
    std::vector<std::list<std::int64_t>> content(static_cast<std::size_t>(sets));
    std::int64_t hits = 0;
    for (int walk = 0; walk < 2; ++walk) {
      for (std::int64_t i = 0; i < loads; ++i) {
        const std::int64_t tag = i * step / line;
        auto& set = content[static_cast<std::size_t>(tag % sets)];
        const auto before = set.size();
        set.remove(tag);
        if (walk == 1 && set.size() != before) ++hits;
        set.push_front(tag);
        if (std::ssize(set) > ways) set.pop_back();
      }
    }
    return static_cast<double>(hits) / static_cast<double>(loads);
  };
}

TEST(FindSize, IsTheCachesWithinTwoPercent) {
  for (const std::int64_t bytes : {8192, 16384, 49152}) {
    const auto size = find_size(cache_of(bytes, 64, 4), 64, 256 << 10).value();
    ASSERT_TRUE(size.value) << size.reason;
    EXPECT_NEAR(*size.value, static_cast<double>(bytes), 0.02 * static_cast<double>(bytes));
    EXPECT_GT(size.confidence, 0.9);
  }
}

TEST(FindSize, HasAReasonWhereNoLoadMisses) {
  const auto size = find_size([](auto, auto) -> Result<double> { return 1.0; }, 64, 4096).value();
  EXPECT_FALSE(size.value);
  EXPECT_EQ(size.reason, "no load misses within 4096 B");
  EXPECT_FALSE(find_size([](auto, auto) -> Result<double> { return 0.0; }, 64, 4096).value().value);
}

TEST(FindLine, TellsLinesFromHalvesAndQuartersOfThem) {
  for (const std::int64_t length : {64, 128, 256}) {
    const auto line = find_line(cache_of(16384, length, 4), 16384, 64).value();
    ASSERT_TRUE(line.value) << line.reason;
    EXPECT_EQ(*line.value, static_cast<double>(length));
    EXPECT_GT(line.confidence, 0.9);
  }
  EXPECT_FALSE(find_line(cache_of(16384, 1024, 4), 16384, 64).value().value);
}

TEST(FindFetch, IsTheDistanceOfLateLoads) {
  std::vector<double> ticks(256, 120.0);
  for (std::size_t i = 3; i < ticks.size(); i += 16) ticks[i] = 300.0;
  ticks[40] = 310;  // a refresh
  std::optional<double> penalty;
  const CacheFigure fetch = find_fetch(ticks, 200, penalty);
  ASSERT_TRUE(fetch.value) << fetch.reason;
  EXPECT_EQ(*fetch.value, 64);
  EXPECT_GT(fetch.confidence, 0.8);
  EXPECT_NEAR(penalty.value(), 180, 1);
  EXPECT_FALSE(find_fetch(std::vector<double>(256, 120.0), 200, penalty).value);
}

TEST(LatencyOf, HasMeanAndPercentiles) {
  std::vector<double> ticks(100, 100);
  for (std::size_t i = 90; i < 100; ++i) ticks[i] = 200;
  const LoadLatency latency = latency_of(ticks);
  EXPECT_DOUBLE_EQ(latency.mean_cycles, 110);
  EXPECT_EQ(latency.p50_cycles, 100);
  EXPECT_EQ(latency.p95_cycles, 200);
  EXPECT_DOUBLE_EQ(latency.stdev_cycles, 30);
  EXPECT_FALSE(latency_of({}).found);
}

TEST(Caches, RoundTripThroughJson) {
  Caches caches;
  caches.l1.latency = latency_of({120, 124, 128});
  caches.l1.size_bytes = {16384.0, "", 0.97};
  caches.l2.line_bytes.reason = "chains do not fit";
  caches.l2.miss_penalty_cycles = 412.5;
  const auto again = caches_from_json(to_json(caches));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(*again), to_json(caches));
  auto broken = to_json(caches);
  broken["l2"].erase("latency");
  EXPECT_NE(caches_from_json(broken).error().message.find("l2.latency"), std::string::npos);
}

}  // namespace
}  // namespace ww::microbench
