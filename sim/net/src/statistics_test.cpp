#include "ww/sim/net/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ww/sim/net/random.hpp"

namespace ww::sim::net {
namespace {

Simulation small(double rate) {
  Simulation simulation;
  simulation.run.traffic.rate = rate;
  simulation.run.warmup = Cycles{500};
  simulation.run.cycles = Cycles{2000};
  return simulation;
}

// Roughly normal: a sum of twelve uniform draws.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += random.below(1U << 20) * 0x1.0p-20;
  }
  return sum;
}

TEST(MeanInterval, IsStudentsOfTheSamples) {
  const std::vector<double> samples{9, 10, 11};
  const MeanInterval interval = interval_of(samples);
  EXPECT_DOUBLE_EQ(interval.value, 10);
  // t(0.975, 2) = 4.3027; the standard error is 1/sqrt(3).
  EXPECT_NEAR(interval.high - 10, 4.3027 / std::sqrt(3.0), 1e-3);
  EXPECT_NEAR(interval.relative_half_width(), 0.43027 / std::sqrt(3.0), 1e-4);
  EXPECT_EQ(interval.samples, 3U);
}

TEST(MeanInterval, OfOneSampleIsUnbounded) {
  const std::vector<double> samples{9};
  const MeanInterval interval = interval_of(samples);
  EXPECT_EQ(interval.value, 9);
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(BatchInterval, CoversTheMeanOfCorrelatedBatches) {
  Random random(3);
  int covered = 0;
  int covered_as_they_are = 0;
  constexpr int kSeries = 400;
  for (int series = 0; series < kSeries; ++series) {
    std::vector<double> batches;
    double state = normal(random);
    for (int i = 0; i < 40; ++i) {
      state = 0.6 * state + 0.8 * normal(random);
      batches.push_back(state);
    }
    const auto holds = [](const MeanInterval& interval) {
      return interval.low <= 0 && 0 <= interval.high ? 1 : 0;
    };
    covered += holds(batch_interval(batches));
    covered_as_they_are += holds(interval_of(batches));
  }
  EXPECT_LT(covered_as_they_are, 0.75 * kSeries);
  EXPECT_GT(covered, 0.85 * kSeries);
}

TEST(BatchInterval, TakesIndependentBatchesAsTheyAre) {
  const std::vector<double> batches{1, 3, 2, 4, 1, 3, 2, 4, 2, 3};
  EXPECT_EQ(batch_interval(batches).samples, 10U);
}

TEST(Run, BatchesMakeUpItsMean) {
  const auto report = simulate(small(0.2));
  ASSERT_TRUE(report);
  const auto& batches = report->run.batch_latency;
  ASSERT_EQ(batches.size(), 20U);
  const double mean = std::accumulate(batches.begin(), batches.end(), 0.0) / 20;
  EXPECT_NEAR(mean, report->run.avg_packet_latency, 0.02 * mean);
  EXPECT_LT(batch_interval(batches).low, report->run.avg_packet_latency);
}

TEST(Repeat, TakesSeedsInOrderAndStopsWhenPreciseEnough) {
  RepeatConfig config;
  config.min_runs = 3;
  config.precision = 0.01;
  const auto repeated = repeat(small(0.3), config);
  ASSERT_TRUE(repeated) << repeated.error().text();
  EXPECT_TRUE(repeated->precise);
  EXPECT_LE(repeated->packet_latency.relative_half_width(), 0.01);
  // One run fewer was not enough, unless it is the least number.
  if (repeated->runs.size() > 3) {
    std::vector<double> fewer;
    for (std::size_t i = 0; i + 1 < repeated->runs.size(); ++i) {
      fewer.push_back(repeated->runs[i].avg_packet_latency);
    }
    EXPECT_GT(interval_of(fewer).relative_half_width(), 0.01);
  }
  Simulation second = small(0.3);
  second.run.traffic.seed += 1;
  const auto report = simulate(second);
  ASSERT_TRUE(report);
  EXPECT_EQ(repeated->runs[1].avg_packet_latency, report->run.avg_packet_latency);
}

TEST(Repeat, HasTheEnergyOfEachRunUnderTheKeysOfOne) {
  RepeatConfig config;
  config.min_runs = config.max_runs = 3;
  const Simulation simulation = small(0.3);
  const auto repeated = repeat(simulation, config);
  ASSERT_TRUE(repeated) << repeated.error().text();
  std::vector<double> totals;
  nlohmann::json one;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Simulation single = simulation;
    single.run.traffic.seed += seed;
    const auto report = simulate(single);
    ASSERT_TRUE(report);
    totals.push_back(report->energy.total().to<double>());
    one = *report;
  }
  const auto mean = mean_json(simulation, *repeated);
  const nlohmann::json intervals = *repeated;
  const MeanInterval expected = interval_of(totals);
  EXPECT_NEAR(mean["energy_pj"]["total"], expected.value, 1e-9 * expected.value);
  EXPECT_NEAR(intervals["energy_pj"]["total"]["low"], expected.low, 1e-9 * expected.value);
  EXPECT_GT(intervals["energy_pj_per_flit"]["value"], 0);
  for (const auto& [key, value] : one["energy_pj"].items()) {
    EXPECT_TRUE(mean["energy_pj"].contains(key)) << key;
  }
  EXPECT_EQ(mean["measured_cycles"], one["measured_cycles"]);
}

