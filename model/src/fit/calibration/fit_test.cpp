#include "ww/model/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "fit/calibration/misfit.hpp"
#include "fit/calibration/prepare.hpp"
#include "fit/solver/joint_fit.hpp"
#include "fit/solver/joint_solver.hpp"
#include "reduction/reduction.hpp"
#include "stats.hpp"
#include "testing/fitting.hpp"
#include "ww/core/sensor_tolerances.hpp"

namespace ww::model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

JointInput prepared(const SyntheticCampaign& campaign) {
  const auto facts = read_facts(campaign.facts);
  auto reduced = reduce(campaign.runs, *facts);
  auto input = prepare(*reduced, *facts, {});
  EXPECT_TRUE(input) << input.error().text();
  return std::move(*input);
}

TEST(JointFit, DerivativesMatchNumericOnes) {
  EXPECT_LT(gradient_error(), 1e-5);
}

// All traps at once: hot spots, a lagging 1 C sensor, load line, drift, glitches, unequal rates.
TEST(Fit, RecoversTheEnergyAndItsIntervalsCover) {
  constexpr int campaigns = 20;
  int covered = 0;
  int slopes_covered = 0;
  int zeros_covered = 0;
  int absolute_covered = 0;
  std::vector<double> with;
  std::vector<double> without;
  for (std::uint64_t seed = 101; seed < 101 + campaigns; ++seed) {
    auto spec = seeded(seed);
    // This share of the activity follows late launches at full speed; 0.59 follows waiting.
    spec.rate_scatter = 0.0005;
    spec.late_share = 0.59 + 0.41 * static_cast<double>(seed * 7 % campaigns) / campaigns;
    const auto campaign = make_campaign(spec);
    const auto result = fit(campaign);
    ASSERT_TRUE(result) << result.error().text();
    const FittedConstant& energy = result->energy_per_bit_mm;
    ASSERT_EQ(energy.row.status, RowStatus::ok) << energy.row.reason;
    with.push_back(error_percent(campaign, *energy.row.value));
    without.push_back(error_percent(campaign, result->uncorrected_fj_per_bit_mm));
    EXPECT_LT(std::abs(with.back()), 5) << "seed " << seed;
    EXPECT_FALSE(result->misfit.flagged) << result->misfit.reason;
    const double truth = campaign.energy_fj_per_bit_mm;
    covered += energy.sensed_low <= truth && truth <= energy.sensed_high ? 1 : 0;
    absolute_covered += *energy.row.low <= truth && truth <= *energy.row.high ? 1 : 0;
    EXPECT_LT(energy.sensed_high - energy.sensed_low, 2 * 0.06 * truth);
    EXPECT_LT(*energy.row.low, energy.sensed_low);
    const auto& slope = constant(*result, "toggle_slope_fj_per_transition_mm");
    slopes_covered += slope.sensed_low <= spec.slope_fj_per_transition_mm &&
                              spec.slope_fj_per_transition_mm <= slope.sensed_high
                          ? 1
                          : 0;
    const auto& zero = constant(*result, "zero_toggle_intercept_fj_per_bit_mm");
    zeros_covered +=
        zero.sensed_low <= spec.zero_fj_per_bit_mm && spec.zero_fj_per_bit_mm <= zero.sensed_high
            ? 1
            : 0;
  }
  EXPECT_LT(rms(with), 2.5);
  EXPECT_GT(rms(without), 2 * rms(with)) << "the temperature correction must matter";
  EXPECT_GE(covered, 17);
  EXPECT_EQ(absolute_covered, campaigns);
  EXPECT_GE(slopes_covered, 17);
  EXPECT_GE(zeros_covered, 17);
}

TEST(Fit, TemperatureCorrectionOffIsTheUncorrectedFigure) {
  const auto campaign = make_campaign(seeded(5));
  FitOptions off;
  off.temperature_correction = false;
  const auto on = fit(campaign);
  const auto without = fit(campaign, off);
  ASSERT_TRUE(on && without);
  EXPECT_NEAR(without->energy_per_bit_mm.row.value.value_or(0), on->uncorrected_fj_per_bit_mm, 0.5);
}

