// Campaigns on chips that do more than the fit's model says: background programs, engines that are
// gated late, clocks that come back late, voltages in coarse steps.
#include <gtest/gtest.h>

#include <cmath>

#include "testing/fitting.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

using namespace testing;

bool holds_truth(const FitResult& result, const SyntheticCampaign& campaign) {
  const auto& energy = result.energy_per_bit_mm;
  return energy.sensed_low <= campaign.sensed_fj_per_bit_mm &&
         campaign.sensed_fj_per_bit_mm <= energy.sensed_high;
}

// A slow register shows no idle power soon after a load, so that fast heat could explain anything.
TEST(DisturbedCampaign, BackgroundPowerDoesNotBecomeHeatBehindASlowRegister) {
  int held = 0;
  for (const std::uint64_t seed : {31, 32, 33, 34}) {
    auto spec = seeded(seed);
    spec.burst_w = 4;
    spec.rise_s = 0.2;
    spec.noise_w = 1.5;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << seed << ": " << result.error().text();
    held += holds_truth(*result, campaign) ? 1 : 0;
    EXPECT_LT(std::abs(error_percent(campaign, *result->energy_per_bit_mm.row.value)), 20) << seed;
    // Idle power grows by a factor e in 28 K or more.
    EXPECT_LT(result->idle[0].coefficients[1], 0.4 * result->idle[0].coefficients[0]) << seed;
  }
  EXPECT_GE(held, 3);
}

TEST(DisturbedCampaign, PowerThatEndsLateIsNoHotSpot) {
  auto spec = with_lock_in(35);
  spec.late_w = 6;
  spec.late_s = 0.11;
  const auto campaign = make_campaign(spec);
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_LT(result->diagnostics.hot_spot_k, 2.2);
  EXPECT_TRUE(holds_truth(*result, campaign))
      << error_percent(campaign, *result->energy_per_bit_mm.row.value);
}

TEST(DisturbedCampaign, IdlePowerWhileClocksComeBackIsNotUsed) {
  const auto clean = make_campaign(seeded(36));
  auto disturbed = clean;
  for (StoredRun& run : disturbed.runs) {
    if (run.kind != RunKind::idle && run.kind != RunKind::cooldown) continue;
    for (SensorReading& reading : run.samples) {
      if (reading.time_ns < run.start_ns || reading.time_ns > run.start_ns + 700'000'000) continue;
      *reading.power_uw -= 3'000'000;
      *reading.clock_khz -= *reading.clock_khz / 20;
    }
  }
  const auto result = fit(disturbed);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(holds_truth(*result, clean))
      << error_percent(clean, *result->energy_per_bit_mm.row.value);
  for (const IdleCurve& curve : result->idle) EXPECT_LT(curve.rms_w, 0.5);
}

TEST(DisturbedCampaign, VoltageInCoarseStepsIsTakenFromTheLoadLine) {
  int held = 0;
  for (const std::uint64_t seed : {37, 38, 39}) {
    auto spec = seeded(seed);
    spec.voltage_step_v = 0.00625;
    spec.voltage_noise_v = 0.0005;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    held += holds_truth(*result, campaign) ? 1 : 0;
  }
  EXPECT_EQ(held, 3);
}

// Far pairs are slower because requests are on the way for longer. Their engines wait as throttled
// ones do, and the late launches that no distance explains are few.
TEST(DisturbedCampaign, RatesThatFallWithDistanceActAsThrottlingDoes) {
  constexpr int kCampaigns = 4;
  double off = 0;
  int held = 0;
  for (std::uint64_t seed = 41; seed < 41 + kCampaigns; ++seed) {
    auto spec = seeded(seed);
    spec.latency_loss_per_mm = 0.002;
    spec.rate_scatter = 0.0003;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_TRUE(result->energy_per_bit_mm.row.value);
    off += (*result->energy_per_bit_mm.row.value / campaign.sensed_fj_per_bit_mm - 1) / kCampaigns;
    held += holds_truth(*result, campaign) ? 1 : 0;
  }
  EXPECT_LT(std::abs(off), 0.02) << "0.04 if the rates acted as late launches may";
  EXPECT_GE(held, 3);
}

const BudgetRow* load_line_of(const FitResult& result) {
  for (const BudgetRow& row : result.budget.rows) {
    if (row.source.starts_with("load line")) return &row;
  }
  return nullptr;
}

