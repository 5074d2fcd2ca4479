#include "ww/core/figure.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ww/core/table.hpp"

namespace ww {
namespace {

Figure figure() {
  return Figure::of("energy", {4.2, 4, 4.44444}, "pJ/bit");
}

TEST(Figure, HasOneText) {
  EXPECT_EQ(text(figure()), "4.2 (4..4.444) pJ/bit");
  Figure alone = figure();
  alone.low.reset();
  alone.unit.clear();
  EXPECT_EQ(text(alone), "4.2");
  Figure rejected;
  rejected.status = RowStatus::rejected;
  rejected.reason = "a control failed";
  EXPECT_EQ(text(rejected), "rejected: a control failed");
}

TEST(Figure, ComesBackFromItsJson) {
  Figure whole = figure();
  whole.status = RowStatus::transferred;
  whole.reason = "of another part";
  whole.device = "virtual:w9100";
  const nlohmann::json json = whole;
  EXPECT_EQ(nlohmann::json(figure_of(json)), json);
  // Objects of three numbers, and of a reason alone.
  const Figure bare = figure_of({{"value", 1.0}, {"low", 0.5}, {"high", 2.0}});
  EXPECT_EQ(bare.status, RowStatus::ok);
  EXPECT_EQ(bare.interval()->high, 2.0);
  const Figure none = figure_of({{"value", nullptr}, {"reason", "why"}});
  EXPECT_EQ(none.status, RowStatus::unavailable);
  EXPECT_FALSE(none.interval());
}

TEST(Figure, IsInPicojoulesWithItsUnit) {
  const Figure shown = in_picojoules(Figure::of("x", {1e-12, 0, 2e-12}, "J/bit/crossing"));
  EXPECT_EQ(text(shown), "1 (0..2) pJ/bit/crossing");
}

TEST(Interval, IsPrintedWithThePrefixThatFitsItsValue) {
  EXPECT_EQ(interval_text(Interval{4.2e-3, 4e-3, 4.4e-3}, std::nullopt, "J"), "4.2 mJ (4..4.4)");
  EXPECT_EQ(interval_text(Interval{0.284, 0.136, 1.48}, std::nullopt, "W"),
            "0.284 W (0.136..1.48)");
  EXPECT_EQ(interval_text(std::nullopt, 5e-6, "J"), "at most 5 uJ");
  EXPECT_EQ(interval_text(std::nullopt, std::nullopt, "J"), "-");
  EXPECT_EQ(interval_text(std::nullopt), "-");
}

TEST(Table, GivesTheTerminalItsTitledColumnsAndJsonItsKeys) {
  const Table table{
      "Nodes",
      {{"NODE", false, "node"}, {"PJ/BIT", true, "energy"}, {"", false, "reason"}, {"REMARK"}},
      {{"7 nm", Interval{1, 0.5, 2}, Cell(), "-"},
       {"a longer one", std::optional<Interval>(), "not known", "b"}}};
  EXPECT_EQ(table_text(table),
            "NODE          PJ/BIT      REMARK\n"
            "7 nm          1 (0.5..2)  -\n"
            "a longer one  -           b\n");
  EXPECT_EQ(
      table_json(table),
      (nlohmann::json{{{"node", "7 nm"}, {"energy", {{"value", 1.0}, {"low", 0.5}, {"high", 2.0}}}},
                      {{"node", "a longer one"}, {"energy", nullptr}, {"reason", "not known"}}}));
}

}  // namespace
}  // namespace ww
