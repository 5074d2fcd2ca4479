#include "experiment/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace ww::microbench {
namespace {

PlanInputs inputs_of(std::uint64_t seed, bool quick, int engines = 4, int quadrants = 4) {
  PlanInputs inputs;
  inputs.device = "virtual:w9100";
  inputs.seed = seed;
  inputs.quick = quick;
  inputs.engines = engines;
  inputs.quadrants = quadrants;
  inputs.dvfs_states = 3;
  inputs.reference_state = 2;
  inputs.plateau_s = 1.5;
  inputs.turn_s = 0.02;
  return inputs;
}

PlanInputs any_inputs() {
  return inputs_of(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<bool>(),
                   *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 9));
}

std::int64_t any_block(const PlanInputs& inputs) {
  return *rc::gen::inRange<std::int64_t>(1, maximum_blocks(inputs) + 1);
}

bool is_lock_in(const std::vector<PlannedRun>& runs) {
  return runs[1].kind == RunKind::lock_in;
}

RC_GTEST_PROP(Plan, EveryPairRunsTwiceAboutTheSameMoment, ()) {
  const PlanInputs inputs = any_inputs();
  const auto runs = block_runs(inputs, any_block(inputs));
  RC_PRE(!is_lock_in(runs));  // turns are mirrored within a run
  std::map<std::pair<int, int>, std::vector<std::int64_t>> positions;
  for (const PlannedRun& run : runs) {
    if (run.kind == RunKind::stream) positions[{run.engine, run.quadrant}].push_back(run.position);
  }
  RC_ASSERT(positions.size() == static_cast<std::size_t>(inputs.engines * inputs.quadrants));
  for (const auto& [pair, at] : positions) {
    RC_ASSERT(at.size() == 2u);
    RC_ASSERT(at[0] + at[1] == static_cast<std::int64_t>(runs.size()) - 1);
  }
}

RC_GTEST_PROP(Plan, TheSameInputsGiveTheSameRuns, ()) {
  const PlanInputs inputs = any_inputs();
  const auto block = any_block(inputs);
  const auto again = plan_inputs_from_json(to_json(inputs));
  RC_ASSERT(again.has_value());
  RC_ASSERT(block_runs(inputs, block) == block_runs(*again, block));
  RC_ASSERT(setup_runs(inputs) == setup_runs(*again));
}

RC_GTEST_PROP(Plan, BlockAndPositionNameARun, ()) {
  const PlanInputs inputs = any_inputs();
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  const auto add = [&seen](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs) RC_ASSERT(seen.emplace(run.block, run.position).second);
  };
  add(setup_runs(inputs));
  add(slow_step_runs(inputs));
  add(dvfs_runs(inputs));
  for (std::int64_t b = 1; b <= maximum_blocks(inputs); ++b) add(block_runs(inputs, b));
}

// A campaign may be stopped anywhere, any number of times. Each run is performed once.
RC_GTEST_PROP(Plan, ResumingCompletesIt, ()) {
  const PlanInputs inputs = any_inputs();
  std::vector<PlannedRun> whole = setup_runs(inputs);
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    const auto runs = block_runs(inputs, b);
    whole.insert(whole.end(), runs.begin(), runs.end());
  }
  std::set<std::pair<std::int64_t, std::int64_t>> done;
  std::size_t performed = 0;
  while (done.size() < whole.size()) {
    auto budget = *rc::gen::inRange<std::size_t>(1, whole.size() + 1);
    for (const PlannedRun& run : whole) {
      if (done.contains({run.block, run.position})) continue;
      if (budget-- == 0) break;
      done.emplace(run.block, run.position);
      ++performed;
    }
  }
  RC_ASSERT(performed == whole.size());
}

TEST(Plan, IdleRunsOpenHalveAndCloseABlock) {
  const auto runs = block_runs(inputs_of(1, true), 1);
  ASSERT_EQ(runs.size(), 35u);
  for (const std::size_t at : {0u, 17u, 34u}) EXPECT_EQ(runs[at].kind, RunKind::idle);
}