// A card that shows no voltage still has a load line, which makes far paths look cheaper. The doubt
// of it alone covers whatever the voltages would have changed, up to the steepest that is assumed
// (0.63 mOhm). That close to it, no room is left for noise: this campaign's own is -2%, and at
// 0.6 mOhm its interval ends 0.4% below the truth. Others' hold it.
TEST(DisturbedCampaign, WithoutVoltagesTheLoadLineIsInTheInterval) {
  for (const double ohm : {0.0001, 0.0003, 0.0005, 0.0006}) {
    auto spec = seeded(45);
    spec.load_line_ohm = ohm;
    auto campaign = make_campaign(spec);
    const auto shown = fit(campaign);
    for (StoredRun& run : campaign.runs) {
      for (SensorReading& reading : run.samples) reading.voltage_uv.reset();
    }
    const auto result = fit(campaign);
    ASSERT_TRUE(shown && result);
    const bool steepest = ohm > 0.0005;
    EXPECT_TRUE(steepest || holds_truth(*result, campaign))
        << ohm << ": " << error_percent(campaign, *result->energy_per_bit_mm.row.value);
    EXPECT_EQ(load_line_of(*shown), nullptr);
    const BudgetRow* row = load_line_of(*result);
    ASSERT_NE(row, nullptr);
    const double changed =
        *shown->energy_per_bit_mm.row.value - *result->energy_per_bit_mm.row.value;
    // 2.58 standard deviations of the load line are between its mean and the steepest.
    EXPECT_LE(std::abs(changed), (changed > 0 ? 2.58 : kNormal95) * row->contribution) << ohm;
    EXPECT_GT(row->contribution, 0.03 * *result->energy_per_bit_mm.row.value);
    for (const PlateauRow& plateau : result->plateaus) {
      EXPECT_FALSE(plateau.used && std::isfinite(plateau.voltage_v)) << "none was measured";
    }
  }
}

// Ten campaigns, each with the load line at another of the prior's deciles: 0.21 mOhm times or over
// 3 (95%). If intervals hold 95%, seven or fewer of ten do with a probability of 1.2%.
TEST(DisturbedCampaign, WithoutVoltagesIntervalsHoldTheLoadLinesOfThePrior) {
  constexpr double kStandardNormal[] = {-1.645, -1.036, -0.674, -0.385, -0.126,
                                        0.126,  0.385,  0.674,  1.036,  1.645};
  int held = 0;
  std::string missed;
  std::uint64_t seed = 51;
  for (const double sigmas : kStandardNormal) {
    auto spec = seeded(seed++);
    spec.load_line_ohm = 0.00021 * std::pow(3, sigmas / kNormal95);
    auto campaign = make_campaign(spec);
    for (StoredRun& run : campaign.runs) {
      for (SensorReading& reading : run.samples) reading.voltage_uv.reset();
    }
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    if (holds_truth(*result, campaign)) {
      ++held;
    } else {
      missed += std::to_string(spec.load_line_ohm) + " ";
    }
  }
  EXPECT_GE(held, 8) << missed;
}

// amdgpu shows the requested voltage of a Hawaii, Polaris or Vega 10. No load moves it, and a line
// through it would have no slope: k would be a tenth too small at 0.3 mOhm, and the interval
// narrow.
TEST(DisturbedCampaign, ARequestedVoltageIsTakenForNone) {
  for (const double ohm : {0.0001, 0.0003, 0.0005}) {
    auto spec = seeded(46);
    spec.load_line_ohm = ohm;
    spec.requested_voltage = true;
    spec.voltage_noise_v = 0;
    spec.voltage_step_v = 0.00625;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(holds_truth(*result, campaign))
        << ohm << ": " << error_percent(campaign, *result->energy_per_bit_mm.row.value);
    EXPECT_NE(load_line_of(*result), nullptr);
    EXPECT_NE(result->no_voltage_reason.find("requested voltage"), std::string::npos);
    EXPECT_FALSE(to_model_json(*result)["voltage"]["measured"].get<bool>());
  }
}

// A real card of which amdgpu is known to show it, whatever else moves the readings.
TEST(DisturbedCampaign, TheVoltageOfAVega10IsTakenForTheRequestedOne) {
  auto campaign = make_campaign(seeded(47));
  const auto before = fit(campaign);
  campaign.facts[std::string(campaign_keys::is_virtual)] = "false";
  campaign.facts[std::string(campaign_keys::chip)] =
      R"({"engines": 4, "channels": 16, "bytes_per_clock_per_channel": 64, "target": "gfx900"})";
  const auto result = fit(campaign);
  ASSERT_TRUE(before && result);
  EXPECT_EQ(before->no_voltage_reason, "");
  EXPECT_NE(result->no_voltage_reason.find("gfx900"), std::string::npos);
  EXPECT_NE(load_line_of(*result), nullptr);
}

}  // namespace
}  // namespace ww::model
