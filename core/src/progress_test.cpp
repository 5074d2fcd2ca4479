#include "ww/core/progress.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

TEST(Pace, CountsFromTheFirstReport) {
  Pace pace;
  EXPECT_FALSE(pace.rate().has_value());
  pace.report(10, 200);  // a resumed run: 200 were there
  EXPECT_FALSE(pace.rate().has_value());
  EXPECT_FALSE(pace.seconds_left(400).has_value());
  pace.report(20, 250);
  EXPECT_DOUBLE_EQ(pace.rate().value(), 5);
  EXPECT_DOUBLE_EQ(pace.seconds_left(400).value(), 30);
  EXPECT_DOUBLE_EQ(pace.seconds_left(240).value(), 0);
}

TEST(RateText, TakesTheUnitOfTimeThatReadsWell) {
  EXPECT_EQ(rate_text(3.21, "runs"), "3.2 runs/s");
  EXPECT_EQ(rate_text(120, "points"), "120 points/s");
  EXPECT_EQ(rate_text(0.5, "runs"), "30 runs/min");
  EXPECT_EQ(rate_text(0.005, "runs"), "18 runs/h");
}

}  // namespace
}  // namespace ww
