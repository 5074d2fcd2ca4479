// A calibration of crossings as other commands take it: estimate, simulate and
// project use it, and what needs a millimetre refuses it.
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
  static inline const std::vector<std::string> kNoAtomics{
      R"csv("lts__t_sectors_srcunit_tex_op_red.sum","sector","0")csv",
      R"csv("lts__t_sectors_srcunit_tex_op_atom.sum","sector","0")csv"};
  // A profile of one kernel of 1 ms: 10 million sectors of reads and as many of writes.
  void write_profile(const std::string& more,
                     const std::vector<std::string>& atomics = kNoAtomics) const {
    const std::string head =
        R"csv("0","1","app","here","copy","1","7","(256, 1, 1)","(1024, 1, 1)","0","8.0","Command line profiler metrics",)csv";
    std::string counted_atomics;
    for (const std::string& line : atomics) counted_atomics += head + line + "\n";
    write(
        "profile.csv",
        R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")csv"
        "\n" +
            head + R"csv("gpu__time_duration.sum","nsecond","1000000")csv" + "\n" + head +
            R"csv("lts__t_sectors_srcunit_tex_op_read.sum","sector","10000000")csv" + "\n" + head +
            R"csv("lts__t_sectors_srcunit_tex_op_write.sum","sector","10000000")csv" + "\n" +
            counted_atomics + (more.empty() ? "" : head + more + "\n"));
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
  const json answer = finished.json();
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
  const json copy = finished.json()["kernels"].at(0);
  EXPECT_EQ(copy["status"], "transferred");
  EXPECT_EQ(copy["energy_j"]["low"], 0);
  EXPECT_NEAR(copy["energy_j"]["value"].get<double>(), 2.56e-3, 1e-6);
  EXPECT_GE(copy["energy_j"]["high"].get<double>(), 8 * 640e6 * 1.1e-12);
  const auto shown = estimate({});
  EXPECT_THAT(shown.out, HasSubstr("pJ of random bits"));
  EXPECT_THAT(shown.out, HasSubstr("anything from none to all"));
}

