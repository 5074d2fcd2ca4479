// Sweeps on this machine: whole results whatever happens.
#include <gmock/gmock.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "mounted.hpp"
#include "sweep_folder.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class SweepTest : public testing::Test {
 protected:
  [[nodiscard]] std::string plan(const std::string& text) const {
    return write_plan(folder_.path() / "p.toml", text);
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] Finished sweep(const std::string& plan, std::vector<std::string> more = {},
                               std::optional<std::chrono::milliseconds> kill_after = {}) const {
    std::vector<std::string> command{wirewatt(), "sweep", plan, "--out", out().string()};
    command.insert(command.end(), more.begin(), more.end());
    return run(command, {}, kill_after);
  }
  TemporaryFolder folder_;
};

TEST_F(SweepTest, RunsEveryPointAndShowsThem) {
  const auto file = plan(mesh_plan(5, 2));
  const auto finished = sweep(file, {"--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto summary = finished.json();
  EXPECT_EQ(summary.at("points"), 10);
  EXPECT_EQ(summary.at("status"), json({{"ok", 10}}));
  const auto shown = run({wirewatt(), "sweep", "show", out().string(), "--json", "--pareto",
                          "min:avg_packet_latency,max:accepted_flits_per_node_cycle",
                          "--sensitivity", "avg_packet_latency"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto document = shown.json();
  EXPECT_GE(document.at("rows").size(), 2U);
  EXPECT_EQ(document.at("sensitivity").at(0).at("axis"), "rate");
  const auto table = run({wirewatt(), "sweep", "show", out().string(), "--sort", "rate"});
  EXPECT_THAT(table.out, HasSubstr("energy_pj.total"));
  EXPECT_EQ(run({wirewatt(), "sweep", "show", out().string(), "--sort", "no.such"}).exit_code, 2);
}

TEST_F(SweepTest, AResultIsWhatTheCommandItselfPrints) {
  ASSERT_EQ(sweep(plan(mesh_plan(1, 1))).exit_code, 0);
  const auto direct = run({wirewatt(), "simulate", "--json", "--network=mesh", "--k=4",
                           "--warmup=100", "--cycles=400", "--rate=0.01", "--seed=1"});
  const auto printed = direct.json();
  const auto csv = csv_of(out());
  EXPECT_THAT(csv, HasSubstr(printed.at("avg_packet_latency").dump()));
  EXPECT_THAT(csv, HasSubstr(printed.at("energy_pj").at("total").dump()));
  EXPECT_EQ(csv.find("wall_s"), std::string::npos);
}

// Every option that names a file, not only those that somebody thought of.
TEST_F(SweepTest, APointIsAnotherWithAnotherContentOfAnyFileThatItNames) {
  const auto topology = folder_.path() / "ring.toml";
  const auto packets = folder_.path() / "packets.txt";
  const auto write = [&](const fs::path& file, const std::string& text) {
    std::ofstream(file) << text;
  };
  const std::string pair = "routers = 2\nnodes = [0, 1]\n[[link]]\nfrom = 0\nto = 1\nlength_mm = ";
  write(topology, pair + "1\n");
  write(packets, "0 0 1 2\n");
  const auto file = plan(
      "command = \"simulate\"\n[base]\ntopology = \"ring.toml\"\n"
      "packet-trace = \"packets.txt\"\n");
  ASSERT_EQ(sweep(file).exit_code, 0);
  const auto left = [&] {
    const auto finished = sweep(file, {"--resume", "--dry-run", "--json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("to_run").get<int>();
  };
  EXPECT_EQ(left(), 0);
  write(topology, pair + "2\n");
  EXPECT_EQ(left(), 1);
  write(topology, pair + "1\n");
  EXPECT_EQ(left(), 0);
  write(packets, "0 0 1 3\n");
  EXPECT_EQ(left(), 1);
  fs::remove(packets);
  const auto missing = sweep(file, {"--resume", "--dry-run"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("packets.txt"));
}

TEST_F(SweepTest, ABadPlanIsRefusedBeforeAnythingRuns) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"command = \"simulate\"\n[axes]\nrat = [1]\n", "rat"},
      {"command = \"simulate\"\n[axes]\nk = [4, \"four\"]\n", "four"},
      {"command = \"simulat\"\n[axes]\nk = [4]\n", "simulat"},
      {"command = \"simulate\"\n[base]\njson = true\n[axes]\nk = [4]\n", "'json'"},
      {"command = \"simulate\"\n[base]\nmodel = \"none.json\"\n", "none.json"},
      {"command = \"simulate\"\n[axes]\nrate = { from = 1, to = 2 }\n", "p.toml:3"},
      {"command = \"sweep\"\n[base]\narguments = \"p.toml\"\n", "sweep"}};
  for (const auto& [text, named] : bad) {
    const auto finished = sweep(plan(text));
    EXPECT_NE(finished.exit_code, 0) << text;
    EXPECT_THAT(finished.err, HasSubstr(named));
    EXPECT_FALSE(fs::exists(out())) << text;
  }
  EXPECT_EQ(run({wirewatt(), "sweep", "no-such.toml"}).exit_code, 2);
  EXPECT_EQ(run({wirewatt(), "sweep"}).exit_code, 2);
}

TEST_F(SweepTest, ANameThatIsNotUtf8AndADamagedDescriptionAreErrors) {
  const auto odd = write_plan(folder_.path() / "caf\xe9.toml", mesh_plan(1, 1));
  const auto refused = run({wirewatt(), "--progress-json", "sweep", odd, "--out", out().string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("not UTF-8"));
  EXPECT_FALSE(fs::exists(out()));
  ASSERT_EQ(sweep(plan(mesh_plan(1, 1))).exit_code, 0);
  std::ofstream(out() / "sweep.json") << "{\"format\": \"one\"}";
  const auto damaged = run({wirewatt(), "sweep", "collect", out().string()});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("not the description of a sweep"));
}

TEST_F(SweepTest, ADryRunSaysWhatItWouldTakeAndLeavesNothing) {
  const auto finished = sweep(plan(mesh_plan(100, 100)), {"--dry-run", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto said = finished.json();
  EXPECT_EQ(said.at("points"), 10'000);
  EXPECT_GT(said.at("pilot").at("seconds_a_point"), 0);
  EXPECT_GT(said.at("estimate").at("wall_s"), 0);
  EXPECT_GT(said.at("estimate").at("disk_bytes"), 1e6);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(SweepTest, ResumeRunsOnlyWhatIsNew) {
  ASSERT_EQ(sweep(plan(mesh_plan(3, 2))).exit_code, 0);
  const auto before = csv_of(out());
  EXPECT_EQ(sweep(plan(mesh_plan(3, 2))).exit_code, 2) << "without --resume it would start anew";
  ASSERT_EQ(sweep(plan(mesh_plan(3, 2)), {"--resume"}).exit_code, 0);
  EXPECT_EQ(csv_of(out()), before);
  // A wider plan in the same folder: what is there already is not run again.
  ASSERT_EQ(sweep(plan(mesh_plan(3, 3)), {"--resume"}).exit_code, 0);
  expect_each_once(points_of(out()), 9);
}

// A plan that keeps another part of the results needs other results.
TEST_F(SweepTest, ResumeRunsAgainWhereThePlanKeepsOtherKeys) {
  ASSERT_EQ(sweep(plan(mesh_plan(2, 1, "keep = [\"avg_packet_latency\"]\n"))).exit_code, 0);
  const auto wider = plan(mesh_plan(2, 1, "keep = [\"energy_pj.total\"]\n"));
  ASSERT_EQ(sweep(wider, {"--resume"}).exit_code, 0);
  EXPECT_THAT(csv_of(out()), HasSubstr("energy_pj.total"));
}

// Both put the results together, one of them while the other still writes.
TEST_F(SweepTest, TwoOfOneFolderDoNotStopEachOther) {
  const auto file = plan(mesh_plan(20, 4, "", "cycles = 12000\n"));
  Finished first;
  std::thread running([&] { first = sweep(file); });
  while (!fs::exists(out() / "results") || fs::is_empty(out() / "results")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const auto collected = run({wirewatt(), "sweep", "collect", out().string()});
  running.join();
  EXPECT_EQ(collected.exit_code, 0) << collected.err;
  EXPECT_EQ(first.exit_code, 0) << first.err;
  const auto points = points_of(out());
  expect_each_once(points, 80);
  EXPECT_EQ(points.status.at("ok"), 80);
}

TEST_F(SweepTest, ShowsAVirtualDeviceAndAnUnstableNetworkAsSuch) {
  ASSERT_EQ(sweep(plan("command = \"simulate\"\nkeep = [\"avg_packet_latency\", "
                       "\"accepted_flits_per_node_cycle\"]\n[base]\nnetwork = \"mesh\"\nk = 8\n"
                       "cycles = 2000\n[axes]\nrate = [0.1, 0.9]\n"))
                .exit_code,
            0);
  std::vector<std::string> show{wirewatt(),     "sweep",    "show",
                                out().string(), "--pareto", "max:accepted_flits_per_node_cycle"};
  const auto text = run(show);
  EXPECT_THAT(text.out, HasSubstr("one point is not stable"));
  show.emplace_back("--json");
  const auto front = run(show).json();
  EXPECT_FALSE(front.at("virtual"));
  ASSERT_EQ(front.at("rows").size(), 1U);
  EXPECT_EQ(front.at("rows").at(0).at("settings").at("rate"), "0.1");
  EXPECT_TRUE(front.at("rows").at(0).at("stable"));
  fs::remove_all(out());

  ASSERT_EQ(sweep(plan("command = \"workloads run\"\nkeep = [\"pass\"]\n[base]\nsize = \"small\"\n"
                       "[axes]\narguments = [\"bfs\"]\n"))
                .exit_code,
            0);
  const auto shown = run({wirewatt(), "sweep", "show", out().string()});
  EXPECT_THAT(shown.out, HasSubstr("(virtual, not a measurement)"));
  EXPECT_TRUE(run({wirewatt(), "sweep", "show", out().string(), "--json"}).json().at("virtual"));
}

TEST_F(SweepTest, KilledAtAnyMomentItLosesAndDoublesNothing) {
  const auto file = plan(mesh_plan(20, 10, "", "cycles = 4000\n"));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(sweep(file).exit_code, 0);
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - start;
  const auto unbroken = csv_of(out());
  fs::remove_all(out());
  int kills = 0;
  for (const double share : {0.05, 0.15, 0.3, 0.45}) {
    std::vector<std::string> more;
    if (fs::exists(out() / "sweep.json")) more.emplace_back("--resume");
    const auto after = std::chrono::milliseconds(static_cast<int>(share * whole.count()));
    kills += sweep(file, more, after).exit_code == -SIGKILL ? 1 : 0;
  }
  EXPECT_GE(kills, 1) << "no kill hit a running sweep";
  ASSERT_EQ(sweep(file, {"--resume"}).exit_code, 0);
  EXPECT_EQ(csv_of(out()), unbroken);
}

// The program of a point ends the process that runs it, or never ends.
TEST_F(SweepTest, APointThatCrashesAndOneThatNeverEndsAreNamed) {
  const auto file = plan(
      "command = \"estimate\"\ntime_limit_s = 4\n[base]\ndevice = \"virtual:w9100\"\n"
      "constant = \"literature\"\n[axes]\nprogram = [[\"sh\", \"-c\", \"exit 0\"], "
      "[\"sh\", \"-c\", \"kill -SEGV $PPID\"], [\"sleep\", \"1000\"]]\n");
  const auto finished = sweep(file, {"--json"});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const auto status = finished.json().at("status");
  EXPECT_EQ(status.at("crashed"), 1);
  EXPECT_EQ(status.at("timeout"), 1);
  const auto csv = csv_of(out());
  EXPECT_THAT(csv, HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(csv, HasSubstr("time limit of 4 s"));
  // A program that computes nothing has no counters: the command says so.
  EXPECT_THAT(csv, HasSubstr("counter"));
  expect_each_once(points_of(out()), 3);
}

TEST_F(SweepTest, AFullDiskStopsItAndResumeGoesOn) {
  const Mounted small(out());
  if (!small.there())
    GTEST_SKIP() << "no file system can be mounted here: " << std::strerror(small.error());
  const auto file = plan(mesh_plan(10, 10));
  const auto full = sweep(file);
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("No space left"));
  ASSERT_TRUE(small.grow());
  const auto again = sweep(file, {"--resume"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_each_once(points_of(out()), 100);
  EXPECT_EQ(points_of(out()).status.at("ok"), 100);
}

TEST_F(SweepTest, RefusesOptionsThatItsExecutorDoesNotRead) {
  const auto file = plan(mesh_plan(1, 1));
  const std::vector<std::pair<std::vector<std::string>, std::string>> unread{
      {{"--detach"}, "--detach"},
      {{"--slurm-option=--partition=gpu"}, "--slurm-option"},
      {{"--executor", "slurm", "--jobs", "2"}, "--jobs"}};
  for (const auto& [options, named] : unread) {
    const auto finished = sweep(file, options);
    EXPECT_EQ(finished.exit_code, 2) << named;
    EXPECT_THAT(finished.err, HasSubstr(named));
    EXPECT_FALSE(fs::exists(out())) << named;
  }
  ASSERT_EQ(sweep(file).exit_code, 0);
  EXPECT_EQ(run({wirewatt(), "sweep", "show", out().string(), "--top", "-1"}).exit_code, 2);
}

TEST_F(SweepTest, APointForAnotherMachineIsNotRunHere) {
  const auto finished = sweep(plan(
      "command = \"simulate\"\n[base]\nk = 4\ncycles = 100\n[axes]\nhost = [\"no-such-host\"]\n"));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("no-such-host"));
}

}  // namespace
}  // namespace ww::e2e
