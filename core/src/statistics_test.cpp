#include "ww/core/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ww {
namespace {

// Values of a standard table (Abramowitz and Stegun, table 26.10).
TEST(StudentsT, MatchesTheTableOfItsTwoSidedQuantiles) {
  EXPECT_NEAR(t_quantile_95(1), 12.706, 1e-3);
  EXPECT_NEAR(t_quantile_95(2), 4.303, 1e-3);
  EXPECT_NEAR(t_quantile_95(3), 3.182, 1e-3);
  EXPECT_NEAR(t_quantile_95(8), 2.306, 1e-3);
  EXPECT_NEAR(t_quantile_95(9), 2.262, 1e-3);
  EXPECT_NEAR(t_quantile_95(30), 2.042, 1e-3);
  EXPECT_NEAR(t_quantile_95(120), 1.980, 1e-3);
  EXPECT_NEAR(t_quantile_95(1e9), 1.960, 1e-3);
  EXPECT_NEAR(t_quantile(0.99, 1), 63.657, 1e-3);
  EXPECT_NEAR(t_quantile(0.99, 10), 3.169, 1e-3);
  EXPECT_NEAR(t_quantile(0.99, 120), 2.617, 1e-3);
  EXPECT_NEAR(t_quantile(0.99, 1e9), 2.576, 1e-3);
}

TEST(StudentsT, LiesBetweenItsNeighboursForAFractionOfADegree) {
  EXPECT_LT(t_quantile_95(3.5), t_quantile_95(3));
  EXPECT_GT(t_quantile_95(3.5), t_quantile_95(4));
}

TEST(StudentsT, IsInfiniteWithoutADegreeOfFreedom) {
  EXPECT_TRUE(std::isinf(t_quantile_95(0)));
  EXPECT_TRUE(std::isinf(t_quantile_95(-1)));
  EXPECT_TRUE(std::isinf(t_quantile_95(std::numeric_limits<double>::quiet_NaN())));
}

TEST(IncompleteBeta, IsAPolynomialForWholeNumbers) {
  // I_x(2, 3) = 6x^2 - 8x^3 + 3x^4.
  for (const double x : {0.1, 0.5, 0.9}) {
    EXPECT_NEAR(incomplete_beta(2, 3, x), 6 * x * x - 8 * x * x * x + 3 * x * x * x * x, 1e-13);
  }
  EXPECT_EQ(incomplete_beta(2, 3, -1), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 2), 1);
}

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median({}), 0);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5, 2}), 3.5);
}

}  // namespace
}  // namespace ww
