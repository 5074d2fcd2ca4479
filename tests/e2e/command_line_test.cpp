// Bad input at the command line: a clear message, the right exit code, nothing half-written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "pattern.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

void expect_error(const Finished& finished, int exit_code, const std::string& pattern) {
  EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
  EXPECT_TRUE(found_in_any_case(finished.err, pattern)) << finished.err;
  EXPECT_TRUE(finished.out.empty()) << finished.out;
}

TEST(CommandLine, HelpOnASubjectHasItsOptionsAlone) {
  const auto all = run({wirewatt(), "simulate", "--help"});
  EXPECT_NE(all.out.find("routers "), std::string::npos);
  EXPECT_EQ(all.out.find("Threshold of the messages"), std::string::npos);
  const auto laser = run({wirewatt(), "simulate", "--help=laser"});
  EXPECT_EQ(laser.exit_code, 0);
  EXPECT_NE(laser.out.find("Threshold of the messages"), std::string::npos);
  EXPECT_EQ(laser.out.find("--vc-buffer"), std::string::npos);
  expect_error(run({wirewatt(), "simulate", "--help=lasers"}), 2, "routers.*laser");
}

TEST(CommandLine, AMisspeltCommandIsWrongUsage) {
  EXPECT_EQ(run({wirewatt(), "calibate"}).exit_code, 2);
  EXPECT_EQ(run({wirewatt()}).exit_code, 2);
  EXPECT_EQ(run({wirewatt(), "calibrate", "--chip-class", "odd"}).exit_code, 2);
}

TEST(CommandLine, WrongWordsAreNamedInOneVoice) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "error: a command is needed; see 'wirewatt --help'"},
      {"simulate --network mesh --cycles 1e6", "error: --cycles: '1e6' is not a number; see"},
      {"simulate --network mesh --plot c.svg", "error: --plot: goes with --curve only; see"},
      {"reproduce iswc16", "there are iiswc16, dapper, gpuopt; did you mean 'iiswc16'?"},
      {"project", "error: --model: is needed and has no default; see 'wirewatt project --help'"},
      {"sweep plan.toml --executor slrum", "error: --executor: there is no 'slrum'"}};
  for (const auto& [command, words] : wrong) {
    const auto finished = run({"sh", "-c", wirewatt() + " " + command});
    EXPECT_EQ(finished.exit_code, 2) << command;
    EXPECT_NE(finished.err.find(words), std::string::npos) << command << ": " << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
}

TEST(CommandLine, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(run({wirewatt(), "help"}).out, run({wirewatt(), "--help"}).out);
  EXPECT_EQ(run({wirewatt(), "help", "trace", "info"}).out,
            run({wirewatt(), "trace", "info", "--help"}).out);
  EXPECT_EQ(run({wirewatt(), "version"}).out, run({wirewatt(), "--version"}).out);
}

TEST(CommandLine, OldNamesOfOptionsStillWork) {
  const auto joules = [](const std::vector<std::string>& options) {
    std::vector<std::string> words{wirewatt(), "simulate", "--json",   "--rate", "0.1",
                                   "--cycles", "500",      "--warmup", "100"};
    words.insert(words.end(), options.begin(), options.end());
    const auto finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("energy_pj").at("total").get<double>();
  };
  const double now = joules({"--node", "32nm", "--clock", "2e9"});
  EXPECT_EQ(joules({"--node-nm", "32", "--clock-hz=2e9"}), now);
  EXPECT_EQ(joules({"--node", "32", "--clock", "2e9"}), now);
  EXPECT_NE(joules({}), now);
  // Each old name reaches the same place as the new one: the file that is not there.
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"attribute", "none.csv", "--power", "p_w", "--time=t_s", "--voltage", "v_v"},
           {"export", "--to", "rapidchiplet", "--model", "none.json", "--load", "0.5", "-o", "x"},
           {"sweep", "show", "none.sweep", "--limit", "3"},
           {"trace", "dump", "none.wwt", "--limit", "3"},
           {"trace", "export", "none.wwt", "--format", "csv"}}) {
    const auto finished = run([&] {
      std::vector<std::string> words{wirewatt()};
      words.insert(words.end(), line.begin(), line.end());
      return words;
    }());
    EXPECT_NE(finished.err.find("none."), std::string::npos) << line[0] << ": " << finished.err;
    EXPECT_EQ(finished.err.find("no option"), std::string::npos) << finished.err;
  }
}