// An engine with a fifth of the leakage takes seven tenths of a stream's power.
TEST(Fit, CoolDownsShowHowFarTheHotSpotWarmsTheDie) {
  for (std::uint64_t seed = 61; seed <= 63; ++seed) {
    std::vector<double> found;
    for (const double k_per_w : {0.01, 0.16}) {
      auto spec = seeded(seed);
      spec.accumulator = true;
      spec.gap_s = 0;
      spec.noise_w = 0.2;
      spec.hot_spot_tau_s = 0.03;
      spec.hot_spot_k_per_w = k_per_w;
      const auto result = fit(make_campaign(spec));
      ASSERT_TRUE(result) << result.error().text();
      const Diagnostics& diagnostics = result->diagnostics;
      EXPECT_NEAR(diagnostics.hot_spot_k, 0.2 * 0.7 * spec.activity_w * k_per_w,
                  3 * diagnostics.hot_spot_error_k)
          << seed << ": " << k_per_w;
      EXPECT_LT(diagnostics.hot_spot_error_k, 0.3);
      found.push_back(diagnostics.hot_spot_k);
    }
    EXPECT_GT(found[1], found[0] + 0.6) << seed;
  }
}

// Noise of a power is in its voltage, too, where that comes from the load line.
TEST(Fit, PowersOfOneStateDoNotSayHowTheyFollowVoltage) {
  auto spec = seeded(15);
  spec.load_line_ohm = 0.001;
  const JointInput input = prepared(make_campaign(spec));
  const auto joint = fit_jointly(input);
  ASSERT_TRUE(joint) << joint.error().text();
  EXPECT_DOUBLE_EQ(joint->parameters.leakage_voltage_power, kBeta);
}

// Single windows' voltages are mostly noise; power that is taken at them would seem not to follow
// voltage.
TEST(Fit, AStateThatHardlyRanLiesOnTheLoadLineOfTheOthers) {
  auto spec = seeded(14);
  spec.voltage_noise_v = 0.003;
  spec.variants.push_back({"random", 0, 0.95, 0.5, 1, 1});
  auto campaign = make_campaign(spec);
  std::erase_if(campaign.runs, [](const StoredRun& run) {
    return run.dvfs_state == 1 && run.kind == RunKind::stream;
  });
  const JointInput input = prepared(campaign);
  double low = 10;
  double high = 0;
  for (const Window& window : input.idle) {
    if (window.dvfs_state != 1) continue;
    const double start =
        window.voltage_v + spec.load_line_ohm * window.power_w / window.voltage_v / spec.gain;
    low = std::min(low, start);
    high = std::max(high, start);
  }
  ASSERT_LE(low, high);
  EXPECT_LT(high - low, 0.0002);
}

TEST(Fit, SwappedPathsFlipTheSign) {
  auto spec = seeded(3);
  spec.latency_loss_per_mm = 0;  // rates that fall with distance are latency; that rise, are not
  const auto campaign = make_campaign(spec);
  FitOptions swapped;
  swapped.swap_paths = true;
  const auto straight = fit(campaign);
  const auto flipped = fit(campaign, swapped);
  ASSERT_TRUE(straight && flipped);
  ASSERT_TRUE(straight->energy_per_bit_mm.row.value && flipped->energy_per_bit_mm.row.value);
  EXPECT_NEAR(*flipped->energy_per_bit_mm.row.value, -*straight->energy_per_bit_mm.row.value,
              0.01 * *straight->energy_per_bit_mm.row.value);
  EXPECT_GT(straight->long_over_short_percent, 2);
  EXPECT_LT(flipped->long_over_short_percent, -2);
}

TEST(Fit, WithoutDistanceContrastNothingIsIdentified) {
  auto spec = seeded(3);
  spec.same_distance = true;
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result) << result.error().text();
  for (const auto& c : result->constants) {
    EXPECT_EQ(c.row.status, RowStatus::not_identified) << c.row.name;
    EXPECT_FALSE(c.row.value);
    EXPECT_THAT(c.row.reason, HasSubstr("no distance contrast"));
  }
}

