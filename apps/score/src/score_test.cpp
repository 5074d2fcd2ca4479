#include "ww/score/score.hpp"

#include <gtest/gtest.h>

#include "homes_match.hpp"
#include "sealed_tables.hpp"
#include "segments_table.hpp"

namespace ww::score {
namespace {

constexpr const char* kTable =
    "Kernel_Name,Start_Timestamp,l1_l2_j,alu_j,bytes\n"
    "copy,0,0.5,2,100\n"
    "fill,9,0.25,1,100\n";

TEST(SealedTables, HaveTheJoulesOfEachLaunch) {
  const auto joules = sealed_joules(kTable, "sealed.csv");
  ASSERT_TRUE(joules) << joules.error().text();
  ASSERT_EQ(joules->size(), 2U);
  EXPECT_EQ(joules->front().core, 2.5);
  EXPECT_EQ(joules->back().core, 1.25);
  EXPECT_EQ(joules->back().others, 0);
  EXPECT_FALSE(sealed_joules("Kernel_Name,alu_j\ncopy,much\n", "sealed.csv"));
}

TEST(SealedTables, PartWhatTheCoresRailDoesNotGive) {
  const auto joules =
      sealed_joules("Kernel_Name,alu_j,memory_j,xgmi_j\ncopy,1,2,4\n", "sealed.csv");
  ASSERT_TRUE(joules) << joules.error().text();
  EXPECT_EQ(joules->front().core, 1);
  EXPECT_EQ(joules->front().others, 6);
}

// The second process of a program writes a header of its own, with other columns.
TEST(SealedTables, AreSummedOverProcesses) {
  const auto sums = sealed_sums(std::string(kTable) + "Kernel_Name,alu_j,idle_j\ncopy,4,8\n");
  ASSERT_TRUE(sums) << sums.error().text();
  const std::map<std::string, double> expected{{"l1_l2_j", 0.75}, {"alu_j", 7}, {"idle_j", 8}};
  EXPECT_EQ(*sums, expected);
  EXPECT_FALSE(sealed_sums("copy,1,2\n"));
}

TEST(HomesMatch, IsExactWhateverTheHomesAreCalled) {
  HomesMatch match;
  match.add(0, 3);
  match.add(1, 2);
  match.add(0, 3);
  EXPECT_TRUE(match.exact());
  EXPECT_EQ(match.found(), 2U);
  EXPECT_EQ(*match.found_of().at(3).begin(), 0);
}

TEST(HomesMatch, SeesHomesThatAreMixedOrSplit) {
  HomesMatch mixed;
  mixed.add(0, 1);
  mixed.add(0, 2);
  EXPECT_EQ(mixed.mixed(), 1);
  EXPECT_FALSE(mixed.exact());
  HomesMatch split;
  split.add(0, 1);
  split.add(5, 1);
  EXPECT_EQ(split.mixed(), 0) << "each found home is of one true home";
  EXPECT_FALSE(split.exact());
  EXPECT_EQ(split.real(), 1U);
}

TEST(SegmentsTable, SaysWhetherTheIntervalHoldsWhatCouldBeSensed) {
  model::SegmentsFit fit;
  fit.legs = Figure::of("legs", Interval{10, 9, 11}, "fJ/bit/mm");
  fit.l2_memory = Figure::of("L2-memory", Interval{20, 19, 21}, "fJ/bit/mm");
  fit.registers_l1.status = RowStatus::not_identified;
  calibration::Revealed truth;
  truth.figures = {{"legs_energy_fj_per_bit_mm", 12, 10.5, "fJ/bit/mm"},
                   {"l2_memory_energy_fj_per_bit_mm", 20, 22, "fJ/bit/mm"},
                   {"registers_l1_energy_fj_per_bit_mm", 5, 5, "fJ/bit/mm"}};
  const Table table = segments_table(fit, truth);
  ASSERT_EQ(table.rows.size(), 4U);
  const auto covered = [&](std::size_t row) { return table_json(table)[row]["covered_sensed"]; };
  EXPECT_EQ(covered(0), true);
  EXPECT_EQ(covered(1), false) << "it holds the truth, which no sensor shows";
  EXPECT_TRUE(covered(2).is_null());
  EXPECT_TRUE(covered(3).is_null());
}

}  // namespace
}  // namespace ww::score