TEST_F(CrossingUse, IsRejectedWhereTheFabricCarriedMoreThanTheTraffic) {
  write_profile(R"csv("lts__t_sectors_srcunit_ltcfabric.sum","sector","500000000")csv");
  const auto finished = estimate({"--json"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.json()["kernels"].at(0)["status"], "rejected");
}

TEST_F(CrossingUse, AddsAtomicsAndReductionsToWhatMayCross) {
  write_profile("", {R"csv("lts__t_sectors_srcunit_tex_op_red.sum","sector","10000000")csv",
                     R"csv("lts__t_sectors_srcunit_tex_op_atom.sum","sector","10000000")csv"});
  const auto finished = estimate({"--toggle-rate", "0.5", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json kernel = finished.json()["kernels"].at(0);
  // Five times 320 MB: atomics move both ways.
  EXPECT_EQ(kernel["l1_l2_bytes"], 1600e6);
  EXPECT_EQ(kernel["crossed_bytes"]["high"], 1600e6);
}

TEST_F(CrossingUse, IsNotBoundedByAProfileWithoutAtomics) {
  write_profile("", {});
  const auto finished = estimate({"--json"});
  EXPECT_EQ(finished.exit_code, 1);
  const json kernel = finished.json()["kernels"].at(0);
  EXPECT_EQ(kernel["status"], "not_identified");
  EXPECT_TRUE(kernel["energy_j"].is_null());
  EXPECT_THAT(kernel["reason"].get<std::string>(),
              HasSubstr("lts__t_sectors_srcunit_tex_op_red.sum"));
}

TEST_F(CrossingUse, WithCountersOfUnknownMeaningNamesThemAndUsesNone) {
  write_profile(R"csv("lts__t_sectors_srcnode_gpc.sum","sector","5000000")csv");
  const auto finished = estimate({"--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json copy = finished.json()["kernels"].at(0);
  EXPECT_EQ(copy["status"], "transferred");
  EXPECT_THAT(copy["reason"].get<std::string>(),
              HasSubstr("not used: lts__t_sectors_srcnode_gpc.sum: it names the node"));
}

TEST_F(CrossingUse, ChargesTheLinksBetweenAnL2sSidesInASimulation) {
  const auto simulate = [&](std::vector<std::string> more) {
    std::vector<std::string> words{wirewatt(), "simulate", "--traffic", "uniform",  "--k",
                                   "4",        "--rate",   "0.1",       "--warmup", "500",
                                   "--cycles", "1000",     "--network"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto energy_of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "crossbar-partitioned");
    more.emplace_back("--json");
    const auto finished = simulate(more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json()["energy_pj"];
  };
  const std::string model = folder_.path().string();
  const json plain = energy_of({});
  EXPECT_FALSE(plain.contains("l2_crossing"));
  EXPECT_EQ(plain["crossing"], 0.0);

  const json charged = energy_of({"--model", model});
  const json& crossing = charged["l2_crossing"];
  EXPECT_EQ(crossing["label"], "measured");
  const double bits = 128 * crossing["flits"].get<double>();
  ASSERT_GT(bits, 0);
  EXPECT_NEAR(crossing["pj"]["value"].get<double>(), 1.0 * bits, 1e-6 * bits);
  EXPECT_NEAR(crossing["pj"]["low"].get<double>(), 0.9 * bits, 1e-6 * bits);
  EXPECT_NEAR(crossing["pj"]["high"].get<double>(), 1.1 * bits, 1e-6 * bits);
  EXPECT_EQ(charged["crossing"], crossing["pj"]["value"]);
  // A crossing is no longer a wire of the estimator, and nothing else changes.
  EXPECT_LT(charged["link"].get<double>(), plain["link"].get<double>());
  EXPECT_EQ(charged["crossbar"], plain["crossbar"]);
  EXPECT_NEAR(charged["total"].get<double>() - plain["total"].get<double>(),
              charged["crossing"].get<double>() + charged["link"].get<double>() +
                  charged["link_leakage"].get<double>() - plain["link"].get<double>() -
                  plain["link_leakage"].get<double>(),
              1e-6 * plain["total"].get<double>());

  const json zeros = energy_of({"--model", model, "--toggle-rate", "0"});
  EXPECT_NEAR(zeros["l2_crossing"]["pj_per_bit"]["value"].get<double>(), 0.4, 1e-9);

  // A calibration that rejected its figure of zeros does not know that they cost nothing.
  json random_alone = json::parse(std::ifstream(folder_.path() / "crossing.json"));
  random_alone["zero_data_pj_per_bit_crossing"] = {{"status", "rejected"}, {"reason", "a control"}};
  const TemporaryFolder folder;
  const auto without = folder.path() / "crossing.json";
  std::ofstream(without) << random_alone;
  const json unknown =
      energy_of({"--model", without.string(), "--toggle-rate", "0"})["l2_crossing"]["pj_per_bit"];
  EXPECT_DOUBLE_EQ(unknown["low"], 0);
  EXPECT_DOUBLE_EQ(unknown["value"], 1.0);
  EXPECT_DOUBLE_EQ(unknown["high"], 1.1);

  const auto shown = simulate({"crossbar-partitioned", "--model", model});
  EXPECT_THAT(shown.out, HasSubstr("1 pJ/bit (0.9..1.1)"));
  EXPECT_THAT(shown.out, HasSubstr("measured (calibration of crossings of cuda:0)"));

  const auto refused = simulate({"mesh", "--model", model});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("mesh has no crossing between the sides of an L2"));
}

TEST_F(CrossingUse, ProjectsWhatMovingCrossingsSaves) {
  write_profile(R"csv("lts__t_sectors_srcunit_ltcfabric.sum","sector","5000000")csv");
  const auto project = [&](std::vector<std::string> more) {
    std::vector<std::string> words{wirewatt(), "project", "--model", folder_.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto finished =
      project({"--counters", (folder_.path() / "profile.csv").string(), "--toggle-rate", "0.5",
               "--moved", "20", "--card-node", "7nm", "--node", "7nm", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json answer = finished.json();
  EXPECT_EQ(answer["kind"], "crossing");
  EXPECT_EQ(answer["label"], "measured");
  EXPECT_TRUE(answer["energy_fj_per_bit_mm"].is_null());
  ASSERT_EQ(answer["moved"].size(), 1u);
  const json& moved = answer["moved"][0];
  // A fifth of 160 MB at 1 pJ a bit, in 1 ms.
  EXPECT_NEAR(moved["saved_j"]["value"].get<double>(), 0.2 * 1.28e-3, 1e-7);
  EXPECT_NEAR(moved["saved_w"]["value"].get<double>(), 0.2 * 1.28, 1e-4);
  EXPECT_LT(moved["saved_j"]["low"].get<double>(), 0.9 * 0.2 * 1.28e-3 + 1e-7);
  EXPECT_EQ(moved["status"], "ok");
  // The part's own node changes nothing; a node that nobody knows has no figure.
  EXPECT_NEAR(answer["node"][0]["energy_pj_per_bit_crossing"]["value"].get<double>(), 1.0, 1e-9);
  const json unknown = project({"--json"}).json();
  EXPECT_EQ(unknown["node"][0]["status"], "unavailable");
  EXPECT_THAT(project({}).out, HasSubstr("give it with --card-node"));
  const auto unread = project({"--toggle-rate", "0.3"});
  EXPECT_EQ(unread.exit_code, 2);
  EXPECT_THAT(unread.err, HasSubstr("needs --counters"));
  EXPECT_EQ(unknown["moved"].size(), 3u);
  EXPECT_NEAR(unknown["moved"][0]["saved_pj_per_bit_that_crosses"]["value"].get<double>(), 0.1,
              1e-9);
}

TEST_F(CrossingUse, OfAVirtualCardIsLabelledSoAndItsDataSheetSaysItsNode) {
  write("crossing.json",
        R"({"device": "a", "virtual": true, "chip": {"name": "b", "target": "sm_80"},
            "energy_pj_per_bit_crossing": {"status": "ok", "value": 1, "low": 0.9, "high": 1.1}})");
  const auto projected =
      run({wirewatt(), "project", "--model", folder_.path().string(), "--node", "7nm", "--json"});
  ASSERT_EQ(projected.exit_code, 0) << projected.err;
  const json answer = projected.json();
  EXPECT_EQ(answer["label"], "virtual");
  EXPECT_EQ(answer["card_node_nm"], 7.0);
  EXPECT_NEAR(answer["node"][0]["energy_pj_per_bit_crossing"]["value"].get<double>(), 1.0, 1e-9);
  write_profile("");
  EXPECT_EQ(estimate({"--json"}).json()["virtual"], true);
}

TEST_F(CrossingUse, OfAnotherPartIsRefusedOrMarked) {
  write_profile(R"csv("lts__t_sectors_srcunit_ltcfabric.sum","sector","5000000")csv");
  const auto calibrate_on = [&](const std::string& target) {
    write("crossing.json", json{{"device", "cuda:0"},
                                {"chip", {{"target", target}}},
                                {"energy_pj_per_bit_crossing",
                                 {{"status", "ok"}, {"value", 1.0}, {"low", 0.9}, {"high", 1.1}}}}
                               .dump());
  };
  calibrate_on("sm_90");
  const auto refused = estimate({});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("is of sm_80, the calibration of sm_90"));
  const std::vector<std::string> project{wirewatt(),   "project",
                                         "--model",    folder_.path().string(),
                                         "--counters", (folder_.path() / "profile.csv").string(),
                                         "--json"};
  EXPECT_EQ(run(project).exit_code, 2);
  const auto marked = estimate({"--anyway", "--json"});
  ASSERT_EQ(marked.exit_code, 0) << marked.err;
  EXPECT_EQ(marked.json()["total"]["status"], "transferred");
  EXPECT_THAT(marked.json()["total"]["reason"].get<std::string>(),
              HasSubstr("another part, sm_90"));
  auto anyway = project;
  anyway.emplace_back("--anyway");
  EXPECT_EQ(run(anyway).json()["moved"].at(0)["status"], "transferred");
  calibrate_on("sm_80");
  EXPECT_EQ(estimate({"--json"}).json()["total"]["status"], "ok");
}

TEST_F(CrossingUse, HasAMillimetreOnlyFromAFloorplanWithItsSource) {
  const auto project = [&](std::vector<std::string> more) {
    std::vector<std::string> words{wirewatt(), "project", "--model", folder_.path().string(),
                                   "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto alone = project({"--crossing-mm", "10"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("a distance needs its source"));
  const auto given = project({"--crossing-mm", "10", "--crossing-mm-source", "a die photo"});
  ASSERT_EQ(given.exit_code, 0) << given.err;
  const json answer = given.json();
  EXPECT_NEAR(answer["energy_fj_per_bit_mm"]["value"].get<double>(), 100, 1e-9);
  EXPECT_EQ(answer["distance"]["source"], "a die photo");
  EXPECT_EQ(answer["distance"]["status"], "assumed");
}

TEST_F(CrossingUse, RefusesWhatNeedsAMillimetreOrAVoltage) {
  write_profile("");
  const auto refused = estimate({"--floorplan", "w9100.toml"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("no millimetre"));
  const auto project =
      run({wirewatt(), "project", "--model", folder_.path().string(), "--voltage", "0.8"});
  EXPECT_EQ(project.exit_code, 1);
  EXPECT_THAT(project.err, HasSubstr("does not go with --voltage"));
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