TEST(Fit, PatternsThatWereNotRunAreNotIdentified) {
  auto spec = seeded(3);
  spec.variants = {{"random", 0, 0.95, 0.5, 2, 0}};
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::ok);
  for (const auto* name : {"zero_toggle_intercept_fj_per_bit_mm",
                           "toggle_slope_fj_per_transition_mm", "throttled_energy_fj_per_bit_mm"}) {
    EXPECT_EQ(constant(*result, name).row.status, RowStatus::not_identified);
    EXPECT_THAT(constant(*result, name).row.reason, HasSubstr("run"));
  }
}

TEST(Fit, NoiseThatDrownsTheSignalIsNotIdentified) {
  auto spec = seeded(3);
  spec.noise_w = 400;
  spec.outlier_share = 0;
  spec.variants = {{"random", 0, 0.95, 0.5, 1, 0}};
  const auto result = fit(make_campaign(spec));
  if (!result) {
    EXPECT_EQ(result.error().code, ErrorCode::bad_data);
    return;
  }
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::not_identified);
}

TEST(Fit, ManyBlocksAreBootstrappedAsBlocksAndAgreeWithTheCovariance) {
  auto spec = seeded(9);
  spec.variants = {{"random", 0, 0.95, 0.5, 8, 0}};
  spec.latency_loss_per_mm = 0;
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result) << result.error().text();
  const auto& energy = result->energy_per_bit_mm;
  ASSERT_GT(energy.covariance_error, 0);
  EXPECT_GT(energy.bootstrap_error / energy.covariance_error, 0.4);
  EXPECT_LT(energy.bootstrap_error / energy.covariance_error, 2.5);
}

// Nine residuals of one standard deviation and one of thirty, which pulls as one of three would.
TEST(Uncertainty, GrowsWithAResidualFarAwayByNoMoreThanItPulls) {
  JointInput input;
  input.variants.resize(1);
  JointFit fit;
  fit.energy_column = {0};
  fit.covariance = Eigen::MatrixXd::Identity(1, 1);
  fit.degrees_of_freedom = 9;
  fit.stream_weight.assign(9, 1);
  fit.stream_weight.push_back(0.1);
  fit.stream_scaled = Eigen::VectorXd::Ones(10);
  fit.stream_scaled[9] = 30 * std::sqrt(0.1);
  const Uncertainty found = assess(input, fit, 0, 1);
  const double lost = 9.1 / 9;  // the far one's weight, which determines nothing
  EXPECT_NEAR(found.scatter, (9 + 9) / 9.0 * lost * lost, 1e-9);
  EXPECT_NEAR(found.covariance(0, 0), found.scatter, 1e-9);
}

TEST(Fit, IsDeterministicForASeed) {
  const auto campaign = make_campaign(seeded(2));
  const auto a = fit(campaign);
  const auto b = fit(campaign);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(to_model_json(*a).dump(), to_model_json(*b).dump());
}

TEST(Fit, LongPathCostsWhatTheWiresSay) {
  const SyntheticSpec spec = seeded(4);
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result);
  const double wires_w = 200e-15 * 0.95 * 4 * 64 * 8 * 930e6 * (result->far_mm - result->near_mm);
  EXPECT_NEAR(result->long_dynamic_w - result->short_dynamic_w, wires_w, 0.15 * wires_w);
  EXPECT_NEAR(result->l1_l2_bandwidth_fraction, 0.945, 0.01);
}

// Wires that differ by pair do not lie on a line; the answer is then the line through them, every
// pair counted equally, whatever the robust loss makes of single plateaus.
TEST(Fit, UnequalWiresGiveTheirProjectionOnDistance) {
  for (const double size : {0.07, 0.3}) {
    std::vector<double> errors;
    for (std::uint64_t seed = 31; seed <= 35; ++seed) {
      auto spec = seeded(seed);
      spec.latency_loss_per_mm = 0;
      spec.departure = testing::Departure::unequal_links;
      spec.departure_size = size;
      const auto campaign = make_campaign(spec);
      const auto result = fit(campaign);
      ASSERT_TRUE(result && result->energy_per_bit_mm.row.value);
      errors.push_back(100 *
                       (*result->energy_per_bit_mm.row.value / campaign.sensed_fj_per_bit_mm - 1));
    }
    EXPECT_LT(rms(errors), 2.0) << "departure " << size;
  }
}

