// A ladder, measured on a virtual chip, interrupted and resumed, then scored by the sealed truth of
// the same launches.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <future>
#include <thread>

#include "pattern.hpp"
#include "process.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Ladder : public testing::Test {
 protected:
  [[nodiscard]] fs::path out() const { return folder_.path() / "ladder"; }
  [[nodiscard]] std::int64_t runs() const {
    const auto store = CampaignStore::open_read_only(out() / "ladder.db");
    return store ? store->run_count().value_or(0) : 0;
  }
  // Ends the command by Ctrl-C after some runs, and returns what it said.
  Finished interrupted_ladder() {
    const fs::path pid_file = folder_.path() / "pid";
    const std::string line = "echo $$ > " + pid_file.string() + "; exec " + wirewatt() +
                             " ladder --device virtual:w9100 --quick --seed 5 --out " +
                             out().string();
    auto ends = std::async(std::launch::async, [line] { return run({"sh", "-c", line}); });
    const auto late = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (runs() < 12 && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    pid_t pid = 0;
    std::ifstream(pid_file) >> pid;
    ::kill(pid, SIGINT);
    return ends.get();
  }
  static const json& figure(const json& rows, const std::string& name) {
    static const json kNone;
    for (const json& row : rows) {
      if (row.at("name") == name) return row;
    }
    ADD_FAILURE() << "no figure " << name;
    return kNone;
  }

  // Rounds over bits a second, of a stream's launches at its highest rate.
  [[nodiscard]] double length(const std::string& stream) const {
    const auto store = CampaignStore::open_read_only(out() / "ladder.db").value();
    const json plan = json::parse(store.get(campaign_keys::plan).value().value_or("{}"));
    for (const json& point : plan.at("setup").at("points")) {
      if (point.at("stream") != stream) continue;
      return point.at("loops").get<double>() / point.at("bits_per_s").get<double>();
    }
    ADD_FAILURE() << "no stream " << stream;
    return 0;
  }

  TemporaryFolder folder_;
};

TEST_F(Ladder, OfTheW9100IsResumedAndCoversTheTruth) {
  const Finished first = interrupted_ladder();
  EXPECT_EQ(first.exit_code, 130) << first.err;
  EXPECT_EQ(groups(first.err, "go on with: wirewatt (ladder --resume --out .*)").size(), 2U)
      << first.err;
  const auto before = runs();
  const auto resumed =
      run({wirewatt(), "-q", "ladder", "--resume", "--out", out().string(), "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_GT(runs(), before);
  const json ladder = resumed.json();
  EXPECT_TRUE(ladder.at("virtual").get<bool>());
  EXPECT_EQ(ladder.at("levels").size(), 3U);
  ASSERT_EQ(ladder.at("controls").size(), 1U);
  EXPECT_TRUE(ladder.at("controls")[0].at("passed").get<bool>());
  EXPECT_TRUE(fs::exists(out() / "report.html"));
  // Wavefronts queue where memory is read, so that such launches begin and end slowly.
  EXPECT_GT(length("read memory random"), 3 * length("read l1 random"));

  const auto scored = run({wirewatt(), "-q", "score", out().string(), "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json rows = scored.json().at("figures");
  double last = 0;
  for (const char* name : {"l1_read", "l2_read", "memory_read"}) {
    const json& row = figure(rows, name);
    EXPECT_TRUE(row.at("covered_sensed").get<bool>()) << row.dump();
    // The driver shows the requested voltage, so that the load line is the mean of its prior.
    EXPECT_LT(std::abs(row.at("error_sensed_percent").get<double>()), 8) << row.dump();
    EXPECT_GT(row.at("truth").get<double>(), 1.2 * last) << name;
    last = row.at("truth").get<double>();
  }
  for (const char* name : {"l2_write", "memory_write", "memory_read_less_l2"}) {
    EXPECT_TRUE(figure(rows, name).at("covered_sensed").get<bool>()) << name;
  }
}

TEST_F(Ladder, IsRefusedWhereThereIsNothingToResume) {
  const auto nothing = run({wirewatt(), "ladder", "--resume", "--out", folder_.path().string()});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_NE(nothing.err.find("there is no ladder.db"), std::string::npos) << nothing.err;
  const auto no_folder = run({wirewatt(), "ladder", "--resume"});
  EXPECT_EQ(no_folder.exit_code, 2);
  const auto data = run({wirewatt(), "ladder", "--device", "virtual:w9100", "--data", "zeros",
                         "--out", out().string()});
  EXPECT_EQ(data.exit_code, 2);
  EXPECT_NE(data.err.find("name data of another toggle rate"), std::string::npos) << data.err;
}

}  // namespace
}  // namespace ww::e2e
