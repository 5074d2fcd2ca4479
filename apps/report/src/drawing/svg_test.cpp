#include "drawing/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ww::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Ticks, AreRoundAndInside) {
  EXPECT_THAT(ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  const auto found = ticks(-0.31, 0.44, 5);
  EXPECT_GE(found.size(), 3U);
  for (const double tick : found) {
    EXPECT_GE(tick, -0.31);
    EXPECT_LE(tick, 0.44);
  }
  EXPECT_TRUE(ticks(1, 1, 5).empty());
  EXPECT_TRUE(ticks(0, std::numeric_limits<double>::infinity(), 5).empty());
}

TEST(Svg, TextIsEscaped) {
  Plot plot;
  plot.title = "<script>";
  plot.description = "a & b";
  const std::string svg = to_svg(plot);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, HasSubstr("a &amp; b"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("no data"));
}

TEST(Svg, LeavesOutWhatIsNotFinite) {
  Plot plot;
  Series series;
  series.dots = {{1, 2, 0, {}}, {std::nan(""), 3, 0, {}}, {2, INFINITY, 0, {}}, {3, 5, 0, {}}};
  plot.series = {series};
  const std::string svg = to_svg(plot);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  std::size_t circles = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1)) {
    ++circles;
  }
  EXPECT_EQ(circles, 2U);
}

TEST(Legend, TakesFurtherRowsRatherThanRunOffThePage) {
  const std::vector<std::string> names(9, "router_leakage_and_more");
  const auto places = place_keys(names, 60, 860);
  ASSERT_EQ(places.size(), names.size());
  EXPECT_GT(places.back().row, 0);
  for (const auto& place : places) EXPECT_LE(place.x + 14 + text_width(names[0]), 860);
  EXPECT_EQ(place_keys({std::string(400, 'x')}, 60, 860).front().row, 0);
}

TEST(Shortened, CountsLettersNotBytes) {
  EXPECT_EQ(shortened("µJ/bit", 6), "µJ/bit");
  EXPECT_EQ(shortened("µµµµ", 3), "µµ…");
  EXPECT_EQ(shortened("", 3), "");
}

}  // namespace
}  // namespace ww::report