TEST(Fit, MildDeparturesAreNotFlaggedAndStrongOnesAre) {
  int mild = 0;
  int strong = 0;
  constexpr int chips = 8;
  for (std::uint64_t seed = 1; seed <= chips; ++seed) {
    auto spec = seeded(seed);
    spec.departure = testing::Departure::unequal_links;
    spec.departure_size = 0.07;
    spec.distance_error = 0.03;
    const auto tame = fit(make_campaign(spec));
    ASSERT_TRUE(tame);
    mild += tame->misfit.flagged ? 1 : 0;
    spec.departure_size = 0.4;
    const auto wild = fit(make_campaign(spec));
    ASSERT_TRUE(wild);
    strong += wild->misfit.flagged ? 1 : 0;
    EXPECT_EQ(wild->misfit.flagged, !wild->misfit.reason.empty());
  }
  EXPECT_EQ(mild, 0);
  EXPECT_GE(strong, 7);
}

// Departures about the limit are left undecided, whichever side of it the estimate falls on; clear
// ones are not.
TEST(Fit, ADepartureIsUndecidedWhereItsLimitIsWithinItsError) {
  int undecided = 0;
  for (const double size : {0.0, 0.06, 0.09, 0.12, 0.15, 0.18, 0.6}) {
    auto spec = seeded(2);
    spec.noise_w = 1;
    spec.departure = testing::Departure::unequal_links;
    spec.departure_size = size;
    const auto result = fit(make_campaign(spec));
    ASSERT_TRUE(result);
    const Misfit& misfit = result->misfit;
    const double of_limit = misfit.statistic / misfit.threshold;
    if (misfit.undecided.empty()) {
      EXPECT_EQ(misfit.flagged, of_limit > 1) << size;
      continue;
    }
    ++undecided;
    EXPECT_THAT(misfit.undecided, HasSubstr("departs from distance by"));
    EXPECT_GT(of_limit, 0.6) << size;
    EXPECT_LT(of_limit, 1.5) << size;
  }
  EXPECT_GE(undecided, 1);
  EXPECT_LE(undecided, 4);
}

TEST(Fit, HeatUnderLoadIsUndecidedWhereItsLimitIsWithinItsError) {
  int undecided = 0;
  int flagged = 0;
  for (const double per_k : {0.0, 0.002, 0.003, 0.004, 0.005, 0.02}) {
    auto spec = seeded(2);
    spec.dynamic_per_k = per_k;
    const auto result = fit(make_campaign(spec));
    ASSERT_TRUE(result);
    const Misfit& misfit = result->misfit;
    if (!misfit.undecided.empty()) {
      ++undecided;
      EXPECT_THAT(misfit.undecided, HasSubstr("follows temperature otherwise"));
      EXPECT_GT(per_k, 0) << misfit.undecided;
      EXPECT_LT(per_k, 0.02) << misfit.undecided;
    }
    flagged += misfit.flagged ? 1 : 0;
  }
  EXPECT_GE(undecided, 1);
  EXPECT_GE(flagged, 1);
}

// The energy of the wires alone lies between what neighbours couple and all that toggles; here they
// couple by `share` of what they switch, and the rest of the toggling is theirs or is not.
TEST(Fit, WiresAloneLieBetweenCouplingAndAllThatToggles) {
  for (const double share : {0.0, 0.5}) {
    auto spec = seeded(5);
    // Uniform lines toggle as often as random bits and save the coupling.
    spec.variants = {{"random", 0, 0.95, 0.5, 2, 0},
                     {"half_random", 0, 0.95, 0.25, 2, 0},
                     {"zeros", 0, 0.95, 0.0, 2, 0},
                     {"uniform_lines", 0, 0.95, 0.5 * (1 - share), 2, 0}};
    const auto result = fit(make_campaign(spec));
    ASSERT_TRUE(result) << result.error().text();
    const auto& wires = constant(*result, "wire_energy_fj_per_bit_mm");
    ASSERT_EQ(wires.row.status, RowStatus::ok) << wires.row.reason;
    const double toggling = 0.5 * spec.slope_fj_per_transition_mm;
    const double coupling = share * toggling;
    EXPECT_LT(wires.sensed_low, std::max(coupling / 0.8, 0.1));
    EXPECT_GT(wires.sensed_low, coupling / 0.8 - 0.2 * toggling);
    const double most = toggling + spec.zero_fj_per_bit_mm;
    EXPECT_GT(wires.sensed_high, most);
    EXPECT_LT(wires.sensed_high, 1.1 * most);
    EXPECT_LT(*wires.row.low, wires.sensed_low + 1e-9);
    EXPECT_GT(*wires.row.high, wires.sensed_high);
    EXPECT_NEAR(*wires.row.value, (coupling / 0.8 + most) / 2, 0.1 * toggling);
  }
}

