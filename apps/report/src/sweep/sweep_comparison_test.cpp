#include "sweep/sweep_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sweep/sweep_charts.hpp"

namespace ww::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// k x rate; metric "m" = factor * rate * k, and one that is 0.
SweepView grid(double factor, const std::vector<std::string>& rates = {"0.1", "0.2", "0.4"}) {
  SweepView view;
  view.table = {{"k", "rate"}, {"m", "none"}, {}};
  view.shown = 2;
  for (const std::string k : {"4", "8"}) {
    for (const auto& rate : rates) {
      view.table.rows.push_back(
          {view.table.rows.size(), {k, rate}, {factor * std::stod(rate) * std::stod(k), 0}});
      view.settled.push_back(true);
    }
  }
  return view;
}

// Returns the view with its axes in the other order.
SweepView turned(SweepView view) {
  std::swap(view.table.settings[0], view.table.settings[1]);
  for (auto& row : view.table.rows) std::swap(row.settings[0], row.settings[1]);
  return view;
}

TEST(SweepComparison, PairsPointsOfEqualSettings) {
  const auto first = grid(1);
  const auto second = turned(grid(1.25, {"0.4", "0.1", "0.8"}));
  const auto pairs = pair_points(first, second);
  ASSERT_TRUE(pairs) << pairs.error().text();
  EXPECT_THAT(pairs->metrics, ElementsAre("m", "none"));
  ASSERT_EQ(pairs->pairs.size(), 4U);
  for (const auto& [a, b] : pairs->pairs) {
    EXPECT_EQ(first.table.rows[a].settings[0], second.table.rows[b].settings[1]);
    EXPECT_EQ(first.table.rows[a].settings[1], second.table.rows[b].settings[0]);
  }
  EXPECT_THAT(pairs->only_first, ElementsAre(1, 4));   // rate 0.2
  EXPECT_THAT(pairs->only_second, ElementsAre(2, 5));  // rate 0.8
}

TEST(SweepComparison, DifferencesAreInPerCentOfTheFirst) {
  const auto first = grid(2);
  auto second = grid(1.5);
  second.settled[5] = false;
  second.table.rows[0].metrics[0].reset();
  const auto pairs = pair_points(first, second);
  ASSERT_TRUE(pairs);
  const auto between = differences(first, second, *pairs);
  EXPECT_THAT(between.table.metrics, ElementsAre("m: difference [%]", "none: difference [%]"));
  EXPECT_FALSE(between.table.rows[0].metrics[0]);  // no result in the second
  EXPECT_NEAR(*between.table.rows[1].metrics[0], -25, 1e-12);
  EXPECT_FALSE(between.table.rows[1].metrics[1]);  // nothing is no share of nothing
  EXPECT_TRUE(between.settled[4]);
  EXPECT_FALSE(between.settled[5]);
}

TEST(SweepComparison, DrawsDifferencesOverTheLongestAxis) {
  const auto first = grid(1);
  const auto second = grid(1.1);
  auto between = differences(first, second, *pair_points(first, second));
  choose_curves(between, {});
  const Plot plot = sweep_curves(between, 0);
  EXPECT_EQ(plot.title, "m: difference [%] over rate");
  ASSERT_EQ(plot.series.size(), 2U);
  ASSERT_EQ(plot.series[0].dots.size(), 3U);
  EXPECT_NEAR(plot.series[0].dots[2].y, 10, 1e-9);
}

TEST(SweepComparison, RefusesWhatHasNoEqualPointsByName) {
  const auto first = grid(1);
  auto second = grid(1);
  second.table.settings[0] = "vcs";
  const auto axes = pair_points(first, second);
  ASSERT_FALSE(axes);
  EXPECT_EQ(axes.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(axes.error().text(), HasSubstr("k"));
  EXPECT_THAT(axes.error().text(), HasSubstr("vcs"));

  const auto apart = pair_points(first, grid(1, {"0.3"}));
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().text(), HasSubstr("no point is in both"));

  second = grid(1);
  second.table.metrics = {"x", "y"};
  const auto metrics = pair_points(first, second);
  ASSERT_FALSE(metrics);
  EXPECT_THAT(metrics.error().text(), HasSubstr("--metric"));
}

}  // namespace
}  // namespace ww::report
