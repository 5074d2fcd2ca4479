// Timing mode as users run it: the programs' results are those of functional mode, reports repeat,
// and what makes no sense is refused by name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class TimingMode : public ::testing::Test {
 protected:
  // Result arrays by file name.
  std::map<std::string, std::string> results(const std::string& name) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      if (entry.path().extension() != ".raw") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return files;
  }
  json workloads(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), {wirewatt(), "workloads", "run"});
    arguments.push_back("--json");
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, exit_code) << finished.out << finished.err;
    return finished.json();
  }

  TemporaryFolder temporary_;
  fs::path folder_{temporary_.path()};
};

// One that scatters, one with atomics and local memory, one with many launches.
TEST_F(TimingMode, GivesTheResultsOfFunctionalMode) {
  const std::vector<std::string> names{"dct", "hist", "bfs"};
  const auto with = [&](std::vector<std::string> more, const std::string& output) {
    more.insert(more.begin(), names.begin(), names.end());
    more.insert(more.end(), {"--device", "virtual:dapper", "--out", (folder_ / output).string()});
    return workloads(more);
  };
  with({}, "functional");
  const json timed = with({"--mode", "timing", "--network", "mesh"}, "timing");
  const auto expected = results("functional");
  EXPECT_GE(expected.size(), names.size());
  EXPECT_EQ(results("timing"), expected);
  const json& total = timed.at("timing").at("total");
  EXPECT_GT(total.at("ipc").get<double>(), 0);
  EXPECT_GT(total.at("network_energy_pj").at("total").get<double>(), 0);
  EXPECT_GT(total.at("approximable_share").get<double>(), 0);
  EXPECT_EQ(total.at("changed_replies"), 0);
}

TEST_F(TimingMode, ReportsTheSameTwice) {
  const auto report = [&] {
    json timing = workloads({"scan", "--mode", "timing", "--network", "mesh"}).at("timing");
    timing.at("total").erase("cpu_s");
    for (json& dispatch : timing.at("dispatches")) dispatch.erase("cpu_s");
    return timing.dump();
  };
  EXPECT_EQ(report(), report());
}

TEST_F(TimingMode, WritesItsReportForUnmodifiedPrograms) {
  const auto file = folder_ / "report.json";
  const auto finished = run({wirewatt(), "run", "--device", "virtual:dapper", "--mode", "timing",
                             "--network", "mesh", "--timing-report", file.string(), "--",
                             (build_folder() / "bin" / "icd_saxpy").string()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::ifstream text(file);
  const json report = parse_json(text);
  EXPECT_EQ(report.at("mode"), "timing");
  EXPECT_TRUE(report.at("virtual").get<bool>());
  EXPECT_GT(report.at("dispatches").size(), 0U);
}

// Both are of the sensor's readings.
TEST_F(TimingMode, WritesPowerSamplesBesideATimeline) {
  const auto text_of = [](const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  const fs::path timeline = folder_ / "run.pftrace";
  const fs::path samples = folder_ / "samples.csv";
  const auto finished = run({wirewatt(), "run", "--device", "virtual:dapper", "--mode", "timing",
                             "--timeline", timeline.string(), "--power-samples", samples.string(),
                             "--", wirewatt(), "workloads", "run", "hist"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(text_of(timeline).find("device power, by its sensor"), std::string::npos);
  EXPECT_EQ(text_of(samples).substr(0, 17), "time_ns,power_uw,");
}

// Keys of the light are options too, and win over the network's defaults.
TEST_F(TimingMode, TakesTheOptionsOfLight) {
  const auto lit = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"scan", "--mode", "timing", "--network", "ps-gpuopt"});
    return workloads(more).at("timing").at("total").at("light").at("mean_lit_units").get<double>();
  };
  EXPECT_GT(lit({"--floor-units", "9"}), 8.9);
  EXPECT_LT(lit({"--unit-cap", "2"}), 4.1);
  const auto refused = run({wirewatt(), "workloads", "run", "scan", "--unit-cap", "2"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--unit-cap"), std::string::npos) << refused.err;
}

TEST_F(TimingMode, RefusesWhatMakesNoSenseByName) {
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {wirewatt(), "workloads", "run", "scan"});
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.out << finished.err;
    return finished.err;
  };
  EXPECT_NE(refused({"--network", "mesh"}).find("--network"), std::string::npos);
  const std::vector<std::string> timing{"--mode", "timing", "--network", "dapper"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), timing.begin(), timing.end());
    return refused(more);
  };
  EXPECT_NE(with({"--approx-threshold", "-5"}).find("threshold"), std::string::npos);
  EXPECT_NE(with({"--check-depth", "0"}).find("--check-depth"), std::string::npos);
  EXPECT_NE(with({"--period", "20000"}).find("period"), std::string::npos);
  EXPECT_NE(with({"--memory-nodes", "0,1,8,14"}).find("--memory-nodes"), std::string::npos);
  EXPECT_NE(with({"--vcs", "0"}).find("vcs"), std::string::npos);
}

}  // namespace
}  // namespace ww::e2e
