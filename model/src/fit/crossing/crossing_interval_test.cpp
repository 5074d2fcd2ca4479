// Propagation of distributions against what is known in closed form.
#include "fit/crossing/crossing_interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

constexpr double kScatter = 0.01;  // of the half-width, by the number of draws

double half_of(const std::pair<double, double>& ends) {
  return (ends.second - ends.first) / 2;
}

TEST(CrossingInterval, OfNoiseAloneIsStudentsT) {
  for (const int freedom : {1, 4, 30}) {
    const double half = half_of(CrossingDraws(freedom).interval(1, 0.01, {}));
    EXPECT_NEAR(half / (t_quantile_95(freedom) * 0.01), 1, 3 * kScatter) << freedom;
  }
}

TEST(CrossingInterval, OfALimitAloneIsNineteenTwentiethsOfIt) {
  const CrossingDraws draws(4);
  EXPECT_NEAR(half_of(draws.interval(1, 0, {.clock = 0.1})), 0.095, 0.1 * kScatter);
  EXPECT_NEAR(half_of(draws.interval(1, 0, {.bend = 0.1})), 0.095, 0.1 * kScatter);
  EXPECT_NEAR(half_of(draws.interval(1, 0, {.asleep = 0.1})), 0.095, 0.1 * kScatter);
}

// Two rectangles of one width make a triangle of twice that width.
TEST(CrossingInterval, OfTwoEqualLimitsIsThatOfATriangle) {
  const double half = half_of(CrossingDraws(4).interval(1, 0, {.bend = 0.1, .asleep = 0.1}));
  EXPECT_NEAR(half, 0.2 * (1 - std::sqrt(0.05)), 0.2 * kScatter);
}

TEST(CrossingInterval, OfAPriorsDeviationIsNormal) {
  EXPECT_NEAR(half_of(CrossingDraws(4).interval(1, 0, {.heat = 0.1})), 0.196, 0.2 * kScatter);
}

TEST(CrossingInterval, OfAGainReachesFartherUpThanDown) {
  const auto [low, high] = CrossingDraws(4).interval(2, 0, {.gain = 0.2});
  EXPECT_NEAR(low, 2 / 1.2, 2 * 0.2 * kScatter);
  EXPECT_NEAR(high, 2 / 0.8, 2 * 0.3 * kScatter);
}

TEST(CrossingInterval, OfGainAndRegulatorIsTheirProducts) {
  const auto [low, high] = CrossingDraws(4).interval(1, 0, {.gain = 0.06, .regulator = 0.08});
  EXPECT_NEAR(low, 1 / 1.1, 0.1 * kScatter + 0.002);
  EXPECT_NEAR(high, 1 / 0.9, 0.1 * kScatter + 0.002);
}

TEST(CrossingInterval, OfZeroIsSymmetricWhateverTheGain) {
  const auto [low, high] = CrossingDraws(4).interval(0, 0.1, {.gain = 0.2});
  EXPECT_NEAR(low, -high, 0.3 * kScatter);
}

TEST(CrossingInterval, IsRefusedWhereAllOfItLiesBelowZero) {
  const auto why = why_below_zero(-2e-12, -1.5e-12);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("[-2, -1.5] pJ lies below zero"), std::string::npos) << *why;
  EXPECT_FALSE(why_below_zero(-2e-12, 0));
  EXPECT_FALSE(why_below_zero(-2e-12, 1e-12));
  EXPECT_FALSE(why_below_zero(1e-12, 2e-12));
}

}  // namespace
}  // namespace ww::model
