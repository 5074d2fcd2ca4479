#include "ww/session/link_traffic.hpp"

#include <gtest/gtest.h>

namespace ww::session {
namespace {

measure::NvidiaTraffic rates(double seconds, std::optional<double> memory,
                             std::optional<double> nvlink) {
  measure::NvidiaTraffic traffic;
  traffic.seconds = seconds;
  traffic.memory_at_most = memory;
  traffic.nvlink_sent = nvlink;
  return traffic;
}

TEST(MovedBytes, AreRatesTimesTime) {
  MovedBytes moved;
  moved.add(rates(2, 100, 0));
  moved.add(rates(0.5, 40, 10));
  EXPECT_EQ(moved.seconds, 2.5);
  EXPECT_EQ(moved.bytes.memory_at_most, 220);
  EXPECT_EQ(moved.bytes.nvlink_sent, 5);
  EXPECT_FALSE(moved.bytes.pcie_sent);
}

// A sum that lacks a stretch would be too low.
TEST(MovedBytes, AreAbsentWhereAStretchWasNotCounted) {
  MovedBytes moved;
  moved.add(rates(1, std::nullopt, 5));
  moved.add(rates(1, 100, std::nullopt));
  moved.add(rates(1, 100, 5));
  EXPECT_FALSE(moved.bytes.memory_at_most);
  EXPECT_FALSE(moved.bytes.nvlink_sent);
  EXPECT_EQ(moved.seconds, 3);
}

TEST(LinkTraffic, SaysWhyNothingWasCounted) {
  LinkTraffic traffic(fail(ErrorCode::unsupported, "before Hopper"));
  const MovedBytes moved = traffic.finish();
  EXPECT_EQ(moved.seconds, 0);
  EXPECT_EQ(moved.reason, "before Hopper");
}

}  // namespace
}  // namespace ww::session
