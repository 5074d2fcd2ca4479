#include "reduction/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reduction/thermal.hpp"
#include "testing/synthetic_campaign.hpp"

namespace ww::model {
namespace {

Facts facts_of(const testing::SyntheticCampaign& campaign) {
  auto facts = read_facts(campaign.facts);
  EXPECT_TRUE(facts) << facts.error().text();
  return *facts;
}

// One idle and one loaded run of exact power, one sample a period.
struct Steps {
  std::vector<StoredRun> runs;
  static constexpr std::int64_t period_ns = 5'000'000;
  std::int64_t now_ns = 0;

  void run(RunKind kind, double watts, int samples) {
    StoredRun run;
    run.block = 0;
    run.position = static_cast<std::int64_t>(runs.size());
    run.kind = kind;
    run.engine = 0;
    run.quadrant = 0;
    run.pattern = "random";
    run.payload_bits = 1e12;
    run.start_ns = now_ns;
    for (int i = 0; i < samples; ++i) {
      now_ns += period_ns;
      SensorReading sample;
      sample.time_ns = now_ns;
      sample.power_uw = std::llround(watts * 1e6) + 1000 * (i % 2);
      sample.temperature_mc = 50000;
      run.samples.push_back(sample);
    }
    run.end_ns = now_ns;
    runs.push_back(run);
  }
};

TEST(Reduction, CutsTheSensorsDelayAndRiseAndKeepsTheRest) {
  testing::SyntheticSpec spec;
  spec.delay_s = 0.1;
  spec.rise_s = 0.05;
  const auto facts = facts_of(testing::make_campaign(spec));
  Steps steps;
  steps.run(RunKind::idle, 40, 200);
  steps.run(RunKind::stream, 100, 200);
  const auto reduced = reduce(steps.runs, facts);
  ASSERT_TRUE(reduced) << reduced.error().text();
  const auto& row = reduced->plateaus[1].row;
  ASSERT_TRUE(row.used) << row.reason;
  EXPECT_NEAR(row.end_s - row.start_s, 1.0 - 0.205, 1e-9);
  EXPECT_NEAR(row.power_w, 100, 0.01);
  EXPECT_NEAR(row.bits_per_second, 1e12, 1);
}

TEST(Reduction, GlitchesNeitherMoveTheMeanNorTheHeat) {
  const auto facts = facts_of(testing::make_campaign({}));
  Steps steps;
  steps.run(RunKind::idle, 40, 300);
  steps.run(RunKind::stream, 100, 300);
  const auto clean = reduce(steps.runs, facts);
  for (const std::size_t i : {50U, 150U, 250U}) steps.runs[1].samples[i].power_uw = 900'000'000;
  const auto spiked = reduce(steps.runs, facts);
  ASSERT_TRUE(clean && spiked);
  EXPECT_NEAR(spiked->plateaus[1].row.power_w, clean->plateaus[1].row.power_w, 1e-4);
  EXPECT_NEAR(spiked->plateaus[1].window.heat[3], clean->plateaus[1].window.heat[3], 1e-3);
}

TEST(Reduction, FiltersFollowAStepExponentially) {
  const auto facts = facts_of(testing::make_campaign({}));
  Steps steps;
  steps.run(RunKind::idle, 40, 400);
  steps.run(RunKind::stream, 140, 400);
  const auto reduced = reduce(steps.runs, facts);
  ASSERT_TRUE(reduced);
  const auto& row = reduced->plateaus[1].row;
  const auto& window = reduced->plateaus[1].window;
  // Mean of 100 (1 - exp(-t/tau)) over the window, t from the step at 2 s of the session.
  const double step_s = 400 * 0.005 - 0.005;  // the session's clock starts at the first sample
  const double from = row.start_s - step_s;
  const double to = row.end_s - step_s;
  for (std::size_t j = 2; j < kHeatCount; ++j) {
    const double tau = heat_taus_s[j];
    const double mean = 1 - tau / (to - from) * (std::exp(-from / tau) - std::exp(-to / tau));
    EXPECT_NEAR(window.heat[j], 40 + 100 * mean, 0.5) << "tau " << tau;
  }
}

// Heat is the mean since the sample before, as power is, not what has come to be at its end.
TEST(Reduction, TheFirstReadingOfALoadHasWarmedForHalfItsTime) {
  const auto facts = facts_of(testing::make_campaign({}));
  Steps steps;
  steps.run(RunKind::idle, 40, 4000);
  steps.run(RunKind::stream, 140, 10);
  const Trace trace = build_trace(steps.runs, facts.sensor);
  const double step = 0.005 / heat_taus_s[kFastHeatCount - 1];
  EXPECT_NEAR(trace.samples[4000].heat[kFastHeatCount - 1],
              40 + 100 * (1 + std::expm1(-step) / step), 0.1);
}

// An accumulator has neither delay nor rise, so nearly the whole plateau counts.
TEST(Reduction, PrefersTheEnergyAccumulatorUnlessItIsBroken) {
  testing::SyntheticSpec spec;
  spec.delay_s = 0.1;
  spec.rise_s = 0.3;
  spec.accumulator = true;
  auto campaign = make_campaign(spec);
  const auto facts = facts_of(campaign);
  const auto by_energy = reduce(campaign.runs, facts);
  ASSERT_TRUE(by_energy);
  // A single reading that runs backward is left out. A counter that begins anew is broken.
  auto stray = campaign.runs;
  stray[4].samples[10].energy_ticks = 5;
  const auto without_stray = reduce(stray, facts);
  ASSERT_TRUE(without_stray);
  auto backwards = campaign.runs;
  const auto before = *backwards[4].samples[10].energy_ticks;
  for (std::size_t i = 10; i < backwards[4].samples.size(); ++i) {
    *backwards[4].samples[i].energy_ticks -= before - 5;
  }
  const auto by_register = reduce(backwards, facts);
  ASSERT_TRUE(by_register);
  auto absurd = campaign.runs;
  for (auto& run : absurd) {
    for (auto& sample : run.samples) *sample.energy_ticks *= 3;
  }
  const auto distrusted = reduce(absurd, facts);
  ASSERT_TRUE(distrusted);
  const auto& stream = by_energy->plateaus[10].row;
  ASSERT_EQ(stream.kind, RunKind::stream);
  EXPECT_GT(stream.end_s - stream.start_s, 0.98 * spec.plateau_s);
  EXPECT_DOUBLE_EQ(without_stray->plateaus[10].row.power_w, stream.power_w);
  EXPECT_NEAR(stream.power_w, by_register->plateaus[10].row.power_w, 1.0);
  EXPECT_LT(by_register->plateaus[10].row.end_s - by_register->plateaus[10].row.start_s, 1.4);
  EXPECT_DOUBLE_EQ(distrusted->plateaus[10].row.power_w, by_register->plateaus[10].row.power_w);
}

// A polled accumulator reports the mean of some polls around a sample: at the end of a turn it
// would show the next one.
TEST(Reduction, KeepsTheNextTurnOutOfAPolledAccumulatorsReadings) {
  constexpr std::int64_t turn_ns = 48'300'000;
  constexpr int turns = 64;
  constexpr double near_w = 100;
  constexpr double far_w = 104;
  const auto facts = facts_of(testing::make_campaign({}));
  StoredRun run;
  run.kind = RunKind::lock_in;
  run.pattern = "random";
  run.payload_bits = turns * 1e11;
  run.end_ns = turns * turn_ns;
  for (int i = 0; i < turns; ++i) {
    const bool near = i % 4 == 0 || i % 4 == 3;
    run.slots.push_back({0, near ? 0 : 3, i * turn_ns, (i + 1) * turn_ns, 1e11});
  }
  double joules = 0;
  for (std::int64_t ms = 1; ms * 1'000'000 <= run.end_ns; ++ms) {
    const auto turn = static_cast<std::size_t>((ms * 1'000'000 - 500'000) / turn_ns);
    joules += 1e-3 * (run.slots[turn].quadrant == 0 ? near_w : far_w);
    SensorReading sample;
    sample.time_ns = sample.poll_ns = ms * 1'000'000;
    sample.energy_ticks = static_cast<std::int64_t>(joules * 65536);
    sample.power_uw = 102'000'000 + 1000 * (ms % 2);
    sample.temperature_mc = 50000;
    run.samples.push_back(sample);
  }
  const auto reduced = reduce({run}, facts);
  ASSERT_TRUE(reduced) << reduced.error().text();
  ASSERT_GE(reduced->plateaus.size(), 4u);
  for (const Plateau& plateau : reduced->plateaus) {
    ASSERT_TRUE(plateau.row.used) << plateau.row.reason;
    EXPECT_NEAR(plateau.row.power_w, plateau.row.quadrant == 0 ? near_w : far_w, 0.05);
  }
}

TEST(Reduction, SessionsDoNotShareClockOrHeat) {
  const auto facts = facts_of(testing::make_campaign({}));
  Steps steps;
  steps.run(RunKind::idle, 40, 300);
  steps.run(RunKind::stream, 140, 300);
  auto runs = steps.runs;
  for (auto run : steps.runs) {
    run.session = 1;
    run.block = 7;
    runs.push_back(run);
  }
  const auto reduced = reduce(runs, facts);
  ASSERT_TRUE(reduced);
  ASSERT_EQ(reduced->sessions.size(), 2U);
  EXPECT_DOUBLE_EQ(reduced->plateaus[1].window.heat[4], reduced->plateaus[3].window.heat[4]);
}

// The temperature sensor shows whole degrees; what lies behind is found to a fraction of one.
TEST(Temperature, IsReconstructedBelowTheSensorsStep) {
  testing::SyntheticSpec spec;
  spec.seed = 4;
  spec.hot_spot_k_per_w = 0;  // else the sensor also sees which engine works beside it
  const auto coarse = make_campaign(spec);
  spec.temperature_step_c = 0.001;
  const auto fine = make_campaign(spec);
  const auto facts = facts_of(coarse);
  const auto reduced = reduce(coarse.runs, facts);
  const auto exact = reduce(fine.runs, facts);
  ASSERT_TRUE(reduced && exact);
  const auto model = fit_temperature(*reduced);
  double square = 0;
  double raw_square = 0;
  double count = 0;
  for (std::size_t i = 0; i < reduced->temperature.size(); ++i) {
    const Window& window = reduced->temperature[i];
    double predicted = model.ambient.at(window.session, window.time_s);
    for (std::size_t j = 0; j < kHeatCount; ++j) predicted += model.response[j] * window.heat[j];
    const double truth = exact->temperature[i].temperature_c;
    square += (predicted - truth) * (predicted - truth);
    raw_square += (window.temperature_c - truth) * (window.temperature_c - truth);
    count += 1;
  }
  EXPECT_LT(std::sqrt(square / count), 0.2);
  EXPECT_LT(square, 0.5 * raw_square);
}

}  // namespace
}  // namespace ww::model
