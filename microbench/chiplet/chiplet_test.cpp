// Which dies stand where, and powers of rails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/engine.hpp"
#include "chiplet/chiplet_layout.hpp"
#include "experiment/experiments.hpp"
#include "testing/fake_device.hpp"
#include "ww/calibration/chiplet_fit.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;

// Eight dies on a ring of four I/O dies, each die and page with a latency of its own besides.
struct RingOfDies {
  std::vector<int> io_die_of_die{0, 0, 1, 1, 2, 2, 3, 3};
  std::vector<int> home_of_page;
  double hop_ticks{259};
  double across_ticks{518};
  double noise_ticks{10};

  [[nodiscard]] std::vector<std::vector<double>> ticks() {
    SplitMix random(7);
    home_of_page.clear();
    for (int page = 0; page < 64; ++page) home_of_page.push_back(page * 5 % 4);
    std::vector<std::vector<double>> table;
    for (std::size_t die = 0; die < io_die_of_die.size(); ++die) {
      auto& row = table.emplace_back();
      for (std::size_t page = 0; page < home_of_page.size(); ++page) {
        const int apart = std::abs(io_die_of_die[die] - home_of_page[page]);
        const double way = apart == 0 ? 0 : apart == 2 ? across_ticks : hop_ticks;
        row.push_back(600 + 13 * static_cast<double>(die) + static_cast<double>(page % 3) * 40 +
                      way + random.uniform(-noise_ticks, noise_ticks));
      }
    }
    return table;
  }
};

TEST(ChipletLayout, FindsDiesHomesAndTheRing) {
  RingOfDies ring;
  const auto layout = chiplet_layout(ring.ticks(), "made up");
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->io_die_of_die, ring.io_die_of_die);
  EXPECT_EQ(layout->home_of_page, ring.home_of_page);
  EXPECT_EQ(layout->row_of, (std::array<int, 4>{1, 0, 3, 2}));
  EXPECT_EQ(layout->column_of, (std::array<int, 4>{3, 2, 1, 0}));
  EXPECT_EQ(layout->across_of, (std::array<int, 4>{2, 3, 0, 1}));
  EXPECT_NEAR(layout->ticks_by_hops[1] - layout->ticks_by_hops[0], 259, 10);
  EXPECT_GT(layout->separation, 5);
}

TEST(ChipletLayout, NumbersIoDiesInTheOrderOfTheirFirstComputeDie) {
  RingOfDies ring;
  ring.io_die_of_die = {2, 1, 0, 3, 2, 1, 0, 3};
  const auto layout = chiplet_layout(ring.ticks(), "made up");
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->io_die_of_die, (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
  // Number 0 is the ring's 2, whose neighbours are its 1 and 3, here 1 and 3.
  EXPECT_EQ(layout->row_of[0], 1);
  EXPECT_EQ(layout->across_of[0], 2);
}

TEST(ChipletLayout, RefusesWhatIsNoRing) {
  RingOfDies equal;
  equal.across_ticks = equal.hop_ticks;  // each I/O die is linked to each other one
  EXPECT_THAT(chiplet_layout(equal.ticks(), "made up").error().message, HasSubstr("no ring"));
  RingOfDies noisy;
  noisy.noise_ticks = 800;
  EXPECT_FALSE(chiplet_layout(noisy.ticks(), "made up"));
  RingOfDies uneven;
  uneven.io_die_of_die = {0, 0, 0, 1, 2, 2, 3, 3};
  EXPECT_THAT(chiplet_layout(uneven.ticks(), "made up").error().message, HasSubstr("as many"));
  RingOfDies one;
  one.io_die_of_die = {0, 0, 0, 0};
  EXPECT_FALSE(chiplet_layout(one.ticks(), "made up"));
}

// The whole campaign on a made-up package.
Result<CampaignSummary> run_on(const testing::FakeOptions& options,
                               const std::filesystem::path& folder, double plateau_s) {
  auto experiment =
      make_experiment(experiments(), "chiplet",
                      {.seed = 1, .quick = true, .own = {{"blocks", 4}, {"plateau_s", plateau_s}}});
  EXPECT_TRUE(experiment) << experiment.error().text();
  ExperimentParts parts;
  parts.open = [&](const DeviceRequest&, const std::string&) -> Result<Device> {
    return testing::make_fake_device(options);
  };
  parts.pinning = [](const Device& device) -> Result<std::unique_ptr<Pinning>> {
    return testing::make_fake_pinning(device);
  };
  return run_experiment(std::move(*experiment), {{.name = "virtual:w9100"}, folder, 1, false},
                        parts, {});
}

// Each part has a row and a column of its own; the link is what is left.
TEST(ChipletCampaign, MeasuresTheLinkBetweenTwoPartsFromTheSocket) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("ww_pair_{}", getpid());
  std::filesystem::remove_all(folder);
  const auto summary = run_on({.parts = 2}, folder, 2.0);
  ASSERT_TRUE(summary) << summary.error().text();
  const auto store = CampaignStore::open_read_only(folder);
  ASSERT_TRUE(store) << store.error().text();
  const auto fit = calibration::fit_chiplet(*store);
  ASSERT_TRUE(fit) << fit.error().text();
  ASSERT_EQ(fit->answer.rows.size(), 1U);
  const Figure& row = fit->answer.rows.front();
  EXPECT_EQ(row.name, "xgmi");
  ASSERT_TRUE(row.value) << row.reason;
  EXPECT_NEAR(1e12 * *row.value, 1.6, 0.1);
  EXPECT_LT(1e12 * *row.low, 1.6);
  EXPECT_GT(1e12 * *row.high, 1.6);
  EXPECT_EQ(fit->rejected, 0);
  std::filesystem::remove_all(folder);
}

TEST(ChipletCampaign, RefusesAPackageThatIsDividedIntoMoreParts) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("ww_eight_{}", getpid());
  std::filesystem::remove_all(folder);
  const auto summary = run_on({.parts = 8}, folder, 0.3);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::unsupported);
  EXPECT_THAT(summary.error().text(), HasSubstr("divided into 8 devices"));
  std::filesystem::remove_all(folder);
}

// The one rail is that of the I/O dies.
TEST(ChipletCampaign, MeasuresALinkAndSaysWhatItsRailsDoNotTell) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("ww_chiplet_{}", getpid());
  std::filesystem::remove_all(folder);
  const auto summary = run_on({.dies = true}, folder, 0.3);
  ASSERT_TRUE(summary) << summary.error().text();
  const auto store = CampaignStore::open_read_only(folder);
  ASSERT_TRUE(store) << store.error().text();
  const auto fit = calibration::fit_chiplet(*store);
  ASSERT_TRUE(fit) << fit.error().text();
  const auto json = to_json(*fit);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : json["hop_classes"]) rows[row["name"]] = row;
  EXPECT_NEAR(rows["row_hop"]["value"].get<double>(), 0.6, 0.02);
  EXPECT_EQ(rows["row_hop"]["unit"], "pJ/bit/crossing");
  EXPECT_NEAR(rows["across"]["value"].get<double>(), 1.2, 0.03);
  EXPECT_NEAR(rows["compute_die_and_cache"]["value"].get<double>(), 0.5, 0.02);
  EXPECT_TRUE(rows["memory"]["value"].is_null());
  EXPECT_EQ(rows["memory"]["status"], "not_identified");
  EXPECT_THAT(rows["memory"]["reason"].get<std::string>(), HasSubstr("hbm_energy"));
  EXPECT_TRUE(json["closure"]["slope"].is_null());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ww::microbench
