// A calibration that Ctrl-C ended goes on by the command that it prints, and by no more than its
// folder; while it runs, no second one joins it.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "pattern.hpp"
#include "process.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;

class Resume : public testing::Test {
 protected:
  // Starts a command whose process id `pid_` gets.
  std::future<Finished> start(const std::string& arguments) {
    const std::string line =
        "echo $$ > " + pid_file().string() + "; exec " + wirewatt() + " " + arguments;
    return std::async(std::launch::async, [line] { return run({"sh", "-c", line}); });
  }
  [[nodiscard]] fs::path pid_file() const { return folder_.path() / "pid"; }
  [[nodiscard]] pid_t pid() const {
    pid_t number = 0;
    std::ifstream(pid_file()) >> number;
    return number;
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "it's one"; }

  static bool reaches(const std::function<bool()>& state) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (!state() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return state();
  }
  [[nodiscard]] std::int64_t runs_of() const {
    const auto store = CampaignStore::open_read_only(out() / "campaign.db");
    return store ? store->run_count().value_or(0) : 0;
  }

  TemporaryFolder folder_;
};

TEST_F(Resume, NeedsACampaign) {
  for (const fs::path& folder : {folder_.path(), folder_.path() / "typo"}) {
    const auto finished = run({wirewatt(), "calibrate", "--resume", "--out", folder.string()});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_NE(finished.err.find("nothing to resume in " + folder.string()), std::string::npos)
        << finished.err;
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "typo"));
}

TEST_F(Resume, GoesOnAsTypedAndLetsNoSecondProcessIn) {
  auto first = start(
      "calibrate --device virtual:random --chip-seed 7 --chip-class nested --quick "
      "--seed 3 --json --out \"" +
      out().string() + "\"");
  ASSERT_TRUE(reaches([&] { return runs_of() > 3; }));
  const auto second = run({wirewatt(), "calibrate", "--resume", "--out", out().string()});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.err.find("process " + std::to_string(pid()) + " is measuring into this folder"),
            std::string::npos)
      << second.err;
  ::kill(pid(), SIGINT);
  const auto interrupted = first.get();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  const auto before = runs_of();
  const auto hint = groups(interrupted.err, "go on with: wirewatt (.*)");
  ASSERT_EQ(hint.size(), 2U) << interrupted.err;
  const auto resumed = run({"sh", "-c", wirewatt() + " " + hint[1] + " --json"});
  EXPECT_LE(resumed.exit_code, 1) << resumed.err;  // a quick one may not identify the energy
  const auto printed = resumed.json();
  EXPECT_EQ(printed["device"], "virtual:random");
  EXPECT_GT(printed["runs"], before);
  const auto store = CampaignStore::open_read_only(out() / "campaign.db");
  ASSERT_TRUE(store);
  const auto facts = store->facts().value();
  EXPECT_EQ(facts.at("seed"), "3");
  EXPECT_EQ(facts.at("chip_seed"), "7");
  EXPECT_EQ(facts.at("chip_class"), "nested");
  EXPECT_EQ(facts.at("finished"), "true");
  EXPECT_EQ(parse_json(facts.at("plan"))["quick"], true);
}

TEST_F(Resume, ASecondSweepIsToldWhoRunsTheFirst) {
  std::ofstream(folder_.path() / "plan.toml")
      << "command = \"simulate\"\n[base]\ncycles = 2000000\n[axes]\nseed = [1, 2, 3, 4]\n";
  const std::string plan = (folder_.path() / "plan.toml").string();
  const std::string folder = (folder_.path() / "s").string();
  auto first = start("sweep " + plan + " --jobs 1 --out " + folder);
  ASSERT_TRUE(reaches([&] { return fs::exists(fs::path(folder) / "sweep.json"); }));
  const auto second = run({wirewatt(), "sweep", plan, "--resume", "--out", folder});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_TRUE(found(second.err, "process " + std::to_string(pid()) + " is running the sweep"))
      << second.err;
  ::kill(pid(), SIGINT);
  const auto interrupted = first.get();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err << interrupted.out;
}

}  // namespace
}  // namespace ww::e2e
