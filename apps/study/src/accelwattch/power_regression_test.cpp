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
