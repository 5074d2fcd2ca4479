#include "latency/latency_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;
using Table = std::vector<std::vector<double>>;

std::vector<Table> repeats_of(std::size_t places, std::size_t homes, double noise,
                              const std::function<double(std::size_t, std::size_t)>& truth) {
  std::mt19937 generator(7);
  std::normal_distribution<double> error(0, 1);
  std::vector<Table> repeats(5, Table(places, std::vector<double>(homes)));
  for (Table& repeat : repeats) {
    for (std::size_t p = 0; p < places; ++p) {
      for (std::size_t h = 0; h < homes; ++h) {
        repeat[p][h] = truth(p, h) + noise * error(generator);
      }
    }
  }
  return repeats;
}

TEST(Latencies, NameTheNearestPlace) {
  const auto map = latency_map(repeats_of(4, 16, 0.5, [](std::size_t p, std::size_t h) {
    const std::size_t nearest = h / 4;
    return 200.0 + 5.0 * std::abs(static_cast<double>(p) - static_cast<double>(nearest));
  }));
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_TRUE(map->found) << map->reason;
  for (std::size_t h = 0; h < 16; ++h) EXPECT_EQ(map->nearest_place[h], static_cast<int>(h / 4));
  EXPECT_NEAR(map->noise_ticks, 0.5 * 1.2533 / std::sqrt(5.0), 0.1);
}

TEST(Latencies, AreNotFoundBelowTheNoise) {
  const auto map = latency_map(repeats_of(
      4, 16, 20.0, [](std::size_t p, std::size_t h) { return 200.0 + (p == h / 4 ? 0.0 : 1.0); }));
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_FALSE(map->found);
  EXPECT_THAT(map->reason, HasSubstr("within the noise"));
}

TEST(Latencies, OffsetsOfPlacesAndHomesAreNoContrast) {
  const auto map = latency_map(repeats_of(8, 16, 0.2, [](std::size_t p, std::size_t h) {
    return 200.0 + 17.0 * static_cast<double>(p % 3) + 11.0 * static_cast<double>(h % 5);
  }));
  ASSERT_TRUE(map) << map.error().text();
  EXPECT_FALSE(map->found);
}

TEST(Latencies, NeedRepeatsOfOneShape) {
  EXPECT_EQ(latency_map({}).error().code, ErrorCode::invalid_argument);
  auto repeats = repeats_of(2, 2, 0, [](std::size_t, std::size_t) { return 1.0; });
  repeats.back().pop_back();
  EXPECT_EQ(latency_map(repeats).error().code, ErrorCode::invalid_argument);
}

// 132 SMs on two sides, with offsets of their own, as on an H100.
TEST(FindSides, TellsPlacesAndLinesApart) {
  const auto side_of_place = [](std::size_t p) { return p / 18 % 2; };
  const auto side_of_home = [](std::size_t h) { return (h * 7 + h / 3) % 2; };
  const auto map = latency_map(repeats_of(132, 96, 4.0, [&](std::size_t p, std::size_t h) {
    return 220.0 + 10.0 * static_cast<double>(p % 5) + 6.0 * static_cast<double>(h % 7) +
           (side_of_place(p) == side_of_home(h) ? 0.0 : 180.0);
  }));
  ASSERT_TRUE(map && map->found);
  std::vector<int> homes;
  const Sides sides = find_sides(*map, homes);
  ASSERT_TRUE(sides.found) << sides.reason;
  for (std::size_t p = 0; p < 132; ++p) {
    EXPECT_EQ(sides.side_of_place[p], static_cast<int>(side_of_place(p)));
  }
  for (std::size_t h = 0; h < 96; ++h) EXPECT_EQ(homes[h], static_cast<int>(side_of_home(h)));
  EXPECT_NEAR(sides.far_ticks - sides.near_ticks, 180.0, 8.0);
  EXPECT_GT(sides.explained, 0.95);
}

// Distances on a line have no two sides: places do not stand apart.
TEST(FindSides, RefusesContrastWithoutTwoSides) {
  const auto map = latency_map(repeats_of(64, 64, 0.5, [](std::size_t p, std::size_t h) {
    return 200.0 + 3.0 * std::abs(static_cast<double>(p) - static_cast<double>(h)) / 4;
  }));
  ASSERT_TRUE(map && map->found);
  std::vector<int> homes;
  const Sides sides = find_sides(*map, homes);
  EXPECT_FALSE(sides.found);
  EXPECT_THAT(sides.reason, HasSubstr("do not stand apart"));
}

}  // namespace
}  // namespace ww::microbench