// Without ABBA, as a control, a linear drift separates the two runs of a pair.
TEST(Plan, WithoutMirrorPairsKeepTheirOrder) {
  auto inputs = inputs_of(1, true);
  inputs.mirrored = false;
  const auto runs = block_runs(inputs, 1);
  for (std::size_t i = 1; i <= 16; ++i) {
    EXPECT_EQ(runs[i].engine, runs[i + 17].engine);
    EXPECT_EQ(runs[i].quadrant, runs[i + 17].quadrant);
  }
  const auto again = plan_inputs_from_json(to_json(inputs));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->mirrored);
  EXPECT_TRUE(plan_inputs_from_json(to_json(inputs_of(1, true)))->mirrored);
}

TEST(Plan, RemembersThatStreamsWaitByNops) {
  auto inputs = inputs_of(1, true);
  EXPECT_FALSE(plan_inputs_from_json(to_json(inputs))->nops);
  inputs.nops = true;
  EXPECT_TRUE(plan_inputs_from_json(to_json(inputs))->nops);
}

TEST(Plan, OrdersDifferBetweenBlocksAndSeeds) {
  EXPECT_NE(block_runs(inputs_of(1, true), 1), block_runs(inputs_of(2, true), 1));
  const auto first = block_runs(inputs_of(1, true), 1);
  const auto third = block_runs(inputs_of(1, true), 3);
  bool differs = false;
  for (std::size_t i = 0; i < first.size(); ++i) differs |= first[i].engine != third[i].engine;
  EXPECT_TRUE(differs);
}

TEST(Plan, LockInSweepsTheLengthOfTurnsInWholeCycles) {
  const PlanInputs inputs = inputs_of(1, true);
  int blocks = 0;
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    const auto runs = block_runs(inputs, b);
    if (!is_lock_in(runs)) continue;
    ++blocks;
    std::vector<double> turns;
    for (const PlannedRun& run : runs) {
      if (run.kind != RunKind::lock_in) continue;
      turns.push_back(run.turn_s);
      const double cycles = run.seconds / (2 * 16 * run.turn_s);
      EXPECT_NEAR(cycles, std::round(cycles), 1e-9);
      EXPECT_GE(cycles, 1);
      EXPECT_EQ(std::set<int>(run.order.begin(), run.order.end()).size(), 16u);
    }
    EXPECT_EQ(turns, (std::vector{0.02, 0.08, 0.32}));
  }
  EXPECT_EQ(blocks, 1);
}

// An engine's clock is gated only after the next turn has begun. The energy that this turn pays for
// it must not depend on the turn's quadrant, nor on whether a new cycle begins with it.
TEST(Plan, EachEnginesTurnsFollowTheSameEnginesInAllOfALockInRun) {
  const PlanInputs inputs = inputs_of(1, true);
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    for (const PlannedRun& run : block_runs(inputs, b)) {
      if (run.kind != RunKind::lock_in) continue;
      const auto cycle = cycle_of_turns(run, 4);
      ASSERT_EQ(cycle.size(), 32u);
      std::map<int, std::set<int>> engine_before;
      std::map<int, std::vector<std::size_t>> places;
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const auto before = static_cast<std::size_t>(cycle[(i + cycle.size() - 1) % cycle.size()]);
        engine_before[cycle[i] / 4].insert(static_cast<int>(before / 4));
        places[cycle[i]].push_back(i);
      }
      for (const auto& [engine, others] : engine_before) {
        EXPECT_EQ(others.size(), 1u) << engine;
        EXPECT_FALSE(others.contains(engine));
      }
      // Against linear drift, the two visits of each pair of an engine have the same mean place.
      EXPECT_EQ(places.size(), 16u);
      std::map<int, std::set<std::size_t>> sums;
      for (const auto& [pair, at] : places) {
        ASSERT_EQ(at.size(), 2u) << pair;
        sums[pair / 4].insert(at[0] + at[1]);
      }
      for (const auto& [engine, sum] : sums) EXPECT_EQ(sum.size(), 1u) << engine;
    }
  }
}