TEST(CommandLine, CountersPrintsTheProfilersLine) {
  const auto amd = run({wirewatt(), "counters", "--arch", "gfx90a", "--", "./app", "two words"});
  EXPECT_EQ(amd.exit_code, 0) << amd.err;
  EXPECT_NE(amd.out.find("TCC_EA_RDREQ_sum"), std::string::npos) << amd.out;
  EXPECT_NE(amd.out.find("rocprofv3 -i counters/input.txt"), std::string::npos) << amd.out;
  EXPECT_NE(amd.out.find("-- ./app 'two words'\n"), std::string::npos) << amd.out;
  const auto nvidia = run({wirewatt(), "counters", "--arch", "sm_90"});
  EXPECT_NE(nvidia.out.find("ncu --csv"), std::string::npos) << nvidia.out << nvidia.err;
  const auto unknown = run({wirewatt(), "counters", "--arch", "GFX9O8"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'gfx908'"), std::string::npos) << unknown.err;
}

TEST(CommandLine, CommandsForOtherProgramsAreInNoList) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto words = run({wirewatt(), "completion", shell}).out;
    EXPECT_NE(words.find("calibrate"), std::string::npos);
    EXPECT_EQ(words.find("exercise"), std::string::npos) << shell;
    EXPECT_EQ(words.find("sweep work'"), std::string::npos) << shell;
  }
}

TEST(CommandLine, AnUnknownDeviceIsNamed) {
  TemporaryFolder folder;
  for (const auto* device : {"virtual:no-such-chip", "quantum", "virtual:missing.toml"}) {
    const auto out = (folder.path() / "run").string();
    const auto finished =
        run({wirewatt(), "calibrate", "--device", device, "--quick", "--out", out});
    expect_error(finished, 2, "no-such-chip|quantum|missing.toml");
    EXPECT_FALSE(std::filesystem::exists(out + "/campaign.db")) << device;
  }
}

TEST(CommandLine, AnUnwritableFolderIsAnEnvironmentError) {
  expect_error(run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--quick", "--out",
                    "/proc/wirewatt-run"}),
               3, "/proc");
}

// More than the library keeps in memory, and less.
TEST(CommandLine, OutputThatCannotBeWrittenIsAnError) {
  for (const char* command :
       {"simulate --k 4 --cycles 100 --json", "simulate --k 4 --cycles 100", "devices"}) {
    const auto finished = run({"sh", "-c", wirewatt() + " " + command + " >/dev/full"});
    expect_error(finished, 3, "No space left on device");
  }
}

TEST(CommandLine, ResumeNeedsToKnowWhere) {
  expect_error(run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--resume"}), 2, "--out");
}

TEST(CommandLine, AMissingOpenClLoaderNamesThePackage) {
  TemporaryFolder folder;
  // A loader that is there but cannot be loaded looks to the program as if none were installed.
  std::ofstream(folder.path() / "libOpenCL.so.1") << "not a library";
  const auto finished = run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--quick",
                             "--out", (folder.path() / "run").string()},
                            {{"LD_LIBRARY_PATH", folder.path().string()}});
  expect_error(finished, 3, "ocl-icd-libopencl1");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run" / "campaign.db"));
}

TEST(CommandLine, AMissingCompilerLibraryNamesThePackage) {
  TemporaryFolder folder;
  for (const char* name : {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"}) {
    std::ofstream(folder.path() / name) << "not a library";
  }
  const auto finished = run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--quick",
                             "--out", (folder.path() / "run").string()},
                            {{"LD_LIBRARY_PATH", folder.path().string()}});
  expect_error(finished, 3, "libamd-comgr2");
}

TEST(CommandLine, AForeignFileIsNotACampaign) {
  TemporaryFolder folder;
  const auto file = folder.path() / "campaign.db";
  std::ofstream(file) << "just some text that is no database at all, and long enough to be read";
  expect_error(run({wirewatt(), "fit", file.string()}), 1, "campaign");
  expect_error(run({wirewatt(), "score", folder.path().string()}), 2, "model.json");
}

TEST(CommandLine, AFolderWithoutTheFileSaysWhichOneIsMissing) {
  TemporaryFolder folder;
  const std::string path = folder.path().string();
  expect_error(run({wirewatt(), "fit", path}), 2, "holds no campaign.db");
  expect_error(run({wirewatt(), "score", path}), 2, "holds no model.json");
  expect_error(run({wirewatt(), "project", "--model", path, "--node", "7nm"}), 2,
               "holds no model.json");
  expect_error(run({wirewatt(), "disasm", path}), 2, "is a folder");
}

TEST(CommandLine, EstimateAndTopRefuseOptionsThatNothingWouldRead) {
  const std::vector<std::pair<std::string, std::string>> unread{
      {"estimate --model m.json --counters c.csv --device virtual:mi210", "--device"},
      {"estimate --model m.json --counters c.csv --window 30", "--window"},
      {"estimate --model m.json --counters c.csv --constant literature", "--model"},
      {"top --model m.json --counters c.csv -- true", "--counters"},
      {"top --model m.json --arch gfx90a -- true", "--arch"},
      {"top --device virtual:w9100 --model m.json --counters c.csv -- true", "--counters"},
      {"top --device virtual:w9100 --model m.json --arch gfx90a -- true", "--arch"},
      {"top --device gpu:0 --model m.json --counters c.csv -- true", "--counters"},
      {"top --model m.json --device gpu:0 --lag 30", "--lag"}};
  for (const auto& [command, named] : unread) {
    expect_error(run({"sh", "-c", wirewatt() + " " + command}), 2, named);
  }
}

