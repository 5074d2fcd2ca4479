#include "ww/model/attributed_parts.hpp"

#include <gtest/gtest.h>

namespace ww::model {
namespace {

// A constant of 60 W and one term of 40 W in the mean; in the second run the term takes 120 W.
Attribution two_coefficients() {
  Attribution attribution;
  attribution.coefficients.resize(2);
  attribution.coefficients[0].name = "static";
  attribution.coefficients[0].power_w = {60, 50, 70};
  attribution.coefficients[1].name = "l2";
  attribution.coefficients[1].part = "caches";
  attribution.coefficients[1].power_w = {40, 30, 50};
  attribution.sums.push_back({"static + l2", {0, 1}, {100, 95, 105}, RowStatus::ok, ""});
  attribution.parts.push_back({"caches", {1}, {40, 30, 50}, RowStatus::ok, ""});
  attribution.runs.resize(2);
  AttributedRun& run = attribution.runs[1];
  run.fitted_w = 180;
  run.coefficients_w = {{60, 50, 70}, {120, 90, 150}};
  run.sums_w = {{180, 175, 185}};
  run.parts_w = {{120, 90, 150}};
  return attribution;
}

TEST(AttributedParts, SharesAreOfTheMeanRunWhereNoRunIsNamed) {
  const auto parts = attributed_parts(two_coefficients());
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_DOUBLE_EQ(parts[0].share, 0.6);
  EXPECT_DOUBLE_EQ(parts[1].share, 0.4);
  EXPECT_EQ(parts[1].part, "caches");
  EXPECT_FALSE(parts[1].energy_j);
}

TEST(AttributedParts, ARunHasItsOwnWattsSharesAndJoules) {
  const Attribution attribution = two_coefficients();
  const auto parts = attributed_parts(attribution, &attribution.runs[1], 0.5);
  EXPECT_DOUBLE_EQ(parts[1].power_w.value, 120);
  EXPECT_DOUBLE_EQ(parts[1].share, 120.0 / 180);
  ASSERT_TRUE(parts[1].energy_j);
  EXPECT_DOUBLE_EQ(parts[1].energy_j->value, 60);
  EXPECT_DOUBLE_EQ(parts[1].energy_j->low, 45);
  EXPECT_DOUBLE_EQ(parts[1].energy_j->high, 75);
}

TEST(AttributedParts, SumsComeLastAndSayThatTheyAreSums) {
  const Attribution attribution = two_coefficients();
  const auto parts = attributed_parts(attribution, &attribution.runs[1]);
  EXPECT_FALSE(parts[1].is_sum);
  EXPECT_TRUE(parts[2].is_sum);
  EXPECT_EQ(parts[2].name, "static + l2");
  EXPECT_DOUBLE_EQ(parts[2].power_w.value, 180);
  EXPECT_EQ(parts[3].name, "caches, in all");
  EXPECT_DOUBLE_EQ(parts[3].power_w.value, 120);
}

}  // namespace
}  // namespace ww::model