TEST(Plan, SensorsTooSlowForLockInGetPlateausInstead) {
  PlanInputs inputs = inputs_of(1, true);
  inputs.turn_s = lock_in_turn_seconds(0.1, 0.2, 0.2, 0.1);
  EXPECT_EQ(*inputs.turn_s, 0);
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    EXPECT_FALSE(is_lock_in(block_runs(inputs, b)));
  }
  // An accumulator neither lags nor averages. A register still shows the turn before for a while.
  EXPECT_DOUBLE_EQ(lock_in_turn_seconds(0.001, 0.1, 0.1, 0.001), 0.02);
  EXPECT_DOUBLE_EQ(lock_in_turn_seconds(0.02, 0.1, 0.1, 0.02), 0.16);
  EXPECT_DOUBLE_EQ(lock_in_turn_seconds(0.01, 0.01, 0.02, std::nullopt), 0.24);
}

TEST(Plan, QuickHasAllItNeedsAndOneBlockAtAnotherState) {
  const PlanInputs inputs = inputs_of(1, true);
  int random = 0, throttled = 0, zeros = 0, half = 0, uniform = 0, elsewhere = 0;
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    const auto runs = block_runs(inputs, b);
    const PlannedRun& one = runs[1];
    for (const PlannedRun& run : runs) EXPECT_EQ(run.dvfs_state, one.dvfs_state);
    elsewhere += one.dvfs_state == 2 ? 0 : 1;
    uniform += one.pattern == kernels::Pattern::uniform_lines ? 1 : 0;
    if (one.rate == Rate::throttled) {
      ++throttled;
    } else if (one.pattern == kernels::Pattern::random) {
      ++random;
    }
    zeros += one.pattern == kernels::Pattern::zeros ? 1 : 0;
    half += one.pattern == kernels::Pattern::half_random ? 1 : 0;
  }
  EXPECT_GE(random, 3);
  EXPECT_GE(throttled, 1);
  EXPECT_GE(zeros, 1);
  EXPECT_GE(half, 1);
  EXPECT_EQ(uniform, 1);
  EXPECT_EQ(elsewhere, 1);
  const auto other_states = dvfs_runs(inputs);
  EXPECT_EQ(other_states.size(), 2u);
  for (const PlannedRun& run : other_states) EXPECT_EQ(run.kind, RunKind::idle);
}

TEST(Plan, FullVisitsEveryClockStateAndPattern) {
  const PlanInputs inputs = inputs_of(1, false);
  std::set<int> states;
  std::set<kernels::Pattern> patterns;
  std::set<Rate> rates;
  for (std::int64_t b = 1; b <= minimum_blocks(inputs); ++b) {
    const auto runs = block_runs(inputs, b);
    states.insert(runs[1].dvfs_state);
    patterns.insert(runs[1].pattern);
    rates.insert(runs[1].rate);
  }
  EXPECT_EQ(states, (std::set{0, 1, 2}));
  EXPECT_EQ(patterns.size(), kernels::all_patterns.size());
  EXPECT_EQ(rates.size(), kRateCount);
  EXPECT_EQ(dvfs_runs(inputs).size(), 6u);
}

TEST(Plan, ExtraBlocksRepeatTheRandomSaturatedVariant) {
  const PlanInputs inputs = inputs_of(1, true);
  for (std::int64_t b = minimum_blocks(inputs) + 1; b <= maximum_blocks(inputs); ++b) {
    const PlannedRun run = block_runs(inputs, b)[1];
    EXPECT_EQ(run.pattern, kernels::Pattern::random);
    EXPECT_EQ(run.rate, Rate::saturated);
  }
}

