// kill -9 at random moments, then --resume: no run lost, none twice, the same answer.
#include <gtest/gtest.h>

#include <random>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

TEST(Resume, SurvivesBeingKilledAtTenRandomMoments) {
  TemporaryFolder folder;
  const auto unbroken_folder = (folder.path() / "unbroken").string();
  const auto start = std::chrono::steady_clock::now();
  const auto unbroken = run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--quick",
                             "--seed", "1", "--out", unbroken_folder, "--json"});
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(unbroken.exit_code, 0) << unbroken.err;
  const auto expected = unbroken.json();

  const auto broken_folder = (folder.path() / "broken").string();
  std::mt19937 random(20261);
  std::uniform_real_distribution<double> moment(0.02, 0.25);
  Finished finished;
  int kills = 0;
  for (int attempt = 0; attempt < 11; ++attempt) {
    std::vector<std::string> command{wirewatt(),    "calibrate", "--device", "virtual:w9100",
                                     "--quick",     "--seed",    "1",        "--out",
                                     broken_folder, "--json"};
    if (std::filesystem::exists(broken_folder + "/campaign.db")) command.emplace_back("--resume");
    std::optional<std::chrono::milliseconds> kill_after;
    if (attempt < 10) {
      kill_after = std::chrono::milliseconds(static_cast<int>(moment(random) * whole.count()));
    }
    finished = run(command, {}, kill_after);
    if (finished.exit_code == -9) ++kills;
    if (finished.exit_code == 0) break;
  }
  EXPECT_GE(kills, 3) << "too few kills hit a running campaign to show anything";
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto resumed = finished.json();
  // (block, position) is unique in the store, so an equal count means none lost and none twice.
  EXPECT_EQ(resumed.at("runs"), expected.at("runs"));
  const auto& energy = expected.at("energy_fj_per_bit_mm");
  EXPECT_GE(resumed.at("energy_fj_per_bit_mm").at("value"), energy.at("low"));
  EXPECT_LE(resumed.at("energy_fj_per_bit_mm").at("value"), energy.at("high"));
}

}  // namespace
}  // namespace ww::e2e
