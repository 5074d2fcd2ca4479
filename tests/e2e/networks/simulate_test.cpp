// wirewatt simulate as users run it: traces and workloads on networks.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

json simulated(const std::vector<std::string>& words, const Environment& extra = {}) {
  std::vector<std::string> command{wirewatt(), "simulate", "--json"};
  command.insert(command.end(), words.begin(), words.end());
  const auto finished = run(command, extra);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.json();
}

TEST(Simulate, RunsAWorkloadsTraceToItsEndAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const json report =
      simulated({"--network", "mesh", "--workload", "dct"}, {{"TMPDIR", folder.path().string()}});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  for (const char* key :
       {"avg_packet_latency", "avg_network_latency", "p99_packet_latency", "requests",
        "accepted_flits_per_node_cycle", "avg_hops", "cycles", "flit_hops", "l1_hit_rate", "wall_s",
        "cpu_s", "flit_hops_per_cpu_s", "stable", "energy_pj"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  // 256 x 256 floats, each line read and written once; the coefficients are extra.
  EXPECT_EQ(report.at("trace").at("write_requests"), 4096);
  EXPECT_GE(report.at("trace").at("read_requests"), 4096);
  EXPECT_EQ(report.at("toggle_source"), "payload");
  // Values are in the trace; what a line holds besides is not always.
  EXPECT_LT(report.at("trace").at("random_payload_bytes").get<double>(),
            0.01 * report.at("trace").at("known_payload_bytes").get<double>());
  EXPECT_TRUE(report.at("trace").at("virtual"));
  EXPECT_TRUE(report.at("virtual"));
  const auto file = folder.path() / "run.json";
  const auto page = folder.path() / "page.html";
  std::ofstream(file) << report;
  ASSERT_EQ(run({wirewatt(), "report", file.string(), "-o", page.string()}).exit_code, 0);
  std::stringstream html;
  html << std::ifstream(page).rdbuf();
  EXPECT_NE(html.str().find("VIRTUAL"), std::string::npos);
}

TEST(Simulate, AWorkloadAndItsRecordedTraceAreTheSame) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "hist.wwt").string();
  ASSERT_EQ(run({wirewatt(), "run", "--trace", file, "--", wirewatt(), "workloads", "run", "hist"})
                .exit_code,
            0);
  const json traced = simulated({"--trace", file, "--k", "3"});
  const json direct = simulated({"--workload", "hist", "--k", "3"});
  EXPECT_EQ(traced.at("cycles"), direct.at("cycles"));
  EXPECT_EQ(traced.at("energy_pj"), direct.at("energy_pj"));

  std::stringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  const std::string cut = (folder.path() / "cut.wwt").string();
  std::ofstream(cut, std::ios::binary) << bytes.str().substr(0, bytes.str().size() / 2);
  const auto refused = run({wirewatt(), "simulate", "--trace", cut});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(refused.out.empty()) << refused.out;
  EXPECT_NE(refused.err.find("truncated"), std::string::npos) << refused.err;
}

// A CUDA program's trace drives networks of light without a step between.
TEST(Simulate, TakesAccelSimsTraces) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "kernel-1.traceg").string();
  std::ofstream(file) << R"(-kernel name = copy
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 8
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x7f0000000000
-local mem base_addr = 0x7e0000000000
-nvbit version = 1.5
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 3
0000 ffffffff 1 R1 LDG.E.SYS 1 R2 4 1 0x7efe00001000 4
0008 ffffffff 1 R4 TEX.LL 1 R2 0
0010 ffffffff 0 STG.E.SYS 2 R3 R1 4 1 0x7efe00002000 4
#END_TB
)";
  const std::vector<std::string> light{"--network",        "gpuopt", "--flit-bits",        "256",
                                       "--coalesce-lanes", "32",     "--interleave-bytes", "128"};
  const auto with = [&](const std::string& trace, const char* line) {
    std::vector<std::string> words{"--trace", trace, "--line-bytes", line};
    words.insert(words.end(), light.begin(), light.end());
    return simulated(words);
  };
  const json wide = with(file, "128");
  EXPECT_EQ(wide.at("trace").at("file"), file);
  EXPECT_EQ(wide.at("trace").at("read_requests"), 1);  // 32 lanes of 4 bytes are a line
  EXPECT_EQ(wide.at("trace").at("write_requests"), 1);
  EXPECT_EQ(with(file, "64").at("trace").at("read_requests"), 2);

  const std::string imported = (folder.path() / "copy.wwt").string();
  const auto import = run({wirewatt(), "trace", "import", file, "-o", imported});
  ASSERT_EQ(import.exit_code, 0);
  EXPECT_NE(import.err.find("missing: 1 of them"), std::string::npos) << import.err;
  const auto told = run({wirewatt(), "simulate", "--trace", file});
  EXPECT_NE(told.err.find("missing: 1 of them"), std::string::npos) << told.err;
  EXPECT_EQ(with(imported, "128").at("energy_pj"), wide.at("energy_pj"));

  const auto missing = run({wirewatt(), "simulate", "--trace", file + "/none.traceg"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("none.traceg"), std::string::npos) << missing.err;
}