TEST(CommandLine, PatchRefusesWhatIsNoCodeObject) {
  TemporaryFolder folder;
  const auto in = folder.path() / "in.co";
  const auto out = folder.path() / "out.co";
  std::ofstream(in) << "\x7f"
                    << "ELF but no more";
  expect_error(run({wirewatt(), "patch", in.string(), "-o", out.string()}), 1, "");
  EXPECT_FALSE(std::filesystem::exists(out));
  expect_error(run({wirewatt(), "disasm", (folder.path() / "none.co").string()}), 2, "none.co");
}

TEST(CommandLine, SimulatePrintsTheContract) {
  const auto finished =
      run({wirewatt(),      "simulate", "--network", "mesh", "--traffic",       "uniform",
           "--k",           "4",        "--vcs",     "4",    "--vc-buffer",     "8",
           "--packet-size", "1",        "--rate",    "0.3",  "--routing-delay", "0",
           "--allocator",   "islip",    "--warmup",  "2000", "--cycles",        "5000",
           "--seed",        "1",        "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto report = finished.json();
  for (const auto* key : {"avg_packet_latency", "avg_network_latency", "p99_packet_latency",
                          "accepted_flits_per_node_cycle", "avg_hops", "cycles", "flit_hops",
                          "wall_s", "cpu_s", "flit_hops_per_cpu_s", "stable", "energy_pj"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
}

TEST(CommandLine, SimulateRefusesABadConfigurationByKey) {
  expect_error(run({wirewatt(), "simulate", "--vcs", "0"}), 2, "vcs");
  expect_error(run({wirewatt(), "simulate", "--rate", "1.5"}), 2, "rate");
  expect_error(run({wirewatt(), "simulate", "--network", "hypercube"}), 2, "hypercube");
}

TEST(CommandLine, DevicesListsTheVirtualGpuAsVirtual) {
  const auto finished = run({wirewatt(), "devices", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  bool found = false;
  const auto list = finished.json();
  for (const auto& device : list.at("devices")) {
    if (device.at("name") != "virtual:w9100") continue;
    found = true;
    EXPECT_EQ(device.at("virtual"), true);
    EXPECT_EQ(device.at("usable"), true);
  }
  EXPECT_TRUE(found);
}

// The library wraps them round, or cuts them, and prints limits of 309 digits.
TEST(Numbers, ThatAnOptionCannotHoldAreRefusedByItsName) {
  const std::vector<std::vector<std::string>> commands{
      {"--seed", "simulate", "--seed", "-1"},
      {"--seed", "simulate", "--seed", "99999999999999999999999"},
      {"--seed", "calibrate", "--dry-run", "--seed", "-1"},
      {"--cycles", "simulate", "--cycles", "-5"},
      {"--jobs", "sweep", "mesh.toml", "--jobs", "-1"},
      {"--top", "sweep", "show", "s", "--top", "-1"},
      {"--window", "launches", "x", "--window", "-5"},
      {"--rate", "simulate", "--rate", "1e400"},
      {"--rate", "simulate", "--rate", "nan"},
      {"--rate", "simulate", "--rate", "2"},
      {"--link-mm", "simulate", "--cycles", "10", "--link-mm", "-1"},
      {"--clock", "simulate", "--cycles", "10", "--clock", "-1"},
      {"--node", "simulate", "--cycles", "10", "--node", "1"},
      {"--flit-bits", "simulate", "--flit-bits", "0"},
      {"--k", "simulate", "--k", "-3"}};
  for (const auto& command : commands) {
    std::vector<std::string> words{wirewatt()};
    words.insert(words.end(), command.begin() + 1, command.end());
    const auto finished = run(words);
    const auto line = finished.err.substr(0, finished.err.find('\n'));
    EXPECT_EQ(finished.exit_code, 2) << line;
    EXPECT_THAT(line, HasSubstr(command[0] + ": ")) << finished.err;
    EXPECT_LT(line.size(), 120U) << line;
  }
}

TEST(Sweeps, AWrongOptionIsNamedAndNotThePlan) {
  const TemporaryFolder folder;
  const auto plan = (folder.path() / "mesh.toml").string();
  std::ofstream(plan) << "command = \"simulate\"\n[axes]\nrat = [0.1]\n";
  EXPECT_THAT(run({wirewatt(), "sweep", plan, "--executor", "slrum"}).err, HasSubstr("slrum"));
  EXPECT_THAT(run({wirewatt(), "sweep", plan, "--executr", "local"}).err,
              HasSubstr("did you mean '--executor'?"));
  EXPECT_THAT(run({wirewatt(), "sweep", "shwo", plan}).err, HasSubstr("did you mean 'show'?"));
  EXPECT_THAT(run({wirewatt(), "sweep", plan}).err, HasSubstr("did you mean '--rate'?"));
  std::ofstream(plan) << "command = \"simulat\"\n[axes]\nrate = [0.1]\n";
  EXPECT_THAT(run({wirewatt(), "sweep", plan}).err, HasSubstr("did you mean 'simulate'?"));
  EXPECT_EQ(run({wirewatt(), "sweep", "cancel", folder.path().string()}).exit_code, 2);
}

}  // namespace
}  // namespace ww::e2e