TEST(Fit, WiresThatDoNotFollowTheDataCostNothing) {
  auto spec = seeded(5);
  spec.zero_fj_per_bit_mm = 190;  // stages along the way, clocked for every bit equally
  spec.slope_fj_per_transition_mm = 10;
  spec.variants = {{"random", 0, 0.95, 0.5, 2, 0},
                   {"half_random", 0, 0.95, 0.25, 2, 0},
                   {"zeros", 0, 0.95, 0.0, 2, 0}};
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_NEAR(*result->energy_per_bit_mm.row.value, 195, 10);
  EXPECT_LT(constant(*result, "wire_energy_fj_per_bit_mm").sensed_high, 70);
}

TEST(Fit, WithoutUniformLinesTheWiresMayCostNothing) {
  const auto result = fit(make_campaign(seeded(5)));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(constant(*result, "wire_energy_fj_per_bit_mm").sensed_low, 0);
}

// Gain, regulator and the floorplan's scale multiply what was measured: the interval divides.
TEST(Budget, IsTheIntervalAndItsLinesAddUp) {
  const auto result = fit(make_campaign(seeded(7)));
  ASSERT_TRUE(result) << result.error().text();
  const Budget& budget = result->budget;
  ASSERT_EQ(budget.expanded.size(), 3U);
  const Figure& row = result->energy_per_bit_mm.row;
  EXPECT_LT(budget.expanded[0].half_width, 0.6 * budget.expanded[1].half_width);
  EXPECT_GT(budget.expanded[2].half_width, 1.25 * budget.expanded[1].half_width);
  double share = 0;
  double square = 0;
  std::map<std::string, double> by_source;
  for (const BudgetRow& line : budget.rows) {
    share += line.share;
    square += line.contribution * line.contribution;
    by_source[line.source] = line.contribution;
    EXPECT_TRUE(line.type == 'A' || line.type == 'B') << line.source;
    EXPECT_NEAR(line.contribution, line.standard_uncertainty * std::abs(line.sensitivity), 1e-9);
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(std::sqrt(square), budget.combined, 1e-9);
  // The campaign declares 3% of gain and 2% of slope; half a percent is the noise's.
  EXPECT_NEAR(by_source.at("sensor's gain"), 0.03 / 1.96 * *row.value, 1e-3 * *row.value);
  EXPECT_NEAR(by_source.at("regulator's marginal efficiency"), 0.02 / 1.96 * *row.value,
              1e-3 * *row.value);
  EXPECT_GT(by_source.at("positions in the floorplan"), 0);
  const double declared =
      std::hypot(by_source.at("sensor's gain"), by_source.at("regulator's marginal efficiency"),
                 by_source.at("positions in the floorplan"));
  const double own = std::sqrt(square - declared * declared);
  const double t = budget.expanded[1].coverage_factor;
  const Interval interval = through_scale(*row.value, t * own, t * declared / *row.value);
  EXPECT_NEAR(*row.low, interval.low, 1e-6);
  EXPECT_NEAR(*row.high, interval.high, 1e-6);
  EXPECT_GT(*row.high - *row.value, budget.expanded[1].half_width);
  EXPECT_LT(*row.value - *row.low, budget.expanded[1].half_width);
  const auto json = to_model_json(*result);
  EXPECT_EQ(json["budget"]["rows"].size(), budget.rows.size());
  EXPECT_EQ(json["budget"]["expanded"][1]["level"], 0.95);
}

// Two engines under each other's names, as a floorplan with a mistake has them.
TEST(Fit, SwappedEnginesGiveAMisfitAndNoFigureThatIsOk) {
  auto campaign = make_campaign(seeded(3));
  for (StoredRun& run : campaign.runs) {
    if (run.engine && *run.engine < 2) {
      run.engine = 1 - *run.engine;
    }
  }
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->misfit.flagged);
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::misfit);
  EXPECT_EQ(result->energy_per_bit_mm.row.reason, result->misfit.reason);
  for (const FittedConstant& constant : result->constants) {
    EXPECT_NE(constant.row.status, RowStatus::ok) << constant.row.name;
    EXPECT_NE(constant.row.status, RowStatus::transferred) << constant.row.name;
  }
  const auto json = to_model_json(*result);
  EXPECT_EQ(json["energy_fj_per_bit_mm"]["status"], "misfit");
  EXPECT_TRUE(json["energy_fj_per_bit_mm"]["value"].is_number());
}