TEST(Simulate, TakesOneLoadAndSaysWhichContradict) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), {wirewatt(), "simulate"});
    const auto finished = run(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out << finished.err;
    return finished.out + finished.err;
  };
  const auto names = [](const std::string& text, const char* one, const char* other) {
    return text.find(one) != std::string::npos && text.find(other) != std::string::npos;
  };
  EXPECT_TRUE(names(refused({"--trace", "a", "--traffic", "uniform"}), "--trace", "--traffic"));
  EXPECT_TRUE(names(refused({"--trace", "a", "--workload", "dct"}), "--trace", "--workload"));
  EXPECT_TRUE(names(refused({"--workload", "dct", "--rate", "0.1"}), "--workload", "--rate"));
  EXPECT_TRUE(names(refused({"--trace", "a", "--curve"}), "--trace", "--curve"));
  EXPECT_TRUE(names(refused({"--size", "small"}), "--size", "--workload"));
  EXPECT_TRUE(names(refused({"--workload", "no-such"}), "no-such", "workloads list"));
  EXPECT_TRUE(names(refused({"--workload", "dct", "--size", "huge"}), "huge", "medium"));
  EXPECT_TRUE(
      names(refused({"--workload", "dct", "--device", "virtual:no-such"}), "no-such", "w9100"));
  EXPECT_TRUE(names(refused({"--trace", "/no/such.wwt"}), "/no/such.wwt", "read"));
}

TEST(Simulate, EstimatesWithoutARunAndWithinItsBounds) {
  const std::vector<std::string> load{"--network", "torus",  "--k",  "4",        "--vcs",
                                      "8",         "--rate", "0.05", "--cycles", "3000"};
  std::vector<std::string> words = load;
  words.emplace_back("--estimate");
  const json estimate = simulated(words);
  ASSERT_TRUE(estimate.at("bounded"));
  EXPECT_TRUE(estimate.at("estimated"));
  const json report = simulated(load);
  EXPECT_GE(report.at("avg_packet_latency"), estimate.at("low"));
  EXPECT_LE(report.at("avg_packet_latency"), estimate.at("high"));
  EXPECT_LT(report.at("avg_packet_latency_interval").at("low"), report.at("avg_packet_latency"));
  EXPECT_EQ(run({wirewatt(), "simulate", "--estimate", "--network", "dapper"}).exit_code, 1);
  EXPECT_EQ(run({wirewatt(), "simulate", "--estimate", "--curve"}).exit_code, 2);
}

TEST(Simulate, SaysTheAreaAndTheLongestPathOfANetwork) {
  const json area = simulated({"--network", "mesh", "--vcs", "5", "--vc-buffer", "4", "--rate",
                               "0.1", "--cycles", "500", "--warmup", "100"})
                        .at("area");
  EXPECT_EQ(area.at("routers"), 16);
  // DSENT's router of 22 nm, and 48 links of a millimetre with 128 wires of 0.32 um pitch.
  EXPECT_NEAR(area.at("router_mm2").at("total").get<double>(), 0.0326, 1e-4);
  EXPECT_NEAR(area.at("router_path_ps").get<double>(), 231.354, 1e-9);
  EXPECT_NEAR(area.at("wiring_mm2").get<double>(), 48 * 128 * 320e-6, 1e-9);
}

