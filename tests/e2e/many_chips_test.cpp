// Calibrations of several chips as an array under a real Slurm, and how the chips differ.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "slurm_here.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr std::size_t kChips = 4;

std::string host_name() {
  const auto named = run({"hostname", "-s"});
  return named.out.substr(0, named.out.find('\n'));
}

TEST(ManyChips, AreCalibratedAsAnArrayAndCompared) {
  const SlurmHere slurm;
  if (!slurm.running()) {
    GTEST_SKIP() << "NO SLURM ON THIS MACHINE, NOTHING WAS TESTED: " << slurm.why_not();
  }
  const TemporaryFolder folder;
  const auto plan =
      write_plan(folder.path() / "chips.toml",
                 "command = \"calibrate\"\n[base]\ndevice = \"virtual:random\"\n"
                 "chip-class = \"nested\"\nquick = true\n[axes]\nhost = [\"" +
                     host_name() + "\"]\nchip-seed = { from = 1, to = " + std::to_string(kChips) +
                     ", step = 1 }\n[slurm]\nchunk_s = 1\n");
  const auto out = folder.path() / "chips";
  const auto swept = run({wirewatt(), "sweep", plan, "--out", out.string(), "--executor", "slurm"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const auto points = points_of(out);
  expect_each_once(points, kChips);

  const auto shown = run(
      {wirewatt(), "sweep", "show", out.string(), "--json", "--compare", "energy_fj_per_bit_mm"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto variation = shown.json().at("variation");
  ASSERT_EQ(variation.at("parts").size(), kChips);
  const auto& deviation = variation.at("deviation");
  EXPECT_LE(deviation.at("low").get<double>(), deviation.at("value").get<double>());
  EXPECT_LE(deviation.at("value").get<double>(), deviation.at("high").get<double>());
  EXPECT_GT(deviation.at("high").get<double>(), 0);
  // Drawn chips differ by far more than their intervals explain.
  EXPECT_LT(variation.at("same_p").get<double>(), 0.01);
  // Every part's own campaign is kept, and is what a calibration here finds.
  std::size_t models = 0;
  for (const auto& entry : fs::directory_iterator(out / "files")) {
    models += fs::exists(entry.path() / "model.json") && fs::exists(entry.path() / "campaign.db");
  }
  EXPECT_EQ(models, kChips);
  const auto alone =
      run({wirewatt(), "calibrate", "--device", "virtual:random", "--chip-class", "nested",
           "--quick", "--chip-seed", "1", "--out", (folder.path() / "alone").string(), "--json"});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto found = alone.json().at("energy_fj_per_bit_mm");
  EXPECT_DOUBLE_EQ(variation.at("parts").at(0).at("value").get<double>(),
                   found.at("value").get<double>());

  const auto page = folder.path() / "chips.html";
  ASSERT_EQ(run({wirewatt(), "report", out.string(), "-o", page.string()}).exit_code, 0);
  EXPECT_THAT(text_of(page), HasSubstr("from part to part"));
  EXPECT_THAT(text_of(page), HasSubstr("VIRTUAL"));
}

}  // namespace
}  // namespace ww::e2e
