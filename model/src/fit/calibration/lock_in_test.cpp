// Fits of campaigns in which pairs take turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "testing/fitting.hpp"

namespace ww::model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(LockIn, AgreesWithPlateausAndNarrowsTheAnswer) {
  std::vector<double> errors;
  for (std::uint64_t seed = 41; seed <= 44; ++seed) {
    const auto campaign = make_campaign(with_lock_in(seed));
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ(result->lock_in.size(), 4u);
    EXPECT_EQ(result->lock_in.front().turn_s, 0);
    EXPECT_NEAR(result->lock_in[1].turn_s, 0.05, 1e-6);
    EXPECT_LT(std::abs(result->lock_in_disagreement_sigmas), 4);
    const auto& energy = result->energy_per_bit_mm;
    const auto& plateaus = constant(*result, "plateau_energy_fj_per_bit_mm");
    ASSERT_TRUE(energy.row.value && plateaus.row.value);
    EXPECT_LE(energy.sensed_high - energy.sensed_low,
              1.001 * (plateaus.sensed_high - plateaus.sensed_low));
    errors.push_back(error_percent(campaign, *energy.row.value));
  }
  EXPECT_LT(rms(errors), 1.5);
}

// Without the correction, long turns show the heat that short ones do not.
TEST(LockIn, TheSweepShowsThePartThatIsHeat) {
  auto spec = with_lock_in(45);
  spec.leakage_w = 40;
  spec.noise_w = 0.1;
  const auto campaign = make_campaign(spec);
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  const auto& turns = result->lock_in;
  ASSERT_EQ(turns.size(), 4u);
  const auto heat = [](const LockInRow& row) {
    return std::abs(row.energy_fj_per_bit_mm - row.uncorrected_fj_per_bit_mm);
  };
  // 1.6 s a cycle against 25 s, and plateaus, whose heat rests for 2 s.
  EXPECT_LT(heat(turns[1]), 0.7 * heat(turns[3]));
  EXPECT_LT(heat(turns[2]), heat(turns[3]));
  EXPECT_LT(heat(turns[1]), 0.7 * heat(turns[0]));
}

TEST(LockIn, DamagedTurnsAreKeptWithTheirReason) {
  auto campaign = make_campaign(with_lock_in(46));
  int spoilt = 0;
  for (auto& run : campaign.runs) {
    if (run.kind != RunKind::lock_in) continue;
    if (spoilt == 0) run.slots.clear();
    if (spoilt == 1) run.slots[7].engine = 12;
    if (spoilt == 2) run.slots[3].payload_bits = 0;
    ++spoilt;
  }
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  std::vector<std::string> reasons;
  for (const auto& row : result->plateaus) {
    if (row.kind == RunKind::lock_in) reasons.push_back(row.reason);
  }
  EXPECT_THAT(reasons, ::testing::ElementsAre(HasSubstr("without turns"), HasSubstr("floorplan"),
                                              HasSubstr("traffic")));
  const auto& lock_in = constant(*result, "lock_in_energy_fj_per_bit_mm");
  EXPECT_EQ(lock_in.row.status, RowStatus::not_identified);
  EXPECT_THAT(lock_in.row.reason, HasSubstr("too slow"));
}

}  // namespace
}  // namespace ww::model
