// Joules by label of a program that reports its kernels as Kokkos does, on a virtual chip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "made_campaign.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Bracket {
  double device{}, wires{}, l1_l2{}, seconds{};
};

class Kokkos : public OfAMadeCampaign {
 protected:
  static std::string host() { return (build_folder() / "bin/kokkos_like_host").string(); }
  static std::string tool() { return (build_folder() / "lib/libwirewatt-kokkos.so").string(); }
  static std::string model_file() { return model() + "/model.json"; }
  [[nodiscard]] std::string json_file() const { return (folder_.path() / "labels.json").string(); }
  static Environment on_virtual_gpu(const Environment& more = {}) {
    Environment all{{"OCL_ICD_VENDORS", (build_folder() / "lib/libwirewatt_vgpu.so").string()},
                    {"WIREWATT_CHIP", "w9100"},
                    {"WIREWATT_THREADS", "1"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(Kokkos, ProgramGetsTheJoulesOfBracketsByLabel) {
  const auto own = run({host(), "bracket", model_file()}, on_virtual_gpu());
  ASSERT_EQ(own.exit_code, 0) << own.err;
  std::map<std::string, Bracket> expected;
  std::istringstream lines(own.out);
  std::string label;
  for (Bracket one; lines >> label >> one.device >> one.wires >> one.l1_l2 >> one.seconds;) {
    Bracket& sum = expected[label == "fill" ? label : "solve/" + label];
    sum.device += one.device;
    sum.wires += one.wires;
    sum.l1_l2 += one.l1_l2;
    sum.seconds += one.seconds;
  }
  ASSERT_THAT(expected, SizeIs(3));
  const auto finished = run({host()}, on_virtual_gpu({{"KOKKOS_TOOLS_LIBS", tool()},
                                                      {"WIREWATT_MODEL", model_file()},
                                                      {"WIREWATT_KOKKOS_JSON", json_file()}}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "fencing 1\n");
  EXPECT_THAT(finished.err, HasSubstr("virtual, not a measurement"));
  std::ifstream file(json_file());
  const json report = parse_json(file);
  EXPECT_EQ(report.at("virtual"), true);
  EXPECT_EQ(report.at("trouble"), "");
  ASSERT_THAT(report.at("labels"), SizeIs(3));
  for (const json& found : report.at("labels")) {
    const Bracket& sum = expected.at(found.at("label"));
    const auto close = [](const json& value, double to) {
      EXPECT_GT(to, 0);
      EXPECT_NEAR(value.get<double>(), to, 1e-9 * to);
    };
    EXPECT_EQ(found.at("launches"), found.at("label") == "solve/axpy" ? 2 : 1);
    close(found.at("device_j").at("value"), sum.device);
    close(found.at("wires_j").at("value"), sum.wires);
    close(found.at("segments_j").at("L1-L2").at("value"), sum.l1_l2);
    close(found.at("time_s"), sum.seconds);
    EXPECT_LT(found.at("wires_j").at("low"), found.at("wires_j").at("value"));
  }
}

TEST_F(Kokkos, ProgramRunsOnWhereNothingCanBeMeasured) {
  const auto alone = run({host()}, on_virtual_gpu());
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_THAT(alone.err, Not(HasSubstr("wirewatt")));
  const auto finished = run({host()}, on_virtual_gpu({{"KOKKOS_TOOLS_LIBS", tool()},
                                                      {"WIREWATT_MODEL", "/nowhere/model.json"}}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, alone.out);
  EXPECT_THAT(finished.err, HasSubstr("nothing measured"));
  EXPECT_THAT(finished.err, HasSubstr("/nowhere/model.json"));
}

TEST_F(Kokkos, ProgramWithoutAModelHasJoulesOfTheDeviceAndReasons) {
  const auto finished =
      run({host()}, on_virtual_gpu({{"KOKKOS_TOOLS_LIBS", tool() + ";/nowhere/other.so"}}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("solve/dot: 1 launches"));
  EXPECT_THAT(finished.err, HasSubstr("wires [J]: none: opened without a model"));
}

}  // namespace
}  // namespace ww::e2e