TEST(Fit, PathsNamedTheWrongWayRoundGiveAMisfit) {
  FitOptions swapped;
  swapped.swap_paths = true;
  const auto result = fit(make_campaign(seeded(3)), swapped);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_LT(*result->energy_per_bit_mm.row.value, 0);
  EXPECT_EQ(result->energy_per_bit_mm.row.status, RowStatus::misfit);
  EXPECT_THAT(result->misfit.reason, HasSubstr("the wrong way round"));
}

TEST(AbsurdEnergy, IsWhatNoWireCanCostAtTheVoltage) {
  const auto reason = [](double value, double half, double volts) {
    Figure row;
    row.value = value;
    row.low = value - half;
    row.high = value + half;
    return absurd_energy(row, volts);
  };
  // Published wires from 20 fJ/bit/mm at 0.5 V to 240 at 1.17 V are none.
  EXPECT_EQ(reason(20, 1, 0.5), "");
  EXPECT_EQ(reason(240, 10, 1.17), "");
  EXPECT_THAT(reason(1, 0.1, 1.0), HasSubstr("outside of what wires can cost"));
  EXPECT_THAT(reason(5000, 100, 1.0), HasSubstr("outside of what wires can cost"));
  EXPECT_EQ(reason(1, 10, 1.0), "");  // its interval reaches what is possible
  EXPECT_THAT(reason(-50, 10, 1.0), HasSubstr("wrong way round"));
}

TEST(Fit, PayloadsThatCoupleMoreThanRandomOnesAreNotFlagged) {
  auto spec = seeded(16);
  spec.variants = {{"random", 0, 0.95, 0.5, 2, 0}, {"pairs_opposite", 0, 0.95, 0.65, 2, 0}};
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->misfit.flagged) << result->misfit.reason;
  spec.variants[1].pattern = "zeros";  // costs more than random payload: something is wrong
  const auto wrong = fit(make_campaign(spec));
  ASSERT_TRUE(wrong);
  EXPECT_TRUE(wrong->misfit.flagged);
}

TEST(Fit, PowerThatFollowsTemperatureUnderLoadAloneIsFlagged) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto spec = seeded(seed);
    spec.dynamic_per_k = 0.004;
    const auto warm = fit(make_campaign(spec));
    ASSERT_TRUE(warm);
    EXPECT_TRUE(warm->misfit.flagged);
    EXPECT_THAT(warm->misfit.reason, HasSubstr("follows temperature"));
    EXPECT_GT(warm->diagnostics.leakage_steepening, 0.03);
  }
}

// A few kelvin between idle and load leave the prior some say, which is no evidence.
TEST(Fit, PowerThatFollowsTemperatureIsFlaggedOnDiesThatScarcelyWarm) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    auto spec = seeded(seed);
    spec.die_k_per_w = spec.sink_k_per_w = 0.02;
    spec.accumulator = true;  // a register's lag hides how far the hot spot warms the die
    const auto even = fit(make_campaign(spec));
    ASSERT_TRUE(even) << even.error().text();
    EXPECT_FALSE(even->misfit.flagged) << seed << ": " << even->misfit.reason;
    spec.dynamic_per_k = 0.0035;
    const auto warm = fit(make_campaign(spec));
    ASSERT_TRUE(warm) << warm.error().text();
    EXPECT_THAT(warm->misfit.reason, HasSubstr("follows temperature")) << seed;
  }
}