TEST(Repeat, HasTheMeanOfEachFigureAndOfItsEnds) {
  Repeated repeated;
  for (const double joules : {2.0, 4.0}) {
    power::EnergyReport& energy = repeated.energies.emplace_back();
    energy.figures.energy = Figure::of("energy", Interval{joules, joules / 2, 3 * joules}, "J");
    energy.figures.per_flit.name = "a flit";
    energy.figures.per_flit.reason = "nothing arrived";
  }
  const power::EnergyFigures mean = mean_figures(repeated);
  EXPECT_EQ(mean.energy.interval()->value, 3);
  EXPECT_EQ(mean.energy.interval()->low, 1.5);
  EXPECT_EQ(mean.energy.interval()->high, 9);
  EXPECT_FALSE(mean.per_flit.interval());
  EXPECT_EQ(mean.per_flit.reason, "nothing arrived");
}

TEST(Repeat, SaysWhenThePrecisionWasNotReached) {
  RepeatConfig config;
  config.min_runs = 2;
  config.max_runs = 3;
  config.precision = 1e-6;
  const auto repeated = repeat(small(0.3), config);
  ASSERT_TRUE(repeated);
  EXPECT_FALSE(repeated->precise);
  EXPECT_EQ(repeated->runs.size(), 3U);
}

TEST(Repeat, RefusesTracesAndFewerThanTwoRuns) {
  RepeatConfig config;
  config.min_runs = 1;
  EXPECT_FALSE(repeat(small(0.1), config));
  Simulation traced = small(0.1);
  traced.trace = "x.wwt";
  const auto repeated = repeat(traced, RepeatConfig{});
  ASSERT_FALSE(repeated);
  EXPECT_EQ(repeated.error().code, ErrorCode::unsupported);
}

TEST(Saturation, LiesBetweenAStableAndAnUnstableRate) {
  Simulation simulation = small(0.1);
  simulation.run.traffic.pattern = Pattern::transpose;
  simulation.run.cycles = Cycles{5000};
  const auto found = find_saturation(simulation, 0.02);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->saturates);
  EXPECT_LE(found->high - found->low, 0.02);
  // Three nodes of a row share the link in the middle of a 4x4 mesh.
  EXPECT_GT(found->low, 0.2);
  // A run keeps up with a backlog of up to 2%.
  EXPECT_LE(found->high, 1.1 / 3);
  for (const double rate : {found->low, found->high}) {
    simulation.run.traffic.rate = rate;
    const auto report = simulate(simulation);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->run.stable, rate == found->low) << rate;
  }
}

TEST(Saturation, OfANetworkThatCarriesEverythingIsNone) {
  Simulation simulation = small(0.1);
  simulation.network.network = "ideal";
  const auto found = find_saturation(simulation, 0.05);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->saturates);
  EXPECT_EQ(found->low, 1);
  EXPECT_EQ(found->runs, 1);
}

// While a burst lasts a node sends a packet a cycle at most: half of the time here.
TEST(Saturation, OfBurstsIsSoughtUpToTheMostThatTheyCanOffer) {
  Simulation simulation = small(0.1);
  simulation.run.traffic.burst_start = 0.02;
  simulation.run.traffic.burst_stop = 0.02;
  EXPECT_DOUBLE_EQ(most_rate(simulation.run.traffic), 0.5);
  EXPECT_EQ(default_curve_rates(simulation.run.traffic).back(), 0.5);
  EXPECT_EQ(default_curve_rates(TrafficConfig{}).back(), 1.0);
  simulation.network.network = "ideal";
  const auto found = find_saturation(simulation, 0.05);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_FALSE(found->saturates);
  EXPECT_DOUBLE_EQ(found->low, 0.5);
}

TEST(Saturation, RefusesAToleranceOfNothing) {
  EXPECT_FALSE(find_saturation(small(0.1), 0));
}

}  // namespace
}  // namespace ww::sim::net
