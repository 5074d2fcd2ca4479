// Uses a calibration whose energy is per nanosecond of flight, because no floorplan of the die is
// known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

json segment(const json& kernel, const std::string& name) {
  for (const json& row : kernel.at("segments")) {
    if (row.at("segment") == name) return row;
  }
  return {};
}

// One campaign for all tests here: it costs more than all of them.
class FlightModel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const auto done = run({wirewatt(), "-q", "calibrate", "--device", "virtual:vega20", "--quick",
                           "--seed", "1", "--out", folder()});
    ASSERT_EQ(done.exit_code, 0) << done.err;
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string folder() { return (folder_->path() / "run").string(); }
  static std::vector<std::string> with_workload(std::vector<std::string> command,
                                                const std::string& name) {
    for (const std::string& word :
         {std::string("--"), wirewatt(), std::string("workloads"), std::string("run"), name}) {
      command.push_back(word);
    }
    return command;
  }

  static TemporaryFolder* folder_;
};
TemporaryFolder* FlightModel::folder_ = nullptr;

TEST_F(FlightModel, EstimatesTheCrossbarOfApplicationsWithinBoundsThatHoldTheTruth) {
  for (const char* const name : {"spmv", "nn"}) {
    const auto done = run(with_workload({wirewatt(), "score", folder(), "--json"}, name));
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const json result = done.json();
    const json crossbar = segment(result, "l1_l2");
    EXPECT_EQ(crossbar.at("status"), "transferred");
    EXPECT_TRUE(crossbar.at("covered").get<bool>()) << crossbar.dump();
    EXPECT_TRUE(crossbar.at("without_monitors").at("covered").get<bool>()) << crossbar.dump();
    EXPECT_GT(crossbar.at("low_j").get<double>(), 0) << crossbar.dump();
    // Nobody timed these.
    for (const char* const other : {"registers_l1", "l2_memory"}) {
      EXPECT_EQ(segment(result, other).at("status"), "not_identified");
      EXPECT_FALSE(segment(result, other).contains("estimate_j"));
    }
  }
}

TEST_F(FlightModel, IsNamedPerNanosecondInTablesAndJson) {
  const auto shown = run(with_workload(
      {wirewatt(), "estimate", "--model", folder(), "--device", "virtual:vega20"}, "nn"));
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("energy per bit and ns"));
  EXPECT_THAT(shown.out, ::testing::Not(HasSubstr("energy per bit and mm:")));
  const auto done = run(with_workload(
      {wirewatt(), "estimate", "--model", folder(), "--device", "virtual:vega20", "--json"}, "nn"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = done.json();
  EXPECT_FALSE(result.at("constant").contains("fj_per_bit_mm"));
  EXPECT_GT(result.at("constant").at("fj_per_bit_ns").get<double>(), 0);
  EXPECT_GT(segment(result.at("total"), "l1_l2").at("distance_ns").get<double>(), 0);
}

TEST_F(FlightModel, IsWatchedByTopWithTheSameBounds) {
  const auto done = run(with_workload(
      {wirewatt(), "top", "--json", "--model", folder(), "--device", "virtual:vega20"}, "nn"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\"transferred\""));
  EXPECT_THAT(done.out, HasSubstr("\"not_identified\""));
}

TEST_F(FlightModel, IsRefusedWhereMillimetresAreNeededWithWhatToDo) {
  const std::string out = (folder_->path() / "export").string();
  const std::vector<std::vector<std::string>> uses{
      {wirewatt(), "simulate", "--network", "mesh", "--model", folder()},
      {wirewatt(), "project", "--model", folder()},
      {wirewatt(), "export", "--to", "booksim", "--link-mm", "2", "--model", folder(), "-o", out}};
  for (const auto& use : uses) {
    const auto refused = run(use);
    EXPECT_EQ(refused.exit_code, 1) << use[1] << ": " << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("per nanosecond")) << use[1];
    EXPECT_THAT(refused.err, HasSubstr("floorplan")) << use[1];
  }
  EXPECT_FALSE(fs::exists(out));
  const auto plan =
      run(with_workload({wirewatt(), "estimate", "--model", folder(), "--floorplan",
                         (source_folder() / "model" / "floorplans" / "vega10.toml").string()},
                        "nn"));
  EXPECT_EQ(plan.exit_code, 1) << plan.out;
  EXPECT_THAT(plan.err, HasSubstr("per nanosecond"));
}

TEST_F(FlightModel, IsReportedInNanosecondsBeyondTheShortestWay) {
  const auto page = folder_->path() / "page.html";
  const auto done = run({wirewatt(), "report", folder(), "-o", page.string()});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("fJ/bit/ns"));
  EXPECT_THAT(text, HasSubstr("beyond the shortest"));
}

}  // namespace
}  // namespace ww::e2e
