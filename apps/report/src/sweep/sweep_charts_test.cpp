#include "sweep/sweep_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// network x k x rate; metric "m" = rate * k, and ten more on the second network.
SweepView grid(const std::vector<std::string>& ks = {"4", "8"}) {
  SweepView view;
  view.table = {{"network", "k", "rate"}, {"m", "cost"}, {}};
  view.shown = 1;
  for (const std::string network : {"a", "b"}) {
    for (const auto& k : ks) {
      for (const std::string rate : {"0.1", "0.2", "0.4"}) {
        const double m = std::stod(rate) * std::stod(k) + (network == "b" ? 10 : 0);
        view.table.rows.push_back({view.table.rows.size(), {network, k, rate}, {m, 100 - m}});
        view.settled.push_back(true);
      }
    }
  }
  return view;
}

TEST(SweepCurves, GoAlongTheLongestAxisOfNumbersAndTellTheOthersApart) {
  auto view = grid();
  choose_curves(view, {});
  EXPECT_THAT(view.over, ElementsAre(2));
  EXPECT_THAT(view.by, ElementsAre(0, 1));
  const Plot plot = sweep_curves(view, 0);
  ASSERT_EQ(plot.series.size(), 4U);
  EXPECT_EQ(plot.series[3].name, "network=b, k=8");
  ASSERT_EQ(plot.series[3].dots.size(), 3U);
  EXPECT_DOUBLE_EQ(plot.series[3].dots[2].x, 0.4);
  EXPECT_DOUBLE_EQ(plot.series[3].dots[2].y, 13.2);
}

TEST(SweepCurves, AverageWhatIsTooMuchToTellApart) {
  auto view = grid({"1", "2", "3", "4", "5"});
  view.over = {2};
  choose_curves(view, sweep::sensitivity(view.table, 0));
  EXPECT_THAT(view.by, ElementsAre(0));  // explains the most
  const Plot plot = sweep_curves(view, 0);
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_NEAR(plot.series[0].dots[0].y, 0.3, 1e-12);
  EXPECT_THAT(plot.description, HasSubstr("means over k"));
}

TEST(SweepCurves, LeaveOutAMeanThatLacksAPoint) {
  auto view = grid();
  view.over = {2};
  view.by = {0};
  view.settled[1] = false;                 // network a, k 4, rate 0.2
  view.table.rows[11].metrics[0].reset();  // network b, k 8, rate 0.4
  const Plot plot = sweep_curves(view, 0);
  EXPECT_EQ(plot.series[0].dots.size(), 2U);
  EXPECT_EQ(plot.series[1].dots.size(), 2U);
  EXPECT_THAT(plot.description, HasSubstr("2 are left out"));
}

TEST(FrontPlot, HoldsTheFrontApartFromTheOthers) {
  auto view = grid();
  view.goals = {{"m", false}, {"cost", false}};
  view.front = {0, 5};
  const Plot plot = front_plot(view);
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_EQ(plot.series[0].dots.size(), 10U);
  EXPECT_EQ(plot.series[1].dots.size(), 2U);
  EXPECT_THAT(plot.series[1].dots[0].hint, HasSubstr("rate="));
}

TEST(SweepEffects, LeaveUnstablePointsOut) {
  auto view = grid();
  auto effects = effects_of(view);
  ASSERT_EQ(effects.size(), 1U);
  EXPECT_EQ(effects[0].effects[0].axis, "network");
  view.settled.assign(view.settled.size(), false);
  EXPECT_TRUE(effects_of(view).empty());
  EXPECT_THAT(to_svg(effect_bars({})), HasSubstr("no data"));
}

}  // namespace
}  // namespace ww::report
