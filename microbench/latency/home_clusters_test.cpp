#include "latency/home_clusters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ww::microbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Engines of eight places in the corners, channels around the quadrants' middles; channel c is in
// quadrant c % 4.
LatencyTable corners(double noise, double spread) {
  std::mt19937 generator(3);
  std::normal_distribution<double> error(0, 1);
  LatencyTable table;
  for (int place = 0; place < 32; ++place) {
    const double x = (place / 8 % 2 == 0 ? -8.0 : 8.0) + place % 4;
    const double y = (place / 8 < 2 ? -8.0 : 8.0) + place / 4 % 2;
    auto& row = table.emplace_back();
    for (int channel = 0; channel < 16; ++channel) {
      const double at_x = (channel % 2 == 0 ? -4.0 : 4.0) + spread * (channel / 4 % 2);
      const double at_y = (channel % 4 < 2 ? -4.0 : 4.0) + spread * (channel < 8 ? 0.0 : 1.0);
      row.push_back(200 + 3.0 * place + 5.0 * (channel % 3) + std::abs(x - at_x) +
                    std::abs(y - at_y) + noise * error(generator));
    }
  }
  return table;
}

// Channels at these points of a line, seen from places spaced evenly over it.
LatencyTable on_a_line(int places, double length, const std::vector<double>& channels) {
  LatencyTable table;
  for (int place = 0; place < places; ++place) {
    auto& row = table.emplace_back();
    for (const double at : channels) {
      row.push_back(100 + std::abs(at - length * place / (places - 1)));
    }
  }
  return table;
}

TEST(HomeClusters, AreTheQuadrantsWhateverPlacesAndChannelsTakeOfTheirOwn) {
  const HomeClusters clusters = cluster_channels(corners(0.1, 1.0), 0.1);
  ASSERT_TRUE(clusters.found) << clusters.reason;
  EXPECT_THAT(clusters.members, ElementsAre(ElementsAre(0, 4, 8, 12), ElementsAre(1, 5, 9, 13),
                                            ElementsAre(2, 6, 10, 14), ElementsAre(3, 7, 11, 15)));
  EXPECT_GT(clusters.separation, 1.5);
}

TEST(HomeClusters, AreRefusedWithinTheNoise) {
  const HomeClusters clusters = cluster_channels(corners(8.0, 1.0), 8.0);
  EXPECT_FALSE(clusters.found);
  EXPECT_FALSE(clusters.reason.empty());
}

// RDNA 3's slices stand at three places: four homes would have lines of two of them.
TEST(HomeClusters, AreThreeWhereChannelsStandAtThreePlaces) {
  const LatencyTable table = on_a_line(12, 22, {0, 1, 2, 3, 9, 10, 11, 12, 19, 20, 21, 22});
  const HomeClusters clusters = cluster_channels(table, 0.1);
  ASSERT_TRUE(clusters.found) << clusters.reason;
  EXPECT_THAT(clusters.members, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7),
                                            ElementsAre(8, 9, 10, 11)));
  EXPECT_GT(clusters.separation, 1.0);
}

// A line without gaps has no number of its own.
TEST(HomeClusters, AreFourWhereChannelsStandEvenly) {
  const LatencyTable table = on_a_line(12, 22, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22});
  const HomeClusters clusters = cluster_channels(table, 0.1);
  ASSERT_TRUE(clusters.found) << clusters.reason;
  EXPECT_THAT(clusters.members, ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5),
                                            ElementsAre(6, 7, 8), ElementsAre(9, 10, 11)));
}

// Three channels at one place cannot be two homes.
TEST(HomeClusters, AreRefusedWhereChannelsOfOnePlaceWouldBeParted) {
  // Three at one end, two in the middle of the way, three at the other end.
  const LatencyTable table = on_a_line(8, 10, {0, 0, 0, 5, 10, 10, 10, 5});
  const HomeClusters clusters = cluster_channels(table, 0.01);
  EXPECT_FALSE(clusters.found);
  EXPECT_THAT(clusters.reason, HasSubstr("differ by 0.00 ticks"));
}

// Two pairs on one side and four channels evenly spaced on the other: which two of those are a home
// makes next to no difference where the middle ones lie close.
TEST(HomeClusters, AreRefusedWhereAnotherGroupingDoesAsWell) {
  const LatencyTable table = on_a_line(9, 18, {0, 0.2, 3, 3.2, 10, 13.99, 14, 18});
  const HomeClusters clusters = cluster_channels(table, 0.001);
  EXPECT_FALSE(clusters.found);
  EXPECT_THAT(clusters.reason, HasSubstr("another grouping"));
}

}  // namespace
}  // namespace ww::microbench
