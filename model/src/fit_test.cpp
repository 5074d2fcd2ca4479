#include "ww/model/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "fit_runs.hpp"
#include "joint_fit.hpp"
#include "testing/synthetic_campaign.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::model {
namespace {

using ::testing::HasSubstr;
using testing::SyntheticCampaign;
using testing::SyntheticSpec;

SyntheticSpec seeded(std::uint64_t seed) {
  SyntheticSpec spec;
  spec.seed = seed;
  return spec;
}

Result<FitResult> fit(const SyntheticCampaign& campaign, const FitOptions& options = {}) {
  return fit_runs(campaign.runs, campaign.facts, options);
}

double error_percent(const SyntheticCampaign& campaign, double value) {
  return 100 * (value / campaign.energy_fj_per_bit_mm - 1);
}

double rms(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

const FittedConstant& constant(const FitResult& result, const std::string& name) {
  for (const auto& c : result.constants) {
    if (c.row.name == name) return c;
  }
  ADD_FAILURE() << "no constant " << name;
  return result.energy_per_bit_mm;
}

TEST(JointFit, AutomaticDerivativesMatchNumericOnes) {
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
    const auto spec = seeded(seed);
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
  EXPECT_LT(rms(with), 2.0);
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

TEST(Fit, SwappedPathsFlipTheSign) {
  const auto campaign = make_campaign(seeded(3));
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
// pair counted alike, whatever the robust loss makes of single plateaus.
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

SyntheticSpec with_lock_in(std::uint64_t seed) {
  auto spec = seeded(seed);
  spec.accumulator = true;
  spec.latency_loss_per_mm = 0;
  spec.turns_s = {0.05, 0.2, 0.8};
  spec.variants = {{"random", 0, 0.95, 0.5, 2, 0}};
  return spec;
}

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

// Engines and quadrants have powers of their own; only their crossing tells them from distance.
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

struct Broken {
  const char* name;
  std::function<void(SyntheticSpec&)> plan;
  std::function<void(SyntheticCampaign&)> spoil;
  ErrorCode code;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

void each_sample(SyntheticCampaign& campaign, const std::function<void(StoredSample&)>& change) {
  for (auto& run : campaign.runs) {
    for (auto& sample : run.samples) change(sample);
  }
}
void keep(SyntheticCampaign& campaign, const std::function<bool(const StoredRun&)>& wanted) {
  std::erase_if(campaign.runs, [&](const StoredRun& run) { return !wanted(run); });
}
void nothing(SyntheticSpec&) {}

class BrokenCampaign : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenCampaign, IsRefusedByName) {
  const Broken& broken = GetParam();
  auto spec = seeded(1);
  spec.variants = {{"random", 0, 0.95, 0.5, 1, 0}};
  broken.plan(spec);
  auto campaign = make_campaign(spec);
  broken.spoil(campaign);
  const auto result = fit(campaign);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, broken.code) << result.error().text();
  EXPECT_THAT(result.error().text(), HasSubstr(broken.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenCampaign,
    ::testing::Values(
        Broken{"Empty", nothing, [](auto& c) { c.runs.clear(); }, ErrorCode::bad_data, "empty"},
        Broken{"NoIdle", nothing,
               [](auto& c) {
                 keep(c, [](const StoredRun& r) {
                   return r.kind != RunKind::idle && r.kind != RunKind::cooldown;
                 });
               },
               ErrorCode::bad_data, "no usable idle"},
        Broken{"OneTemperature",
               [](SyntheticSpec& s) {
                 s.hot_spot_k_per_w = s.die_k_per_w = s.sink_k_per_w = 1e-4;
                 s.ambient_drift_c = 0;
               },
               [](auto&) {}, ErrorCode::bad_data, "one temperature only"},
        Broken{"NoTemperature", nothing,
               [](auto& c) { each_sample(c, [](StoredSample& s) { s.temperature_mc.reset(); }); },
               ErrorCode::bad_data, "temperature sensor returned nothing"},
        Broken{
            "NoStreams", nothing,
            [](auto& c) { keep(c, [](const StoredRun& r) { return r.kind != RunKind::stream; }); },
            ErrorCode::bad_data, "no stream runs"},
        Broken{"OneStream", nothing,
               [](auto& c) {
                 bool seen = false;
                 keep(c, [&](const StoredRun& r) {
                   if (r.kind != RunKind::stream) return true;
                   return !std::exchange(seen, true);
                 });
               },
               ErrorCode::bad_data, "one stream run only"},
        Broken{"OneRun", nothing, [](auto& c) { c.runs.resize(1); }, ErrorCode::bad_data,
               "no stream runs"},
        Broken{"NegativePower", nothing,
               [](auto& c) { each_sample(c, [](StoredSample& s) { s.power_uw = -*s.power_uw; }); },
               ErrorCode::bad_data, "zero or negative"},
        Broken{"NegativeInStreams", nothing,
               [](auto& c) {
                 for (auto& run : c.runs) {
                   if (run.kind != RunKind::stream) continue;
                   for (auto& sample : run.samples) sample.power_uw = -1000;
                 }
               },
               ErrorCode::bad_data, "zero or negative"},
        Broken{"AbsentPower", nothing,
               [](auto& c) { each_sample(c, [](StoredSample& s) { s.power_uw.reset(); }); },
               ErrorCode::bad_data, "power sensor returned nothing"},
        Broken{"FrozenPower", nothing,
               [](auto& c) { each_sample(c, [](StoredSample& s) { s.power_uw = 100'000'000; }); },
               ErrorCode::bad_data, "frozen"},
        Broken{"NotANumberOfBits", nothing,
               [](auto& c) {
                 for (auto& run : c.runs) run.payload_bits = std::nan("");
               },
               ErrorCode::bad_data, "no traffic"},
        Broken{"NoFloorplan", nothing, [](auto& c) { c.facts.erase("floorplan_toml"); },
               ErrorCode::bad_data, "floorplan"},
        Broken{"NoSensorFact", nothing, [](auto& c) { c.facts.erase("sensor"); },
               ErrorCode::bad_data, "sensor"},
        Broken{"SensorNotJson", nothing, [](auto& c) { c.facts["sensor"] = "{"; },
               ErrorCode::parse_error, "sensor"},
        Broken{"AbsurdDelay", nothing,
               [](auto& c) {
                 auto j = nlohmann::json::parse(c.facts["sensor"]);
                 j["delay_s"] = -3;
                 c.facts["sensor"] = j.dump();
               },
               ErrorCode::out_of_range, "sensor.delay_s"},
        Broken{"NoStates", nothing, [](auto& c) { c.facts["dvfs"] = "[]"; }, ErrorCode::parse_error,
               "dvfs"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Fit, BadRunsAreKeptWithTheirReasonAndTheRestIsFitted) {
  auto campaign = make_campaign(seeded(6));
  int seen = 0;
  for (auto& run : campaign.runs) {
    if (run.kind != RunKind::stream) continue;
    ++seen;
    if (seen == 3) {
      run.status = RunStatus::rejected;
      run.reason = "throttled";
    }
    if (seen == 5) run.engine = 9;
    if (seen == 7) {
      for (auto& sample : run.samples) sample.power_uw = 0;
    }
    if (seen == 9) {
      for (auto& sample : run.samples) sample.clock_khz = 700'000;
    }
    if (seen == 11) run.samples.clear();
  }
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->rejected, 5);
  std::vector<std::string> reasons;
  for (const auto& row : result->plateaus) {
    if (!row.used) reasons.push_back(row.reason);
  }
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre(
                           "throttled", HasSubstr("engine 9"), HasSubstr("zero or negative"),
                           HasSubstr("700 MHz"), HasSubstr("fewer than")));
  EXPECT_LT(std::abs(error_percent(campaign, result->energy_per_bit_mm.row.value.value_or(0))), 5);
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

class CampaignFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("ww_model_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
               std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
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

TEST_F(CampaignFile, ModelIntoAnAbsentFolderIsAnError) {
  EXPECT_FALSE(write_model(folder_ / "absent" / "model.json", FitResult{}));
}

}  // namespace
}  // namespace ww::model
