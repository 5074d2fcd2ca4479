#include "ww/core/sensor_tolerances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ww/core/statistics.hpp"

namespace ww {
namespace {

// Ports of a W9100's L2 that lie 0.75 mm nearer to the middle than they are drawn, in x and y: the
// published distances change by 0.746 of what the true ones do, and the campaign measures 153.1.
TEST(ThroughScale, HasATruthWhoseScaleLiesWithinItsTolerance) {
  const double truth = 205.3;
  const Interval found = through_scale(0.746 * truth, 4, 0.27);
  EXPECT_LE(found.low, truth);
  EXPECT_GE(found.high, truth);
  EXPECT_LT(0.746 * truth * 1.27, truth) << "multiplied, it would not reach";
}

TEST(ThroughScale, IsTheQuotientByEitherEndWhereNothingIsAdded) {
  for (const double value : {-3.0, 0.5, 200.0}) {
    const Interval found = through_scale(value, 0, 0.25);
    EXPECT_NEAR(std::min(found.low, found.high), std::min(value / 1.25, value / 0.75), 1e-12);
    EXPECT_NEAR(std::max(found.low, found.high), std::max(value / 1.25, value / 0.75), 1e-12);
  }
}

TEST(ThroughScale, AddsInQuadratureWhereBothErrorsAreSmall) {
  const Interval found = through_scale(100, 0.3, 0.004);
  EXPECT_NEAR(found.high - 100, 0.5, 0.003);
  EXPECT_NEAR(100 - found.low, 0.5, 0.003);
  const Interval alone = through_scale(0, 2, 0.5);
  EXPECT_DOUBLE_EQ(alone.high, -alone.low);
}

TEST(ThroughScale, HasNoUpperEndWhereTheScaleMayBeNothing) {
  EXPECT_TRUE(std::isinf(through_scale(100, 1, 1).high));
  EXPECT_NEAR(through_scale(100, 0, 1).low, 50, 1e-9);
}

// 2,000 sensors with a gain, a distance scale and noise: as many intervals as stated have the
// truth.
TEST(ThroughScale, CoversAsOftenAsItSays) {
  std::mt19937_64 random(20261130);
  std::normal_distribution<double> normal;
  int covered = 0;
  int multiplied = 0;
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    const double half = 20;
    const double tolerance = 0.4;
    const double value =
        200 * (1 + tolerance / kNormal95 * normal(random)) + half / kNormal95 * normal(random);
    const Interval found = through_scale(value, half, tolerance);
    covered += found.low <= 200 && 200 <= found.high ? 1 : 0;
    multiplied += std::abs(value - 200) <= std::hypot(half, tolerance * value) ? 1 : 0;
  }
  EXPECT_NEAR(covered, 0.95 * kCount, 3 * std::sqrt(0.95 * 0.05 * kCount));
  EXPECT_LT(multiplied, 0.94 * kCount);
}

}  // namespace
}  // namespace ww
