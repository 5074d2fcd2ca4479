// wirewatt simulate on a calibrated chip's own crossbar, and studies/network_baseline beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A calibration of the W9100 that somebody made up, with the distances of its floorplan.
json calibration() {
  const json constant = {{"value", 200.0},
                         {"low", 150.0},
                         {"high", 260.0},
                         {"status", "ok"},
                         {"convention", "per_random_bit"}};
  json slope = {{"name", "toggle_slope_fj_per_transition_mm"},
                {"value", 300.0},
                {"low", 280.0},
                {"high", 320.0},
                {"status", "ok"}};
  return {{"format", "wirewatt-model/1"},
          {"device", "virtual:w9100"},
          {"virtual", true},
          {"energy_fj_per_bit_mm", constant},
          {"constants", json::array({slope})},
          {"reference", {{"voltage_v", 1.17}, {"clock_hz", 930e6}}},
          {"distances",
           {{"floorplan", "w9100"},
            {"engine_to_quadrant_mm",
             {{5.25, 12.25, 8.75, 15.75},
              {12.25, 5.25, 15.75, 8.75},
              {8.75, 15.75, 5.25, 12.25},
              {15.75, 8.75, 12.25, 5.25}}},
            {"registers_to_l1_mm", 3.5},
            {"l2_to_memory_mm", 11.5}}}};
}

class ChipCrossbar : public testing::Test {
 protected:
  std::string model(const json& content) {
    const auto path = folder_.path() / "model.json";
    std::ofstream(path) << content.dump();
    return path.string();
  }
  static Finished simulate(std::vector<std::string> words) {
    words.insert(words.begin(), {wirewatt(), "simulate", "--json"});
    return run(words);
  }
  static json wires(const std::vector<std::string>& words) {
    const auto finished = simulate(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("energy_pj").at("chip_wires");
  }

  TemporaryFolder folder_;
};

TEST_F(ChipCrossbar, ChargesEachFlitForTheLengthOfItsOwnWay) {
  const auto finished =
      simulate({"--network", "crossbar", "--workload", "hist", "--model", model(calibration())});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json charge = report.at("energy_pj").at("chip_wires");
  EXPECT_EQ(charge.at("label"), "virtual");
  EXPECT_THAT(charge.at("source").get<std::string>(), HasSubstr("floorplan w9100"));
  // Every flit leaves the one switch once.
  EXPECT_EQ(charge.at("flits"), report.at("flit_hops"));
  EXPECT_EQ(charge.at("bits").get<double>(), 128 * report.at("flit_hops").get<double>());
  const double rate = charge.at("toggle_rate");
  const double fj = charge.at("fj_per_bit_mm").at("value");
  EXPECT_NEAR(fj, 200 + 300 * (rate - 0.5), 1e-9 * fj);
  const double pj = charge.at("pj").at("value");
  EXPECT_NEAR(pj, fj * charge.at("bit_mm").get<double>() * 1e-3, 1e-9 * pj);
  EXPECT_LT(charge.at("pj").at("low"), 0.8 * pj);
  EXPECT_GT(charge.at("pj").at("high"), 1.2 * pj);
  EXPECT_NEAR(report.at("energy_pj").at("link"), pj, 1e-9 * pj);
  const double parts = charge.at("requests").at("pj").at("value").get<double>() +
                       charge.at("replies").at("pj").at("value").get<double>();
  EXPECT_NEAR(parts, pj, 1e-9 * pj);
}

// Energy per bit and mm at the same toggle rate does not depend on the network.
TEST_F(ChipCrossbar, HasTheWireEnergyOfAMeshAtTheSameNode) {
  const auto energy = [&](const std::string& network, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"--network", network, "--traffic", "many_to_few", "--rate", "0.02", "--cycles",
                 "500", "--toggle-rate", "0.3", "--model", model(calibration()), "--node", "28"});
    const auto finished = simulate(more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("energy_pj");
  };
  const json mesh = energy("mesh", {}).at("link_wires");
  const json crossbar = energy("crossbar", {}).at("chip_wires");
  for (const char* part : {"value", "low", "high"}) {
    const double fj = crossbar.at("fj_per_bit_mm").at(part);
    EXPECT_NEAR(mesh.at("fj_per_bit_mm").at(part), fj, 1e-9 * fj) << part;
  }
  EXPECT_EQ(mesh.at("label"), "virtual");
  EXPECT_LT(mesh.at("pj").at("low"), mesh.at("pj").at("value"));
  const auto shown = run({wirewatt(), "simulate", "--network", "mesh", "--rate", "0.1", "--cycles",
                          "500", "--model", model(calibration())});
  EXPECT_THAT(shown.out, HasSubstr("wires of links (virtual)"));
  EXPECT_THAT(shown.out, HasSubstr("with data of a virtual GPU: not a measurement"));
  EXPECT_TRUE(simulate({"--network", "mesh", "--rate", "0.1", "--cycles", "500", "--model",
                        model(calibration())})
                  .json()
                  .at("virtual"));
  EXPECT_FALSE(
      simulate({"--network", "mesh", "--rate", "0.1", "--cycles", "500"}).json().at("virtual"));
  EXPECT_THAT(shown.out, HasSubstr("calibration of virtual:w9100, 28 nm, scaled to 22 nm"));
}

