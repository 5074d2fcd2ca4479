// Tests the way from a campaign file to a model file.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "testing/fitting.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/model/stop_rule.hpp"

namespace ww::model {
namespace {

using namespace testing;

class CampaignFile : public ::testing::Test {
 protected:
  ScratchFolder scratch_ = ScratchFolder::create("model").value();
  const std::filesystem::path& folder_ = scratch_.path();
};

TEST_F(CampaignFile, FitsLikeTheRunsInMemoryAndIsWrittenAsVirtual) {
  const auto campaign = make_campaign(seeded(8));
  ASSERT_TRUE(write_campaign(campaign, folder_ / "campaign.db"));
  const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const auto from_file = fit_campaign(*store, {});
  ASSERT_TRUE(from_file) << from_file.error().text();
  const auto from_memory = fit(campaign);
  ASSERT_TRUE(from_memory);
  EXPECT_EQ(from_file->energy_per_bit_mm.row.value, from_memory->energy_per_bit_mm.row.value);
  EXPECT_EQ(from_file->campaign_hash, from_memory->campaign_hash);

  ASSERT_TRUE(write_model(folder_ / "model.json", *from_file));
  const auto text = read_file(folder_ / "model.json");
  ASSERT_TRUE(text);
  const auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["virtual"], true);
  EXPECT_EQ(json["device"], "virtual:synthetic");
  EXPECT_EQ(json["energy_fj_per_bit_mm"]["convention"], "per_random_bit");
  EXPECT_EQ(json["energy_fj_per_bit_mm"]["unit"], "fJ/bit/mm");
  EXPECT_NEAR(json["energy_fj_per_bit_mm"]["value"].get<double>(), 200, 10);
  EXPECT_LT(json["energy_fj_per_bit_mm"]["low"], json["energy_fj_per_bit_mm"]["sensed_low"]);
  EXPECT_EQ(json["reference"]["voltage_v"], 1.1687);
  EXPECT_EQ(json["distances"]["engine_to_quadrant_mm"].size(), 4);
  EXPECT_EQ(json["idle"][0]["coefficients_w"].size(), 4);
  EXPECT_EQ(json["provenance"]["campaign_hash"].get<std::string>().size(), 32);
  EXPECT_EQ(json["plateaus"].size(), campaign.runs.size());
}

TEST_F(CampaignFile, StopRuleReadsThePartOfTheWidthThatMoreBlocksNarrow) {
  const auto campaign = make_campaign(seeded(8));
  ASSERT_TRUE(write_campaign(campaign, folder_ / "campaign.db"));
  const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const auto width = sensed_half_width(*store);
  ASSERT_TRUE(width) << width.error().text();
  ASSERT_TRUE(*width);
  const auto whole = fit_campaign(*store, {});
  ASSERT_TRUE(whole);
  const auto& energy = whole->energy_per_bit_mm;
  const double whole_width = (energy.sensed_high - energy.sensed_low) / 2 / *energy.row.value;
  EXPECT_LT(**width, whole_width);
  const double noise = std::max(energy.covariance_error, energy.bootstrap_error);
  EXPECT_NEAR(**width, 1.96 * noise / *energy.row.value, 0.3 * **width);
}

TEST_F(CampaignFile, StopRuleHasNoWidthWhereTheRunsHaveNoContrastOfDistance) {
  auto spec = seeded(8);
  spec.same_distance = true;
  ASSERT_TRUE(write_campaign(make_campaign(spec), folder_ / "campaign.db"));
  const auto store = CampaignStore::open_read_only(folder_ / "campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const auto width = sensed_half_width(*store);
  ASSERT_TRUE(width) << width.error().text();
  EXPECT_FALSE(*width);
}

TEST_F(CampaignFile, ModelIntoAnAbsentFolderIsAnError) {
  EXPECT_FALSE(write_model(folder_ / "absent" / "model.json", FitResult{}));
}

}  // namespace
}  // namespace ww::model
