// Latency beside the floorplan: agreement, ports a millimetre off, exchanged names.
#include "ww/model/latency_witness.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "fit/solver/assumptions.hpp"
#include "reduction/facts.hpp"
#include "testing/fitting.hpp"
#include "ww/model/latency_table.hpp"

namespace ww::model {
namespace {

using namespace testing;

// 73 cycles between the nearest and the farthest slice of a V100, over some 20 mm there and back.
constexpr double kTicksPerMm = 2;

Floorplan published_plan(const SyntheticCampaign& campaign, double position_error_mm = 0.2) {
  const auto plan =
      parse_floorplan(campaign.facts.at(std::string(campaign_keys::floorplan)), "test");
  EXPECT_TRUE(plan) << plan.error().text();
  Floorplan result = *plan;
  result.position_error_95 = Millimetre(position_error_mm);
  return result;
}

// Chases of all pairs, three times, on a chip whose blocks lie as in `real`.
std::vector<StoredRun> chases(const Floorplan& real, double noise_ticks = 0.3) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<StoredRun> runs;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int e = 0; e < 4; ++e) {
      for (int q = 0; q < 4; ++q) {
        StoredRun run;
        run.kind = RunKind::latency;
        run.position = 1000 + static_cast<std::int64_t>(runs.size());
        run.engine = e;
        run.quadrant = q;
        run.counters[kLatencyCounter] = 150 + 5 * e - 3 * q +
                                        kTicksPerMm * real.distance(e, q).value() +
                                        noise_ticks * normal(random);
        runs.push_back(run);
      }
    }
  }
  return runs;
}

Floorplan ports_farther_out(Floorplan plan, double mm) {
  for (Point& port : plan.l2_channels) port.x_mm += port.x_mm < plan.width.value() / 2 ? -mm : mm;
  return plan;
}

TEST(LatencyWitness, AgreesWithTheFloorplanThatTheChipWasBuiltBy) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  const auto witness = judge_latency(chases(plan), plan);
  ASSERT_TRUE(witness.recorded) << witness.reason;
  EXPECT_FALSE(witness.disagrees) << witness.reason;
  EXPECT_GT(witness.rank_correlation, 0.9);
  EXPECT_NEAR(witness.ticks_per_mm, kTicksPerMm, 0.1);
  EXPECT_NEAR(witness.noise_ticks, 0.3 / std::sqrt(3.0), 0.05);
  EXPECT_GT(witness.p_value, 0.01);
}

TEST(LatencyWitness, SeesPortsThatLieAMillimetreFartherOut) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  const auto witness = judge_latency(chases(ports_farther_out(plan, 1)), plan);
  EXPECT_TRUE(witness.disagrees);
  EXPECT_LT(witness.p_value, 1e-3);
  EXPECT_NE(witness.reason.find("depart from the floorplan's distances"), std::string::npos)
      << witness.reason;
}

TEST(LatencyWitness, AllowsForTheErrorThatTheFloorplanDeclares) {
  const auto plan = published_plan(make_campaign(seeded(3)), 1.5);
  const auto witness = judge_latency(chases(ports_farther_out(plan, 1)), plan);
  EXPECT_FALSE(witness.disagrees) << witness.reason;
  EXPECT_GT(witness.relative, 0.1);
}

TEST(LatencyWitness, AllowsForWholeCyclesAndNoise) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  auto runs = chases(plan, 0);
  for (StoredRun& run : runs) {
    double& ticks = run.counters[kLatencyCounter];
    ticks = 2 * std::round(ticks / 2);
  }
  EXPECT_FALSE(judge_latency(runs, plan).disagrees);
  EXPECT_FALSE(judge_latency(chases(plan, 4), plan).disagrees);
}

TEST(LatencyWitness, SeesEnginesThatCarryEachOthersNames) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  for (const int other : {1, 2, 3}) {
    Floorplan real = plan;
    std::swap(real.compute_units[0], real.compute_units[static_cast<std::size_t>(other)]);
    EXPECT_TRUE(judge_latency(chases(real), plan).disagrees) << other;
  }
}

TEST(LatencyWitness, IsNotRecordedWherePairsLackRepeats) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  auto runs = chases(plan);
  EXPECT_FALSE(judge_latency({}, plan).recorded);
  runs[20].status = RunStatus::failed;
  runs[36].status = RunStatus::failed;
  const auto witness = judge_latency(runs, plan);
  EXPECT_FALSE(witness.recorded);
  EXPECT_FALSE(witness.reason.empty());
}

// One table, as a search for homes gives it.
std::vector<std::vector<double>> table_of_paths(const Floorplan& real) {
  std::vector<std::vector<double>> ticks(4);
  for (int e = 0; e < 4; ++e) {
    for (int q = 0; q < 4; ++q) {
      ticks[static_cast<std::size_t>(e)].push_back(
          std::ceil(150 + 5 * e - 3 * q + kTicksPerMm * real.distance(e, q).value()));
    }
  }
  return ticks;
}