// Far pairs are faster at full speed, and all of their activity follows, where throttling saves six
// tenths of it: what payloads share shows it.
TEST(Fit, RatesThatDoNotActAsThrottlingDoAreToldByComparingPayloads) {
  constexpr int campaigns = 6;
  double off = 0;
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= campaigns; ++seed) {
    auto spec = seeded(seed);
    spec.latency_loss_per_mm = -0.0005;
    spec.rate_scatter = 0.004;
    spec.late_share = 1;
    const auto result = fit(make_campaign(spec));
    ASSERT_TRUE(result) << result.error().text();
    const auto& zero = constant(*result, "zero_toggle_intercept_fj_per_bit_mm");
    ASSERT_TRUE(zero.row.value) << zero.row.reason;
    const double truth = spec.zero_fj_per_bit_mm;
    off += (*zero.row.value - truth) / campaigns;
    covered += zero.sensed_low <= truth && truth <= zero.sensed_high ? 1 : 0;
  }
  EXPECT_LT(std::abs(off), 2.0) << "5.8 where power is taken to follow rate as throttling shows";
  EXPECT_GE(covered, 5);
}

// One pair of one payload draws more for reasons of its own. Distance takes up part of it, so the
// payload's interval is wider; the others' are not.
TEST(Fit, APairOfItsOwnWidensItsPayloadsIntervalAlone) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    auto spec = seeded(seed);
    const auto plain = fit(make_campaign(spec));
    auto& zeros = spec.variants.back();
    ASSERT_EQ(zeros.pattern, "zeros");
    zeros.odd_pair_w = 3;
    const auto odd = fit(make_campaign(spec));
    ASSERT_TRUE(plain && odd);
    const auto half_width = [](const FitResult& result, const char* name) {
      const auto& found = constant(result, name);
      return (found.sensed_high - found.sensed_low) / 2;
    };
    const char* const zero = "zero_toggle_intercept_fj_per_bit_mm";
    EXPECT_GT(half_width(*odd, zero), 2 * half_width(*plain, zero));
    const auto& fitted = constant(*odd, zero);
    EXPECT_LE(fitted.sensed_low, spec.zero_fj_per_bit_mm);
    EXPECT_GE(fitted.sensed_high, spec.zero_fj_per_bit_mm);
    EXPECT_LT(half_width(*odd, "energy_fj_per_bit_mm"),
              1.2 * half_width(*plain, "energy_fj_per_bit_mm"));
  }
}

TEST(Diagnostics, SayWhichTermsTheDataAskFor) {
  auto spec = with_lock_in(47);
  const auto result = fit(make_campaign(spec));
  ASSERT_TRUE(result) << result.error().text();
  const Diagnostics& diagnostics = result->diagnostics;
  EXPECT_GT(diagnostics.condition_number, 1);
  EXPECT_GT(diagnostics.mean_leverage, 0);
  EXPECT_LT(diagnostics.mean_leverage, 1);
  EXPECT_GE(diagnostics.held_back_rms_sigmas, diagnostics.residual_rms_sigmas);
  EXPECT_LT(diagnostics.held_back_rms_sigmas, 4);
  std::map<std::string, bool> supported;
  for (const auto& term : diagnostics.terms) supported[term.name] = term.supported;
  EXPECT_TRUE(supported.at("distance"));
  EXPECT_TRUE(supported.at("engine offsets"));
  EXPECT_FALSE(supported.at("interaction beyond distance"));
}

// Engines and quadrants have powers of their own; only their crossing separates them from distance.
TEST(Ablation, WithoutCrossingOffsetsAreTakenForDistance) {
  std::vector<double> with;
  std::vector<double> without;
  for (std::uint64_t seed = 51; seed <= 53; ++seed) {
    auto spec = seeded(seed);
    spec.variants = {{"random", 0, 0.95, 0.5, 2, 0}};
    spec.latency_loss_per_mm = 0;
    const auto campaign = make_campaign(spec);
    FitOptions off;
    off.crossing = false;
    const auto whole = fit(campaign);
    const auto part = fit(campaign, off);
    ASSERT_TRUE(whole && part);
    with.push_back(error_percent(campaign, whole->energy_per_bit_mm.row.value.value_or(0)));
    without.push_back(error_percent(campaign, part->pairs.empty() ? 0
                                              : part->lock_in.empty()
                                                  ? 0
                                                  : part->lock_in.front().energy_fj_per_bit_mm));
  }
  EXPECT_GT(rms(without), 2 * rms(with));
}