TEST_F(ChipCrossbar, TakesTheDistancesOfTheCalibrationOrOfAFloorplan) {
  const std::vector<std::string> load{"--network", "crossbar", "--workload", "hist", "--model"};
  const auto with = [&](const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> words = load;
    words.push_back(path);
    words.insert(words.end(), more.begin(), more.end());
    return wires(words);
  };
  const double drawn = with(model(calibration())).at("bit_mm");
  json far = calibration();
  for (json& engine : far["distances"]["engine_to_quadrant_mm"]) {
    for (json& mm : engine) {
      mm = 2 * mm.get<double>();
    }
  }
  EXPECT_NEAR(with(model(far)).at("bit_mm"), 2 * drawn, 1e-4 * drawn);
  const auto file = source_folder() / "model" / "floorplans" / "w9100.toml";
  EXPECT_NEAR(with(model(far), {"--floorplan", file.string()}).at("bit_mm"), drawn, 1e-4 * drawn);
}

TEST_F(ChipCrossbar, RefusesWhatTheChipDoesNotHave) {
  const std::string good = model(calibration());
  const auto refusal = [&](const std::vector<std::string>& words) {
    const auto finished = simulate(words);
    EXPECT_NE(finished.exit_code, 0);
    EXPECT_TRUE(finished.out.empty()) << finished.out;
    return finished.err;
  };
  EXPECT_THAT(refusal({"--network", "crossbar", "--workload", "hist", "--model", good, "--k", "8"}),
              HasSubstr("44 compute units and 16 channels"));
  EXPECT_THAT(refusal({"--network", "crossbar", "--traffic", "uniform", "--model", good}),
              HasSubstr("no wires"));
  EXPECT_THAT(refusal({"--network", "mesh", "--model", good, "--floorplan", "w9100.toml"}),
              HasSubstr("--network crossbar"));
  const auto packets = folder_.path() / "packets.txt";
  const auto replayed = [&](const std::string& line) {
    std::ofstream(packets) << line << '\n';
    return std::vector<std::string>{"--network",      "crossbar", "--packet-trace",
                                    packets.string(), "--model",  good};
  };
  // Nodes 0 to 43 are compute units, 44 to 59 channels.
  EXPECT_THAT(refusal(replayed("0 3 44 2\n1 3 4 2")),
              HasSubstr("packet 1 goes from node 3 to node 4"));
  EXPECT_THAT(refusal(replayed("0 44 45 2")), HasSubstr("no wires"));
  EXPECT_GT(wires(replayed("0 3 44 2")).at("pj").at("low"), 0);
}

TEST_F(ChipCrossbar, RefusesACalibrationWithoutMillimetresAndSaysWhy) {
  json content = calibration();
  content["energy_fj_per_bit_mm"] = {
      {"value", nullptr},
      {"status", "not_identified"},
      {"reason", "the data identify energy per nanosecond of flight"}};
  content["distances"] = {{"floorplan", ""}, {"unit", "ns"}};
  const auto finished =
      simulate({"--network", "crossbar", "--workload", "hist", "--model", model(content)});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("per nanosecond of flight"));
}

TEST_F(ChipCrossbar, StandsBesideTheEstimateWithTheCausesOfTheDifference) {
  const auto script = source_folder() / "tests/validation/studies/network_baseline";
  const auto finished = run({script.string(), model(calibration()), "dct", "hist", "bfs", "--json"},
                            {{"WIREWATT", wirewatt()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json rows = finished.json().at("workloads");
  ASSERT_EQ(rows.size(), 3U);
  for (const json& row : rows) {
    double product = 1;
    for (const auto& [name, factor] : row.at("factors").items()) {
      product *= factor.get<double>();
    }
    const double ratio = row.at("ratio");
    EXPECT_NEAR(product, ratio, 1e-9 * ratio) << row;
    EXPECT_NEAR(ratio,
                row.at("simulate_j").at("value").get<double>() /
                    row.at("estimate_j").at("value").get<double>(),
                1e-12 * ratio);
    EXPECT_GT(row.at("factors").at("flits"), 1.0) << row;  // headers are never free
    // The chip's monitors saw the same data travel as far.
    EXPECT_NEAR(row.at("factors").at("data"), 1, 0.02) << row;
    EXPECT_NEAR(row.at("factors").at("way"), 1, 0.03) << row;
    EXPECT_GT(row.at("bytes"), 0) << row;
  }
}

}  // namespace
}  // namespace ww::e2e
