// A calibration of crossings as other commands take it: estimate uses it, and what needs a
// millimetre refuses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class CrossingUse : public ::testing::Test {
 protected:
  void SetUp() override {
    write("crossing.json", json{{"device", "cuda:0"},
                                {"energy_pj_per_bit_crossing",
                                 {{"status", "ok"}, {"value", 1.0}, {"low", 0.9}, {"high", 1.1}}},
                                {"zero_data_pj_per_bit_crossing",
                                 {{"status", "ok"}, {"value", 0.4}, {"low", 0.3}, {"high", 0.5}}}}
                               .dump());
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
  }
  // A profile of one kernel of 1 ms: 10 million sectors of reads and as many of writes.
  void write_profile(const std::string& more) const {
    const std::string head =
        R"csv("0","1","app","here","copy","1","7","(256, 1, 1)","(1024, 1, 1)","0","8.0","Command line profiler metrics",)csv";
    write(
        "profile.csv",
        R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")csv"
        "\n" +
            head + R"csv("gpu__time_duration.sum","nsecond","1000000")csv" + "\n" + head +
            R"csv("lts__t_sectors_srcunit_tex_op_read.sum","sector","10000000")csv" + "\n" + head +
            R"csv("lts__t_sectors_srcunit_tex_op_write.sum","sector","10000000")csv" + "\n" +
            (more.empty() ? "" : head + more + "\n"));
  }
  [[nodiscard]] Finished estimate(std::vector<std::string> more) const {
    std::vector<std::string> words{wirewatt(),   "estimate",
                                   "--model",    folder_.path().string(),
                                   "--counters", (folder_.path() / "profile.csv").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  TemporaryFolder folder_;
};

TEST_F(CrossingUse, CountsWhatTheFabricCarried) {
  write_profile(R"csv("lts__t_sectors_srcunit_ltcfabric.sum","sector","5000000")csv");
  const auto finished = estimate({"--toggle-rate", "0.5", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json answer = json::parse(finished.out);
  EXPECT_EQ(answer["kind"], "crossing");
  EXPECT_EQ(answer["architecture"], "sm_80");
  const json& copy = answer["kernels"].at(0);
  EXPECT_EQ(copy["status"], "ok") << copy;
  EXPECT_EQ(copy["l1_l2_bytes"], 640e6);
  EXPECT_EQ(copy["crossed_bytes"]["value"], 160e6);
  // 5 million sectors of 32 bytes at 1 pJ a bit, in 1 ms.
  EXPECT_NEAR(copy["energy_j"]["value"].get<double>(), 1.28e-3, 1e-6);
  EXPECT_NEAR(copy["power_w"]["value"].get<double>(), 1.28, 1e-3);
  EXPECT_LT(copy["power_w"]["low"].get<double>(), 1.28 * 0.9 + 1e-3);
  EXPECT_GT(copy["power_w"]["high"].get<double>(), 1.28 * 1.1 - 1e-3);
  EXPECT_EQ(answer["total"]["energy_j"], copy["energy_j"]);
}

TEST_F(CrossingUse, WithoutAFabricCounterGivesAnythingFromNoneToAll) {
  write_profile("");
  const auto finished = estimate({"--toggle-rate", "0.5", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json copy = json::parse(finished.out)["kernels"].at(0);
  EXPECT_EQ(copy["status"], "transferred");
  EXPECT_EQ(copy["energy_j"]["low"], 0);
  EXPECT_NEAR(copy["energy_j"]["value"].get<double>(), 2.56e-3, 1e-6);
  EXPECT_GE(copy["energy_j"]["high"].get<double>(), 8 * 640e6 * 1.1e-12);
  const auto shown = estimate({});
  EXPECT_THAT(shown.out, HasSubstr("pJ of random bits"));
  EXPECT_THAT(shown.out, HasSubstr("anything from none to all"));
}

TEST_F(CrossingUse, RefusesWhatNeedsAMillimetre) {
  write_profile("");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"project", "--node", "7nm"},
        {"simulate", "--network", "mesh", "--traffic", "uniform", "--rate", "0.1"}}) {
    std::vector<std::string> words{wirewatt()};
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {"--model", folder_.path().string()});
    const auto refused = run(words);
    EXPECT_EQ(refused.exit_code, 1) << command.front();
    EXPECT_THAT(refused.err, HasSubstr("is a calibration of crossings")) << command.front();
  }
  const auto refused = estimate({"--floorplan", "w9100.toml"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("no millimetre"));
}

TEST_F(CrossingUse, OfARejectedCalibrationSaysWhyThereIsNoFigure) {
  write(
      "crossing.json",
      R"csv({"energy_pj_per_bit_crossing": {"status": "rejected", "reason": "control 'null pair' failed"}})csv");
  write_profile("");
  const auto refused = estimate({});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("control 'null pair' failed"));
}

}  // namespace
}  // namespace ww::e2e