// An MI300A's register has whole watts, a lag of 100 ms and no noise of its own.
TEST(Plan, PausesWhereNoNoiseDithersTheStepsOfALaggingRegister) {
  constexpr double kRise_s = 0.42, kLoad_w = 34;
  EXPECT_NEAR(pause_share_of(1, 0.1, kRise_s, kLoad_w), 1 / kLoad_w, 1e-12);
  EXPECT_EQ(pause_share_of(1, 0.7, kRise_s, kLoad_w), 0) << "noise dithers";
  EXPECT_EQ(pause_share_of(1, 0.1, 0.002, kLoad_w), 0) << "each pause would show";
  EXPECT_EQ(pause_share_of(1, 0.1, kRise_s, 10), 0) << "a tenth of the time is too much";
  EXPECT_EQ(pause_share_of(0, 0.1, kRise_s, kLoad_w), 0);
  PlanInputs inputs;
  inputs.device = "d";
  inputs.engines = inputs.quadrants = 4;
  inputs.plateau_s = 2;
  inputs.turn_s = 0;
  inputs.pause_share = 0.03;
  std::set<double> shares;
  for (std::int64_t block = 1; block <= 8; ++block) {
    for (const PlannedRun& run : block_runs(inputs, block)) {
      if (run.kind != RunKind::stream) continue;
      EXPECT_GE(run.pause_share, 0);
      EXPECT_LT(run.pause_share, 0.03);
      shares.insert(run.pause_share);
    }
  }
  EXPECT_EQ(shares.size(), 8U) << "one share for each block";
  EXPECT_EQ(plan_inputs_from_json(to_json(inputs))->pause_share, 0.03);
}

TEST(Plan, SlowSensorsGetLongerPlateaus) {
  EXPECT_DOUBLE_EQ(plateau_seconds(true, 16, 0.01, 0.05, 0.001), 1.5);
  EXPECT_DOUBLE_EQ(plateau_seconds(true, 32, 0.01, 0.05, 0.001), 0.75);
  EXPECT_DOUBLE_EQ(plateau_seconds(true, 16, 0.2, 1.0, 0.001), 7.2);
  EXPECT_DOUBLE_EQ(plateau_seconds(false, 16, 0.01, 0.05, 0.001), 5.0);
}

TEST(Plan, ASlowSensorGetsADozenReadingsAPlateauAndTheCampaignsLengthSaysSo) {
  // The register is refreshed once a second, 0.5 s late, and takes 0.8 s to follow a step.
  const double plateau_s = plateau_seconds(true, 16, 0.5, 0.8, 1.0);
  EXPECT_DOUBLE_EQ(plateau_s, 0.5 + 2 * 0.8 + 1.0 + 12);
  PlanInputs fast = inputs_of(1, true);
  PlanInputs slow = fast;
  fast.plateau_s = plateau_seconds(true, 16, 0.01, 0.05, 0.001);
  slow.plateau_s = plateau_s;
  EXPECT_GT(planned_seconds(slow), 5 * planned_seconds(fast));
  double sum = 0;
  for (const auto& runs : {setup_runs(fast), dvfs_runs(fast)}) {
    for (const PlannedRun& run : runs) sum += run.seconds;
  }
  EXPECT_GT(planned_seconds(fast), sum);
}

TEST(Plan, DamagedInputsAreNamed) {
  auto json = to_json(inputs_of(1, true));
  json.erase("seed");
  EXPECT_NE(plan_inputs_from_json(json).error().message.find("seed"), std::string::npos);
  json = to_json(inputs_of(1, true));
  json["engines"] = 0;
  EXPECT_FALSE(plan_inputs_from_json(json));
}

// The mean place of every condition in a round is the middle, so that linear drift cancels.
TEST(Plan, ReadsBehindTheL2AreMirroredAndNoneUnlessAsked) {
  PlanInputs inputs = inputs_of(1, true);
  EXPECT_TRUE(beyond_l2_runs(inputs).empty());
  inputs.beyond_l2 = true;
  const auto runs = beyond_l2_runs(inputs);
  ASSERT_EQ(runs.size(), 24U);
  for (std::size_t round = 0; round < runs.size(); round += 6) {
    std::map<int, std::int64_t> places;
    for (std::size_t i = round; i < round + 6; ++i) {
      EXPECT_EQ(runs[i].kind, RunKind::beyond_l2);
      EXPECT_EQ(runs[i].dvfs_state, inputs.reference_state);
      places[runs[i].point] += static_cast<std::int64_t>(i - round);
    }
    EXPECT_EQ(places, (std::map<int, std::int64_t>{{0, 5}, {1, 5}, {2, 5}}));
  }
  const auto again = plan_inputs_from_json(to_json(inputs));
  ASSERT_TRUE(again);
  EXPECT_EQ(beyond_l2_runs(*again), runs);
  EXPECT_FALSE(plan_inputs_from_json(to_json(inputs_of(1, true)))->beyond_l2);
}

}  // namespace
}  // namespace ww::microbench
