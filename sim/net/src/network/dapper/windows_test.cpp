// Equations (1) and (2) for A and B made by hand, and the order of windows within an epoch.
#include "network/dapper/windows.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace ww::sim::net {
namespace {

TEST(TimeWindows, FollowTheWeights) {
  // xi = 0.6 A + 0.4 B: 6 + 4 = 10, 12 + 8 = 20, 0 + 30 = 30, 36 + 4 = 40.
  const std::vector<McStats> stats{{10, 10}, {20, 20}, {0, 75}, {60, 10}};
  EXPECT_EQ(time_windows(stats, 0.6, 0.4, 1000, 16), (std::vector<int>{100, 200, 300, 400}));
}

TEST(TimeWindows, AddUpToThePeriod) {
  const std::vector<McStats> stats{{1, 0}, {1, 0}, {1, 0}};
  EXPECT_EQ(time_windows(stats, 0.6, 0.4, 1000, 16), (std::vector<int>{334, 333, 333}));
  const std::vector<McStats> odd{{3, 1}, {0.7, 2}, {9, 0.01}, {0, 0}, {5, 5}};
  for (const int period : {101, 997, 1000}) {
    const auto windows = time_windows(odd, 0.6, 0.4, period, 16);
    EXPECT_EQ(std::accumulate(windows.begin(), windows.end(), 0), period);
  }
}

TEST(TimeWindows, AreEqualWithoutTraffic) {
  const std::vector<McStats> none(4);
  EXPECT_EQ(time_windows(none, 0.6, 0.4, 1000, 16), (std::vector<int>{250, 250, 250, 250}));
}

TEST(TimeWindows, NobodyIsShutOut) {
  const std::vector<McStats> stats{{100, 0}, {0, 0}, {300, 0}, {0, 0}};
  EXPECT_EQ(time_windows(stats, 0.6, 0.4, 1000, 20), (std::vector<int>{240, 20, 720, 20}));
  EXPECT_EQ(time_windows(stats, 0.6, 0.4, 1000, 0), (std::vector<int>{250, 0, 750, 0}));
}

TEST(Epoch, RepeatsTheWindowsEachPeriod) {
  std::vector<Window> windows;
  lay_out_epoch(std::vector<int>{30, 0, 70}, 300, false, windows);
  ASSERT_EQ(windows.size(), 6U);
  EXPECT_EQ(windows[0].end, 30);
  EXPECT_EQ(windows[1].mc, 2U);
  EXPECT_EQ(windows[2].begin, 100);
  EXPECT_EQ(windows[5].end, 300);
  EXPECT_TRUE(windows[4].last_of_epoch);
  EXPECT_TRUE(windows[5].last_of_epoch);
  EXPECT_FALSE(windows[3].last_of_epoch);
}

TEST(Epoch, LiterallyTheCounterIsNeverReset) {
  std::vector<Window> windows;
  // Equal windows: after the first, every cycle switches to the next controller.
  lay_out_epoch(std::vector<int>{50, 50, 50, 50}, 200, true, windows);
  ASSERT_EQ(windows.size(), 151U);
  EXPECT_EQ(windows[0].mc, 1U);
  EXPECT_EQ(windows[0].end, 50);
  EXPECT_EQ(windows[1].end - windows[1].begin, 1);
  EXPECT_EQ(windows[1].mc, 2U);
  // A next window shorter than the last: its count has gone by, and it never ends.
  lay_out_epoch(std::vector<int>{10, 90, 40}, 200, true, windows);
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[1].mc, 2U);
  EXPECT_EQ(windows[1].end, 200);
}

}  // namespace
}  // namespace ww::sim::net
