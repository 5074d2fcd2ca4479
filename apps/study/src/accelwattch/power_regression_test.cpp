#include "ww/study/power_regression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ww/core/temporary_folder.hpp"

namespace ww::study {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kColumns{
    "Benchmark", "Kernel",        "L1_RH",        "L1_RM",         "L1_WH", "L1_WM",
    "L2_RH",     "L2_RM",         "L2_WH",        "L2_WM",         "NOC",   "DRAM_Rd",
    "DRAM_Wr",   "Pipeline_Duty", "Num_Idle_SMs", "Elapsed_Cycles"};

std::string joined(const std::vector<std::string>& fields) {
  std::string line;
  for (const auto& field : fields) line += (line.empty() ? "" : ",") + field;
  return line + "\n";
}

class PowerRegression : public testing::Test {
 protected:
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  // A table of kernels whose counters differ, without the columns that are named.
  void write_counters(const std::string& without) const {
    std::string text;
    for (int row = -1; row < 20; ++row) {
      std::vector<std::string> fields;
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (kColumns[i] == without) continue;
        const int value = 1000 + (row * 7919 + static_cast<int>(i) * 104729) % 997;
        fields.push_back(row < 0                          ? kColumns[i]
                         : i == 0                         ? "b" + std::to_string(row)
                         : kColumns[i] == "Num_Idle_SMs"  ? std::to_string(row)
                         : kColumns[i] == "Pipeline_Duty" ? "0." + std::to_string(value)
                                                          : std::to_string(value));
      }
      text += joined(fields);
    }
    write("hw_perf.csv", text);
  }
  void write_powers(const std::string& column) const {
    std::string text = "kernel," + column + "\n";
    for (int row = 0; row < 20; ++row) {
      text += "b" + std::to_string(row) + "_k1," + std::to_string(100 + row * 37 % 23) + "\n";
    }
    write("measured_power_volta_pascal_turing.csv", text);
  }
  [[nodiscard]] std::string error() const {
    const auto result = regress_accelwattch(folder_.path());
    return result ? "" : result.error().text();
  }
  ScratchFolder folder_ = *ScratchFolder::create("regression");
};

TEST_F(PowerRegression, ReadsTablesOfTheKnownLayout) {
  write_counters("");
  write_powers("volta_gv100_measured_w");
  const auto result = regress_accelwattch(folder_.path());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->at("kernels"), 20);
}

// Watts that are made of rates: 2 W for a sector of the L2 a cycle, 5 W for one of DRAM.
TEST_F(PowerRegression, GivesTheJoulesOfASectorFromL2AndDram) {
  std::string counters = joined(kColumns);
  std::string powers = "kernel,volta_gv100_measured_w\n";
  std::string parts = "kernel,L2CP_w,DRAMP_w\n";
  for (int row = 0; row < 20; ++row) {
    const int l1 = 100 + row * 37 % 11;
    const int l2 = 200 + row * row % 17 * 10;
    const int dram = 100 + row * 53 % 13 * 10;
    const std::string name = "b" + std::to_string(row);
    std::vector<std::string> fields(kColumns.size(), "0");
    fields[0] = name;
    fields[2] = std::to_string(l1);
    fields[6] = std::to_string(l2);
    fields[10] = std::to_string(2 * l2 + row % 3);
    fields[11] = std::to_string(dram);
    fields[13] = "0." + std::to_string(100 + row * 29 % 19);
    fields[15] = "100";
    counters += joined(fields);
    const double watts = 50 + 2 * l2 / 100.0 + 5 * dram / 100.0 + 0.001 * (row % 5);
    powers += name + "_k1," + std::to_string(watts) + "\n";
    parts += name + "_k1," + std::to_string(3 * l2 / 100.0) + "," +
             std::to_string(4 * dram / 100.0) + "\n";
  }
  write("hw_perf.csv", counters);
  write("measured_power_volta_pascal_turing.csv", powers);
  const auto alone = regress_accelwattch(folder_.path());
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_TRUE(alone->at("sectors")[0].at("accelwattch_pj_at_base").is_null());
  write("volta_hw_component_power_model.csv", parts);
  const auto result = regress_accelwattch(folder_.path());
  ASSERT_TRUE(result) << result.error().text();
  const double watts[] = {2, 5};
  const double theirs[] = {3, 4};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& level = result->at("sectors")[i];
    EXPECT_EQ(level.at("status"), "ok") << level;
    const double at_base = level.at("pj_per_sector_at_base").get<double>();
    EXPECT_NEAR(at_base, watts[i] / 1132e6 * 1e12, 0.01 * at_base) << level;
    EXPECT_LT(level.at("low").get<double>(), watts[i] / 1627e6 * 1e12);
    EXPECT_GT(level.at("high").get<double>(), watts[i] / 1132e6 * 1e12);
    EXPECT_NEAR(level.at("accelwattch_pj_at_boost").get<double>(), theirs[i] / 1627e6 * 1e12, 1);
  }
}

TEST_F(PowerRegression, NamesTheColumnThatIsAbsent) {
  write_counters("");
  write("measured_power_volta_pascal_turing.csv",
        "|benchmark|mean HW_power|st_dev|var|#samples|\nINT_ADD_l1d2,71.25,0.82,0.67,118\n");
  EXPECT_THAT(error(), testing::AllOf(HasSubstr("measured_power_volta_pascal_turing.csv"),
                                      HasSubstr("no column 'volta_gv100_measured_w'"),
                                      HasSubstr("mean HW_power")));
  write_powers("volta_gv100_measured_w");
  for (const auto& column : kColumns) {
    if (column == "Benchmark" || column == "Kernel") continue;
    write_counters(column);
    EXPECT_THAT(error(),
                testing::AllOf(HasSubstr("hw_perf.csv"), HasSubstr("no column '" + column + "'")));
  }
}

}  // namespace
}  // namespace ww::study
