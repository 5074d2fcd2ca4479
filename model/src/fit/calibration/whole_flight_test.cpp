// Bounds of a way's whole flight, where only differences of latencies are flight for certain.
#include "fit/calibration/whole_flight.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace ww::model {
namespace {

MeasuredPaths paths_of(std::vector<std::vector<double>> flight_ns) {
  MeasuredPaths paths;
  paths.channels.assign(flight_ns.front().size(), 4);
  paths.flight_ns = std::move(flight_ns);
  return paths;
}

TEST(WholeFlight, IsAtLeastWhatTheFarPairsAreBehindTheNearOnes) {
  // Near pairs on the diagonal: whatever engines and homes add, the others fly 3 ns longer, and
  // half of the pairs are far ones.
  EXPECT_NEAR(least_whole_flight_ns(paths_of({{100, 105}, {111, 110}})), 1.5, 1e-12);
}

TEST(WholeFlight, LosesTheErrorOfLatenciesFromItsLowerBound) {
  auto paths = paths_of({{100, 105}, {111, 110}});
  paths.resolution_ns = 0.5;
  EXPECT_LT(least_whole_flight_ns(paths), 1.2);
  paths.resolution_ns = 5;
  EXPECT_EQ(least_whole_flight_ns(paths), 0);
}

TEST(WholeFlight, IsNeverLessThanItsLowerBoundWhateverEnginesAndHomesAdd) {
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> ns(0, 5);
  for (int i = 0; i < 300; ++i) {
    const std::size_t engines = 2 + random() % 7;
    const std::size_t homes = 2 + random() % 4;
    std::vector<double> of_home(homes);
    for (double& value : of_home) value = 20 * ns(random);
    double mean = 0;
    std::vector<std::vector<double>> latency(engines);
    for (auto& row : latency) {
      const double of_engine = 100 + 20 * ns(random);
      for (std::size_t h = 0; h < homes; ++h) {
        const double flight = ns(random);
        mean += flight / static_cast<double>(engines * homes);
        row.push_back(of_engine + of_home[h] + flight);
      }
    }
    const double least = least_whole_flight_ns(paths_of(latency));
    EXPECT_LE(least, mean + 1e-9) << engines << " engines, " << homes << " homes";
    EXPECT_GE(least, 0);
  }
}

TEST(WholeFlight, IsAtMostWhatTheWholeChipDrawsForRandomPayload) {
  const auto paths = paths_of({{100, 105}, {111, 110}});
  const auto bounds = bound_whole_flight(paths, std::array{390.0, 400.0, 400.0, 410.0}, 100);
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->low_ns, 1.5, 1e-12);
  // 400 fJ are 4 ns of 100 fJ; the pairs' scatter comes on top.
  EXPECT_GT(bounds->high_ns, 4.0);
  EXPECT_LT(bounds->high_ns, 4.2);
}

TEST(WholeFlight, HasNoBoundsWhereRandomPayloadCostsNoMoreAlongTheWay) {
  const auto paths = paths_of({{100, 105}, {111, 110}});
  EXPECT_FALSE(bound_whole_flight(paths, std::array{390.0, 410.0}, 0));
  EXPECT_FALSE(bound_whole_flight(paths, std::array{390.0}, 100));
  // 1 ns at most and 1.5 ns at least cannot both be.
  EXPECT_FALSE(bound_whole_flight(paths, std::array{100.0, 100.0}, 100));
}

}  // namespace
}  // namespace ww::model