TEST(Simulate, SkipsWhatIsFarBeyondAFullChannelAndSimulatesTheRest) {
  const auto at = [](const std::string& rate, const std::string& network) {
    return run({wirewatt(), "simulate", "--json", "--network", network, "--traffic", "transpose",
                "--k", "8", "--vcs", "8", "--cycles", "500", "--warmup", "100", "--rate", rate,
                "--skip-beyond", "2"});
  };
  // A channel of the mesh is full at 1/7.
  const auto skipped = at("0.3", "mesh");
  EXPECT_EQ(skipped.exit_code, 1);
  const json why = skipped.json();
  EXPECT_NEAR(why.at("skipped").at("full_rate").get<double>(), 1.0 / 7, 1e-9);
  EXPECT_FALSE(why.at("stable"));
  EXPECT_FALSE(why.contains("avg_packet_latency"));
  EXPECT_NE(skipped.err.find("2.10 times the 0.1429"), std::string::npos) << skipped.err;
  const auto beyond = at("0.25", "mesh");
  EXPECT_EQ(beyond.exit_code, 0) << beyond.err;
  EXPECT_FALSE(beyond.json().at("stable"));
  // Adaptive ways have no estimate, so nothing says that they are full.
  EXPECT_TRUE(at("0.3", "mesh-adaptive").json().contains("avg_packet_latency"));
}