TEST(LatencyWitness, JudgesATableWithoutRepeatsByItsGivenError) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  EXPECT_FALSE(judge_latency_table(table_of_paths(plan), 0.2, plan).disagrees);
  const Floorplan elsewhere = ports_farther_out(plan, 1.5);
  const auto witness = judge_latency_table(table_of_paths(elsewhere), 0.2, plan);
  EXPECT_TRUE(witness.recorded);
  EXPECT_TRUE(witness.disagrees) << witness.relative << " " << witness.p_value;
  EXPECT_GT(witness.relative, 0.1);
  // Within a large error this departure says nothing.
  EXPECT_FALSE(judge_latency_table(table_of_paths(elsewhere), 20, plan).disagrees);
}

TEST(LatencyWitness, JudgesNoTableOfAnotherShape) {
  const auto plan = published_plan(make_campaign(seeded(3)));
  const auto witness = judge_latency_table({{1, 2}, {2, 1}}, 0.2, plan);
  EXPECT_FALSE(witness.recorded);
  EXPECT_FALSE(witness.reason.empty());
}

TEST(LatencyWitness, FlagsTheModelAndStandsInItsFile) {
  auto campaign = make_campaign(seeded(3));
  const auto plan = published_plan(campaign);
  const auto without = fit(campaign);
  ASSERT_TRUE(without) << without.error().text();
  EXPECT_FALSE(without->misfit.flagged) << without->misfit.reason;
  EXPECT_EQ(to_model_json(*without)["latency"]["recorded"], false);

  auto agreeing = campaign;
  for (const auto& run : chases(plan)) agreeing.runs.push_back(run);
  const auto good = fit(agreeing);
  ASSERT_TRUE(good) << good.error().text();
  EXPECT_FALSE(good->misfit.flagged) << good->misfit.reason;
  EXPECT_EQ(good->energy_per_bit_mm.row.value, without->energy_per_bit_mm.row.value);
  EXPECT_GT(to_model_json(*good)["latency"]["rank_correlation"], 0.9);

  for (const auto& run : chases(ports_farther_out(plan, 1))) campaign.runs.push_back(run);
  const auto bad = fit(campaign);
  ASSERT_TRUE(bad) << bad.error().text();
  EXPECT_TRUE(bad->misfit.flagged);
  EXPECT_EQ(bad->energy_per_bit_mm.row.status, RowStatus::misfit);
  EXPECT_EQ(to_model_json(*bad)["latency"]["disagrees"], true);
}

// Flights of a floorplan [ns], as a campaign by home stores them.
std::string stored_flights(const Floorplan& real, const SyntheticCampaign& campaign) {
  const auto facts = read_facts(campaign.facts);
  EXPECT_TRUE(facts) << facts.error().text();
  const double ns_per_tick =
      1e9 / facts->dvfs[static_cast<std::size_t>(facts->reference_state)].clock_hz;
  MeasuredPaths paths;
  for (const auto& row : table_of_paths(real)) {
    auto& out = paths.flight_ns.emplace_back();
    for (const double ticks : row) out.push_back(ticks * ns_per_tick);
  }
  paths.noise_ns = 0.1 * ns_per_tick;
  paths.resolution_ns = kLatencyGrainTicks * ns_per_tick;
  for (int q = 0; q < facts->quadrants(); ++q) paths.channels.push_back(facts->channels_of(q));
  paths.by_floorplan = true;
  return to_json(paths).dump();
}

// Single loads take multiples of four cycles. A campaign by home has timed many loads of a pair.
TEST(LatencyWitness, JudgesByMeasuredFlightsWhereACampaignHasThem) {
  auto campaign = make_campaign(seeded(3));
  const auto plan = published_plan(campaign);
  for (StoredRun run : chases(plan, 0)) {
    double& ticks = run.counters[kLatencyCounter];
    ticks = 8 * std::round(ticks / 8);
    campaign.runs.push_back(run);
  }
  const auto by_loads = fit(campaign);
  ASSERT_TRUE(by_loads) << by_loads.error().text();
  EXPECT_TRUE(by_loads->latency.disagrees);

  campaign.facts[kPathsFact] = stored_flights(plan, campaign);
  const auto by_flights = fit(campaign);
  ASSERT_TRUE(by_flights) << by_flights.error().text();
  EXPECT_FALSE(by_flights->latency.disagrees) << by_flights->latency.reason;
  EXPECT_FALSE(by_flights->misfit.flagged) << by_flights->misfit.reason;
  EXPECT_EQ(by_flights->energy_per_bit_mm.row.value, by_loads->energy_per_bit_mm.row.value);

  campaign.facts[kPathsFact] = stored_flights(ports_farther_out(plan, 1.5), campaign);
  const auto elsewhere = fit(campaign);
  ASSERT_TRUE(elsewhere) << elsewhere.error().text();
  EXPECT_TRUE(elsewhere->misfit.flagged);
}

}  // namespace
}  // namespace ww::model
