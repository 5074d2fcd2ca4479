// Fits of campaigns in which pairs take turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fit/calibration/payloads.hpp"
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

// Plateaus and turns of one payload, whose k differ by their noise. An assumed load line moves both
// by a fifth, as far as their noise shows: if it had a say in their weights, K would be 95.
TEST(Payloads, AreNotLedAwayFromTheirVariantsByTheLoadLine) {
  JointInput input;
  input.temperature_correction = false;
  input.load_line = {0.25e-3, 0.15e-3, 0.07e-3, 0.63e-3};
  input.variants.resize(2);
  input.variants[1].turn_s = 0.1;
  JointFit fit;
  fit.parameters.variants.resize(2);
  fit.parameters.variants[0].energy_fj_per_bit_mm = 100;
  fit.parameters.variants[1].energy_fj_per_bit_mm = 101;
  fit.parameters.idle.resize(1);
  Uncertainty noise;
  noise.covariance = Eigen::Vector2d(0.25, 0.25).asDiagonal();
  noise.degrees_of_freedom = 100;
  const Payloads payloads(input, fit, {0, 0}, {20, 21.5}, noise);
  ASSERT_EQ(payloads.count(), 1u);
  EXPECT_NEAR(payloads.energy(0), 100.5, 1e-9);
  // 0.38 mOhm up, 0.18 down, with a little noise and what scales with k.
  const Reach reach = reach_95(noise, payloads.weights(0));
  EXPECT_NEAR(reach.up, 20.75, 0.2);
  EXPECT_NEAR(reach.down, 20.75 * 0.18 / 0.38, 0.2);
  EXPECT_NEAR(payloads.weights_of(0, true)->dot(Eigen::Vector2d(100, 101)), 101, 1e-9);
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