// The other state was never heated: its idle curve takes the shape of the one that was.
TEST(Fit, AnotherVoltageStateNeitherDisturbsTheAnswerNorLacksAnIdleCurve) {
  auto spec = seeded(14);
  spec.variants.push_back({"random", 0, 0.95, 0.5, 1, 1});
  const auto campaign = make_campaign(spec);
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_LT(std::abs(error_percent(campaign, result->energy_per_bit_mm.row.value.value_or(0))), 4);
  ASSERT_EQ(result->idle.size(), 2U);
  // Leakage goes with V^3 here, clocks with V^2 f.
  EXPECT_LT(result->idle[1].coefficients[0], 0.75 * result->idle[0].coefficients[0]);
  EXPECT_GT(result->idle[1].coefficients[1], 0.3 * result->idle[0].coefficients[1]);
  EXPECT_LT(result->idle[1].coefficients[1], 0.9 * result->idle[0].coefficients[1]);
  EXPECT_FALSE(result->misfit.flagged) << result->misfit.reason;
}

// Along one curve voltage and clock go together; two states off it separate them. Wires cost C V^2
// whatever the clock.
TEST(Fit, StatesOffTheCurveTellVoltageFromClock) {
  auto spec = seeded(15);
  spec.latency_loss_per_mm = 0;
  spec.variants = {{"random", 0, 0.95, 0.5, 3, 0}, {"random", 0, 0.95, 0.5, 2, 1}};
  const auto along = fit(make_campaign(spec));
  ASSERT_TRUE(along);
  EXPECT_EQ(constant(*along, "voltage_exponent").row.status, RowStatus::not_identified);
  EXPECT_THAT(constant(*along, "voltage_exponent").row.reason, HasSubstr("off that curve"));
  EXPECT_EQ(constant(*along, "voltage_exponent_along_curve").row.status, RowStatus::ok);
  spec.variants.push_back({"random", 0, 0.95, 0.5, 2, 2});
  spec.variants.push_back({"random", 0, 0.95, 0.5, 2, 3});
  const auto grid = fit(make_campaign(spec));
  ASSERT_TRUE(grid);
  const auto& voltage = constant(*grid, "voltage_exponent");
  const auto& frequency = constant(*grid, "frequency_exponent");
  ASSERT_EQ(voltage.row.status, RowStatus::ok) << voltage.row.reason;
  ASSERT_EQ(frequency.row.status, RowStatus::ok) << frequency.row.reason;
  EXPECT_LT(voltage.sensed_low, 2);
  EXPECT_GT(voltage.sensed_high, 2);
  EXPECT_LT(frequency.sensed_low, 0);
  EXPECT_GT(frequency.sensed_high, 0);
  EXPECT_NEAR(*voltage.row.value, 2, 0.2);
}

// Killed in the middle of a block and resumed by another process, whose clock begins at zero.
TEST(Fit, AResumedCampaignGivesTheSameEnergy) {
  auto spec = seeded(12);
  spec.latency_loss_per_mm = 0;
  auto campaign = make_campaign(spec);
  const auto whole = fit(campaign);
  const std::size_t killed = campaign.runs.size() / 2 + 5;
  const std::int64_t shift = campaign.runs[killed].samples.front().time_ns - 1'000'000;
  for (std::size_t r = killed; r < campaign.runs.size(); ++r) {
    auto& run = campaign.runs[r];
    run.session = 1;
    run.start_ns -= shift;
    run.end_ns -= shift;
    for (auto& sample : run.samples) sample.time_ns -= shift;
  }
  const auto resumed = fit(campaign);
  ASSERT_TRUE(whole && resumed);
  ASSERT_TRUE(resumed->energy_per_bit_mm.row.value) << resumed->energy_per_bit_mm.row.reason;
  EXPECT_GT(*resumed->energy_per_bit_mm.row.value, whole->energy_per_bit_mm.sensed_low);
  EXPECT_LT(*resumed->energy_per_bit_mm.row.value, whole->energy_per_bit_mm.sensed_high);
}

}  // namespace
}  // namespace ww::model