TEST(Simulate, ShowsSeveralNetworksUnderOneLoad) {
  const std::vector<std::string> load{"--rate", "0.1", "--warmup", "100", "--cycles", "500"};
  const auto of = [&load](const std::string& network) {
    std::vector<std::string> words{"--network", network};
    words.insert(words.end(), load.begin(), load.end());
    return simulated(words);
  };
  const json both = of("mesh,torus").at("networks");
  ASSERT_EQ(both.size(), 2);
  for (const json& one : both) {
    const json alone = of(one.at("network").get<std::string>());
    EXPECT_EQ(one.at("energy_figures"), alone.at("energy_figures"));
    EXPECT_EQ(one.at("avg_packet_latency"), alone.at("avg_packet_latency"));
  }
  const auto text = run({wirewatt(), "simulate", "--network", "mesh,torus", "--rate", "0.1",
                         "--warmup", "100", "--cycles", "500"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("\ntorus "), std::string::npos) << text.out;
  const auto refused =
      run({wirewatt(), "simulate", "--network", "mesh,torus", "--rate", "0.1", "--heatmap"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--heatmap"), std::string::npos) << refused.err;
}

TEST(Simulate, NamesNoPartThatTheNetworkLacks) {
  const auto text = run({wirewatt(), "simulate", "--network", "mesh", "--rate", "0.1", "--warmup",
                         "100", "--cycles", "500"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out.find(" 0 pJ"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("dictionary"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("share of wires"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("link transitions assumed (0.5 a bit)"), std::string::npos) << text.out;
}

TEST(Simulate, RunsUntilItsIntervalIsNarrowEnough) {
  const std::vector<std::string> load{"--rate", "0.3", "--warmup", "200", "--cycles", "1000"};
  std::vector<std::string> words = load;
  words.insert(words.end(), {"--precision", "2"});
  const json repeated = simulated(words);
  EXPECT_TRUE(repeated.at("stable"));
  const json& intervals = repeated.at("intervals");
  EXPECT_TRUE(intervals.at("precise"));
  const json& latency = intervals.at("avg_packet_latency");
  EXPECT_LE(latency.at("high").get<double>() - latency.at("low").get<double>(),
            0.04 * latency.at("value").get<double>());
  words = load;
  words.insert(words.begin(), {wirewatt(), "simulate"});
  words.insert(words.end(), {"--precision", "0.01", "--max-seeds", "5"});
  const auto imprecise = run(words);
  EXPECT_EQ(imprecise.exit_code, 1);
  EXPECT_NE(imprecise.out.find("still wider"), std::string::npos) << imprecise.out;
}

TEST(Simulate, RefusesOptionsThatNothingWouldRead) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), {wirewatt(), "simulate", "--cycles", "200"});
    const auto finished = run(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  const std::vector<std::vector<std::string>> of_others{{"--routing", "adaptive"},
                                                        {"--ways", "booksim-ugal"},
                                                        {"--express-links"},
                                                        {"--adaptive", "rca"}};
  for (std::vector<std::string> words : of_others) {
    const std::string option = words.front();
    words.insert(words.begin(), {"--network", "mesh"});
    const std::string error = refusal(words);
    EXPECT_NE(error.find(option), std::string::npos) << error;
    EXPECT_NE(error.find("mesh has no such setting"), std::string::npos) << error;
  }
  // Networks of one folder share the keys that they read, and no others.
  for (const std::string option : {"--express-links", "--radix=8"}) {
    const std::string error = refusal({"--network", "torus", option});
    EXPECT_NE(error.find("torus has no such setting"), std::string::npos) << error;
  }
  EXPECT_NE(refusal({"--network", "gpuopt", "--traffic", "many_to_few", "--rate", "0.05",
                     "--flit-bits", "256", "--clock", "2e9"})
                .find("--core-mhz"),
            std::string::npos);
  EXPECT_NE(refusal({"--network", "dapper", "--workload", "dct", "--approx-threshold", "20"})
                .find("needs --approximable"),
            std::string::npos);
  // One of the networks of a picture reads it.
  EXPECT_EQ(run({wirewatt(), "simulate", "--network", "mesh,mesh-adaptive", "--adaptive", "rca",
                 "--curve", "--cycles", "200", "--warmup", "50"})
                .exit_code,
            0);
}

TEST(Simulate, SaysOfHowManyCyclesItsEnergiesAre) {
  const json report =
      simulated({"--network", "mesh", "--rate", "0.1", "--warmup", "200", "--cycles", "500"});
  EXPECT_EQ(report.at("measured_cycles"), 500);
  EXPECT_GE(report.at("cycles"), 700);
}

TEST(Simulate, TitlesAPictureByWhatItsCurvesShare) {
  const TemporaryFolder folder;
  const std::string picture = (folder.path() / "ring.svg").string();
  simulated({"--network", "ring,torus", "--k", "4", "--curve", "--plot", picture, "--cycles", "200",
             "--warmup", "50"});
  std::stringstream text;
  text << std::ifstream(picture).rdbuf();
  EXPECT_NE(text.str().find("16 nodes, 1-flit packets, uniform traffic"), std::string::npos)
      << text.str().substr(0, 600);
  EXPECT_EQ(text.str().find("mesh"), std::string::npos);
}

TEST(Simulate, FindsTheLoadAtWhichANetworkSaturates) {
  const json found = simulated({"--traffic", "transpose", "--cycles", "3000", "--warmup", "500",
                                "--saturation", "--tolerance", "0.05"})
                         .at("saturation");
  EXPECT_TRUE(found.at("saturates"));
  EXPECT_GT(found.at("rate").at("low"), 0.2);
  EXPECT_LT(found.at("rate").at("high"), 0.4);
}

TEST(Export, WritesTheConstantsOfAModelAndRefusesAFlaggedOne) {
  const TemporaryFolder folder;
  const auto model = folder.path() / "model.json";
  json content = {{"format", "wirewatt-model/1"},
                  {"device", "virtual:w9100"},
                  {"virtual", true},
                  {"reference", {{"voltage_v", 1.17}, {"clock_hz", 9.3e8}}},
                  {"distances",
                   {{"engine_to_quadrant_mm", {{5.0, 12.0}, {12.0, 5.0}}}, {"floorplan", "w9100"}}},
                  {"energy_fj_per_bit_mm",
                   {{"value", 100.0},
                    {"low", 90.0},
                    {"high", 115.0},
                    {"status", "ok"},
                    {"convention", "per_random_bit"}}}};
  std::ofstream(model) << content.dump();
  const auto power = folder.path() / "power.yaml";
  const std::vector<std::string> command{wirewatt(), "export",       "--to", "noxim",
                                         "--model",  model.string(), "-o",   power.string()};
  auto finished = run(command);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::stringstream text;
  text << std::ifstream(power).rdbuf();
  EXPECT_NE(text.str().find("[1, 0, 1e-13]"), std::string::npos) << text.str();
  content["energy_fj_per_bit_mm"]["status"] = "misfit";
  std::ofstream(model) << content.dump();
  EXPECT_EQ(run(command).exit_code, 1);
  std::vector<std::string> anyway = command;
  anyway.emplace_back("--anyway");
  EXPECT_EQ(run(anyway).exit_code, 0);
}

// Energies of the link's wires, by --node 22, of one calibration on cards of several nodes.
TEST(Simulate, ScalesTheWiresOfACalibrationFromTheNodeOfItsCard) {
  const TemporaryFolder folder;
  const auto model = folder.path() / "model.json";
  const auto written = [&](const std::string& device) {
    json content = {
        {"format", "wirewatt-model/1"},
        {"device", device},
        {"virtual", device.starts_with("virtual:")},
        {"reference", {{"voltage_v", 1.0}, {"clock_hz", 1e9}}},
        {"distances",
         {{"engine_to_quadrant_mm", {{5.0, 12.0}, {12.0, 5.0}}}, {"floorplan", "w9100"}}},
        {"energy_fj_per_bit_mm",
         {{"value", 100.0},
          {"low", 90.0},
          {"high", 115.0},
          {"status", "ok"},
          {"convention", "per_random_bit"}}}};
    std::ofstream(model) << content.dump();
  };
  const std::vector<std::string> load{"--network", "mesh", "--rate",  "0.1",
                                      "--cycles",  "500",  "--model", model.string()};
  const auto link_pj = [&](const std::string& device, std::vector<std::string> more = {}) {
    written(device);
    more.insert(more.begin(), load.begin(), load.end());
    return simulated(more).at("energy_pj").at("link").get<double>();
  };
  const double of_28nm = link_pj("virtual:w9100");
  // Villa et al., table II: 0.46 of 28 nm's energy at 7 nm, and 0.75 at 14 nm.
  for (const char* chip : {"virtual:mi100", "virtual:vega20"}) {
    EXPECT_NEAR(link_pj(chip), of_28nm / 0.46, 1e-6 * of_28nm) << chip;
  }
  EXPECT_NEAR(link_pj("virtual:vega10"), of_28nm / 0.75, 1e-6 * of_28nm);
  EXPECT_NEAR(link_pj("gpu:0 AMD Instinct MI50", {"--card-node", "7nm"}), of_28nm / 0.46,
              1e-6 * of_28nm);
  written("gpu:0 AMD Instinct MI50");
  std::vector<std::string> unknown{wirewatt(), "simulate"};
  unknown.insert(unknown.end(), load.begin(), load.end());
  const auto refused = run(unknown);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("give it with --card-node"), std::string::npos) << refused.err;
  const auto power = folder.path() / "power.yaml";
  std::vector<std::string> exporting{wirewatt(), "export",       "--to", "noxim",
                                     "--model",  model.string(), "-o",   power.string()};
  EXPECT_EQ(run(exporting).exit_code, 0);  // at the card's own node, whatever that is
  exporting.insert(exporting.end(), {"--node", "22"});
  EXPECT_EQ(run(exporting).exit_code, 2);
  exporting.insert(exporting.end(), {"--card-node", "7nm"});
  EXPECT_EQ(run(exporting).exit_code, 0);
  // No estimator has routers of the card's node.
  written("virtual:mi100");
  const auto no_routers =
      run({wirewatt(), "export", "--to", "noxim", "--model", model.string(), "-o", power.string()});
  EXPECT_EQ(no_routers.exit_code, 2);
  EXPECT_NE(no_routers.err.find("--node"), std::string::npos) << no_routers.err;
}

TEST(Simulate, RefusesANodeOfTheCardThatNothingIsScaledFrom) {
  const auto finished = run({wirewatt(), "simulate", "--network", "mesh", "--card-node", "7nm"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("--card-node"), std::string::npos) << finished.err;
}

TEST(Export, TablesComeOutOfACampaignAndConstantsOutOfAModel) {
  const TemporaryFolder folder;
  const auto out = folder.path() / "out";
  const auto error = [&out](std::vector<std::string> words) {
    words.insert(words.begin(), {wirewatt(), "export", "-o", out.string()});
    const auto finished = run(words);
    EXPECT_NE(finished.exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(out));
    return finished.err;
  };
  EXPECT_NE(error({"--to", "csv"}).find("give campaign.db"), std::string::npos);
  EXPECT_NE(error({"--to", "csv", "--model", "m"}).find("give campaign.db"), std::string::npos);
  EXPECT_NE(error({"--to", "noxim", "c"}).find("give --model"), std::string::npos);
  EXPECT_NE(error({"--to", "arrow", "c"}).find("--to csv"), std::string::npos);
  EXPECT_NE(error({"--to", "csv", "nowhere"}).find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace ww::e2e
