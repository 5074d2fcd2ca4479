// Campaigns without a floorplan: energy per nanosecond of measured flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reduction/facts.hpp"
#include "testing/fitting.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr double kNsPerMm = 0.35;

// The campaign with latencies in the place of its floorplan, which give the same distances.
SyntheticCampaign by_flight(SyntheticCampaign campaign, double noise_ns, double resolution_ns = 0) {
  const auto facts = read_facts(campaign.facts);
  EXPECT_TRUE(facts) << facts.error().text();
  MeasuredPaths paths;
  for (int engine = 0; engine < facts->engines(); ++engine) {
    auto& row = paths.flight_ns.emplace_back();
    for (int quadrant = 0; quadrant < facts->quadrants(); ++quadrant) {
      // Places and homes take times of their own.
      row.push_back(230 + 3.0 * engine + 2.0 * (quadrant % 2) +
                    kNsPerMm * facts->distance(engine, quadrant));
    }
  }
  paths.noise_ns = noise_ns;
  paths.resolution_ns = resolution_ns;
  for (int quadrant = 0; quadrant < facts->quadrants(); ++quadrant) {
    paths.channels.push_back(facts->channels_of(quadrant));
  }
  paths.reason = "no floorplan of this die is known";
  campaign.facts.erase(std::string(campaign_keys::floorplan));
  campaign.facts[kPathsFact] = to_json(paths).dump();
  return campaign;
}

TEST(FitByFlight, IsTheEnergyPerMillimetreOverTheTimePerMillimetre) {
  const auto campaign = make_campaign(seeded(11));
  const auto mm = fit(campaign);
  const auto ns = fit(by_flight(campaign, 0.0));
  ASSERT_TRUE(mm && ns) << ns.error().text();
  ASSERT_TRUE(ns->energy_per_bit_ns);
  const FittedConstant& energy = *ns->energy_per_bit_ns;
  EXPECT_EQ(energy.row.status, RowStatus::ok) << energy.row.reason;
  EXPECT_EQ(energy.row.name, "energy_fj_per_bit_ns");
  EXPECT_EQ(energy.row.unit, "fJ/bit/ns");
  EXPECT_NEAR(*energy.row.value * kNsPerMm, *mm->energy_per_bit_mm.row.value,
              1e-3 * *energy.row.value);
  EXPECT_NEAR(energy.sensed_low * kNsPerMm, mm->energy_per_bit_mm.sensed_low,
              3e-3 * *energy.row.value);
  EXPECT_EQ(&ns->energy(), &*ns->energy_per_bit_ns);
  EXPECT_FALSE(mm->energy_per_bit_ns);
}

// Loads that a cache before the L2 may have answered never crossed the wires.
TEST(FitByFlight, UpperEndsAllowForHitsBeforeTheL2) {
  auto campaign = by_flight(make_campaign(seeded(11)), 0.0);
  const auto without = fit(campaign);
  campaign.facts[std::string(campaign_keys::opening)] = R"({"array_caches": {"max_hits": 0.1}})";
  const auto with = fit(campaign);
  ASSERT_TRUE(without && with) << with.error().text();
  const FittedConstant& narrow = without->energy();
  const FittedConstant& wide = with->energy();
  EXPECT_EQ(*wide.row.value, *narrow.row.value);
  EXPECT_EQ(*wide.row.low, *narrow.row.low);
  EXPECT_NEAR(*wide.row.high, *narrow.row.high / 0.9, 1e-9 * *narrow.row.high);
  EXPECT_NEAR(wide.sensed_high, narrow.sensed_high / 0.9, 1e-9 * narrow.sensed_high);
  campaign.facts[std::string(campaign_keys::opening)] = R"({"array_caches": {"max_hits": 0.9}})";
  EXPECT_THAT(fit(campaign).error().text(), HasSubstr("max_hits"));
}

TEST(FitByFlight, GivesNoMillimetres) {
  const auto result = fit(by_flight(make_campaign(seeded(11)), 0.0));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::not_identified);
  EXPECT_FALSE(result->energy_per_bit_mm.row.value);
  EXPECT_THAT(result->energy_per_bit_mm.row.reason, HasSubstr("no floorplan of this die is known"));
  const auto& memory = constant(*result, "l2_memory_energy_fj_per_bit_mm");
  EXPECT_EQ(memory.row.status, RowStatus::not_identified);
  EXPECT_EQ(constant(*result, "toggle_slope_fj_per_transition_ns").row.unit, "fJ/transition/ns");
  const auto json = to_model_json(*result);
  EXPECT_EQ(json["distances"]["unit"], "ns");
  EXPECT_TRUE(json["distances"].contains("engine_to_quadrant_ns"));
  EXPECT_FALSE(json["pairs"][0].contains("distance_mm"));
  EXPECT_TRUE(json["energy_fj_per_bit_mm"]["value"].is_null());
}

TEST(FitByFlight, WidensItsAbsoluteIntervalByTheNoiseOfLatencies) {
  const auto campaign = make_campaign(seeded(11));
  const auto sharp = fit(by_flight(campaign, 0.0));
  const auto noisy = fit(by_flight(campaign, 0.5));
  ASSERT_TRUE(sharp && noisy);
  const auto width = [](const FitResult& result) {
    return *result.energy().row.high - *result.energy().row.low;
  };
  EXPECT_GT(width(*noisy), 1.02 * width(*sharp));
  EXPECT_DOUBLE_EQ(noisy->energy().sensed_low, sharp->energy().sensed_low);
  // Whole cycles of the clock are as much an error as noise is.
  const auto coarse = fit(by_flight(campaign, 0.0, 0.5));
  ASSERT_TRUE(coarse);
  EXPECT_DOUBLE_EQ(width(*coarse), width(*noisy));
}

TEST(FitByFlight, IsNotIdentifiedWhereWholeCyclesAreMostOfTheContrast) {
  const auto result = fit(by_flight(make_campaign(seeded(11)), 0.0, 4.0));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->energy().row.status, RowStatus::not_identified);
  EXPECT_FALSE(result->energy().row.value);
  EXPECT_THAT(result->energy().row.reason, HasSubstr("whole cycles of the clock"));
  EXPECT_EQ(result->energy().row.name, "energy_fj_per_bit_ns");
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::not_identified);
  EXPECT_EQ(constant(*result, "toggle_slope_fj_per_transition_ns").row.status,
            RowStatus::not_identified);
}

TEST(MeasuredPaths, AreRefusedWhereTheyMakeNoTable) {
  MeasuredPaths paths;
  paths.flight_ns = {{1, 2}, {3, 4}};
  paths.channels = {4, 4};
  EXPECT_TRUE(measured_paths_from_json(to_json(paths)));
  paths.flight_ns[1].pop_back();
  EXPECT_THAT(measured_paths_from_json(to_json(paths)).error().text(), HasSubstr("flight_ns"));
  paths.flight_ns = {{1, 2}, {3, 0}};
  EXPECT_FALSE(measured_paths_from_json(to_json(paths)));
}

}  // namespace
}  // namespace ww::model
