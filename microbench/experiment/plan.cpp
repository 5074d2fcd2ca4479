#include "experiment/plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "bench/order.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::microbench {
namespace {

using kernels::Pattern;

struct Variant {
  Pattern pattern{Pattern::random};
  Rate rate{Rate::saturated};
  int dvfs_state{};
  bool lock_in{};
};

// A place from 0 to 1 for each block, as evenly spread as any number of blocks allows: multiples of
// the golden ratio, without their whole parts.
double place_of(std::int64_t block) {
  constexpr double kGolden = 0.6180339887498949;
  const double turns = kGolden * static_cast<double>(block);
  return turns - std::floor(turns);
}

// The variants of one round. Random saturated runs, which carry the answer, come first and lie
// between the others, so that slow drift does not part them.
std::vector<Variant> round_of(const PlanInputs& inputs) {
  const int reference = inputs.reference_state;
  const Variant random{Pattern::random, Rate::saturated, reference, false};
  // Where the sensor is too slow for lock-in, plateaus take its place.
  const Variant lock_in{Pattern::random, Rate::saturated, reference,
                        inputs.turn_s.value_or(1.0) > 0};
  const auto pattern = [reference](Pattern data) {
    return Variant{data, Rate::saturated, reference, false};
  };
  const auto rate = [reference](Rate slower) {
    return Variant{Pattern::random, slower, reference, false};
  };
  // The state with the lowest voltage is farthest from the reference, unless it is the reference.
  const int other = reference == 0 ? inputs.dvfs_states - 1 : 0;
  std::vector<Variant> round{random,
                             rate(Rate::throttled),
                             lock_in,
                             pattern(Pattern::zeros),
                             random,
                             pattern(Pattern::half_random),
                             pattern(Pattern::uniform_lines)};
  if (inputs.quick) {
    if (other != reference) round.push_back({Pattern::random, Rate::saturated, other, false});
    return round;
  }
  for (const Pattern data : {Pattern::ones, Pattern::aa, Pattern::density_25, Pattern::density_75,
                             Pattern::pairs_equal, Pattern::pairs_opposite}) {
    round.push_back(pattern(data));
  }
  round.push_back(random);
  round.push_back(rate(Rate::three_quarters));
  round.push_back(rate(Rate::quarter));
  for (int state = 0; state < inputs.dvfs_states; ++state) {
    if (state != reference) round.push_back({Pattern::random, Rate::saturated, state, false});
  }
  return round;
}

constexpr int kFullRounds = 2;

PlannedRun make(std::int64_t block, std::int64_t position, RunKind kind, int state,
                double seconds) {
  PlannedRun run;
  run.block = block;
  run.position = position;
  run.kind = kind;
  run.dvfs_state = state;
  run.seconds = seconds;
  return run;
}

// Positions of block 0. Gaps leave room without renumbering.
constexpr std::int64_t kFirstStep = 1;
constexpr std::int64_t kSlowStepPosition = 10;
constexpr std::int64_t kKnownBytesPosition = 20;
constexpr std::int64_t kHeatRunPosition = 21;
constexpr std::int64_t kFirstDvfs = 30;
constexpr std::int64_t kFirstLatency = 1000;
constexpr int kLatencyRuns = 3;
constexpr std::int64_t kFirstBeyondL2 = 100'000;  // behind the latencies of 4096 pairs
constexpr int kBeyondL2Rounds = 4;
constexpr double kShortestBeyondL2S = 1.0;

constexpr double kLockInS = 30.0;  // device time of a lock-in run, at least one cycle
constexpr std::array kTurnFactors{1.0, 4.0, 16.0};

// All pairs in random order, but engines always take turns in the same one. What a turn pays for
// engines that are not gated yet is then part of the engine's own offset. In a random order, pairs
// that follow one of their own engine would seem cheaper.
std::vector<int> order_of_turns(const PlanInputs& inputs, SplitMix& generator) {
  const auto next = [&generator] { return generator.next(); };
  std::vector<int> engines(static_cast<std::size_t>(inputs.engines));
  std::iota(engines.begin(), engines.end(), 0);
  shuffle(engines, next);
  std::vector<int> order(engines.size() * static_cast<std::size_t>(inputs.quadrants));
  for (std::size_t e = 0; e < engines.size(); ++e) {
    std::vector<int> quadrants(static_cast<std::size_t>(inputs.quadrants));
    std::iota(quadrants.begin(), quadrants.end(), 0);
    shuffle(quadrants, next);
    for (std::size_t round = 0; round < quadrants.size(); ++round) {
      order[round * engines.size() + e] = engines[e] * inputs.quadrants + quadrants[round];
    }
  }
  return order;
}

std::vector<PlannedRun> lock_in_runs(const PlanInputs& inputs, std::int64_t block,
                                     const std::vector<int>& order, double idle_s) {
  std::vector<PlannedRun> runs;
  const auto add = [&](RunKind kind, double seconds) -> PlannedRun& {
    return runs.emplace_back(
        make(block, static_cast<std::int64_t>(runs.size()), kind, inputs.reference_state, seconds));
  };
  for (const double factor : kTurnFactors) {
    add(RunKind::idle, idle_s);
    PlannedRun& run = add(RunKind::lock_in, 0);
    run.turn_s = factor * inputs.turn_s.value_or(0.0);
    // Repeats one order each time: launches then repeat, which a simulated chip need not execute
    // again.
    run.order = order;
    run.mirrored = inputs.mirrored;
    const double cycle_s = 2 * static_cast<double>(order.size()) * run.turn_s;
    run.seconds = cycle_s * std::max(1.0, std::round(kLockInS / cycle_s));
  }
  add(RunKind::idle, idle_s);
  return runs;
}

}  // namespace

std::vector<int> cycle_of_turns(const PlannedRun& run, int quadrants) {
  if (!run.mirrored) return twice(run.order, false);
  std::vector<int> cycle = run.order;
  const std::ptrdiff_t engines = std::ssize(run.order) / quadrants;
  for (auto end = run.order.end(); end != run.order.begin(); end -= engines) {
    cycle.insert(cycle.end(), end - engines, end);
  }
  return cycle;
}

std::string_view to_string(Rate rate) {
  switch (rate) {
    case Rate::saturated: return "saturated";
    case Rate::throttled: return "throttled";
    case Rate::three_quarters: return "three_quarters";
    case Rate::quarter: return "quarter";
  }
  return "unknown";
}

std::vector<PlannedRun> setup_runs(const PlanInputs& inputs) {
  const int state = inputs.reference_state;
  std::vector<PlannedRun> runs{make(0, 0, RunKind::idle, state, 5.0)};
  for (std::int64_t i = 0; i < 5; ++i) {
    PlannedRun run = make(0, kFirstStep + i, RunKind::step_test, state, 0.5);
    run.engine = static_cast<int>(i) % std::max(inputs.engines, 1);
    run.quadrant = static_cast<int>(i) % std::max(inputs.quadrants, 1);
    runs.push_back(run);
  }
  runs.push_back(make(0, kKnownBytesPosition, RunKind::known_bytes, state, 0.0));
  runs.push_back(make(0, kHeatRunPosition, RunKind::heat, state, 40.0));
  runs.push_back(
      make(0, kHeatRunPosition + 1, RunKind::cooldown, state, inputs.quick ? 75.0 : 90.0));
  return runs;
}

std::vector<PlannedRun> slow_step_runs(const PlanInputs& inputs) {
  std::vector<PlannedRun> runs;
  for (std::int64_t i = 0; i < 3; ++i) {
    PlannedRun run =
        make(0, kSlowStepPosition + i, RunKind::step_test, inputs.reference_state, 10.0);
    run.engine = 0;
    run.quadrant = 0;
    runs.push_back(run);
  }
  return runs;
}

std::vector<PlannedRun> dvfs_runs(const PlanInputs& inputs) {
  std::vector<PlannedRun> runs;
  for (int state = 0; state < inputs.dvfs_states; ++state) {
    if (state == inputs.reference_state) continue;
    const std::int64_t first = kFirstDvfs + 3 * state;
    runs.push_back(make(0, first, RunKind::idle, state, 5.0));
    if (inputs.quick) continue;
    runs.push_back(make(0, first + 1, RunKind::heat, state, 40.0));
    runs.push_back(make(0, first + 2, RunKind::cooldown, state, 90.0));
  }
  return runs;
}

std::vector<PlannedRun> latency_runs(const PlanInputs& inputs) {
  std::vector<PlannedRun> runs;
  if (!inputs.latency) return runs;
  for (int repeat = 0; repeat < kLatencyRuns; ++repeat) {
    for (int engine = 0; engine < inputs.engines; ++engine) {
      for (int quadrant = 0; quadrant < inputs.quadrants; ++quadrant) {
        PlannedRun run = make(0, kFirstLatency + std::ssize(runs), RunKind::latency,
                              inputs.reference_state, 0.0);
        run.engine = engine;
        run.quadrant = quadrant;
        run.repeat = repeat;
        runs.push_back(run);
      }
    }
  }
  return runs;
}

std::vector<PlannedRun> beyond_l2_runs(const PlanInputs& inputs) {
  std::vector<PlannedRun> runs;
  if (!inputs.beyond_l2) return runs;
  const double seconds = std::max(kShortestBeyondL2S, inputs.plateau_s.value_or(0.0));
  for (int round = 0; round < kBeyondL2Rounds; ++round) {
    for (int i = 0; i < 2 * kBeyondL2Conditions; ++i) {
      PlannedRun run = make(0, kFirstBeyondL2 + std::ssize(runs), RunKind::beyond_l2,
                            inputs.reference_state, seconds);
      run.point = i < kBeyondL2Conditions ? i : 2 * kBeyondL2Conditions - 1 - i;
      runs.push_back(run);
    }
  }
  return runs;
}

std::int64_t minimum_blocks(const PlanInputs& inputs) {
  const auto round = static_cast<std::int64_t>(round_of(inputs).size());
  return inputs.quick ? round : kFullRounds * round;
}

std::int64_t maximum_blocks(const PlanInputs& inputs) {
  return minimum_blocks(inputs) + (inputs.quick ? 6 : 24);
}

std::vector<PlannedRun> block_runs(const PlanInputs& inputs, std::int64_t block) {
  const auto round = round_of(inputs);
  const auto index = static_cast<std::size_t>(block - 1);
  const Variant variant =
      block <= minimum_blocks(inputs)
          ? round[index % round.size()]
          : Variant{Pattern::random, Rate::saturated, inputs.reference_state, false};

  std::vector<int> order(static_cast<std::size_t>(inputs.engines * inputs.quadrants));
  std::iota(order.begin(), order.end(), 0);
  SplitMix generator(inputs.seed * 0x100000001B3u + static_cast<std::uint64_t>(block));
  shuffle(order, [&generator] { return generator.next(); });

  // A slow sensor must settle in the idle runs, too.
  const double idle_s = std::max(inputs.quick ? 1.5 : 3.0, inputs.plateau_s.value_or(0.0));
  if (variant.lock_in) {
    return lock_in_runs(inputs, block, order_of_turns(inputs, generator), idle_s);
  }
  std::vector<PlannedRun> runs;
  const double pause_share = inputs.pause_share * place_of(block);
  const auto add_idle = [&] {
    runs.push_back(make(block, static_cast<std::int64_t>(runs.size()), RunKind::idle,
                        variant.dvfs_state, idle_s));
  };
  const auto add_pair = [&](int pair) {
    PlannedRun run = make(block, static_cast<std::int64_t>(runs.size()), RunKind::stream,
                          variant.dvfs_state, inputs.plateau_s.value_or(0.0));
    run.engine = pair / inputs.quadrants;
    run.quadrant = pair % inputs.quadrants;
    run.pattern = variant.pattern;
    run.rate = variant.rate;
    run.pause_share = pause_share;
    runs.push_back(run);
  };
  add_idle();
  for (const int pair : order) add_pair(pair);
  add_idle();
  if (inputs.mirrored) std::ranges::reverse(order);
  for (const int pair : order) add_pair(pair);
  add_idle();
  return runs;
}

double plateau_seconds(bool quick, int pairs, double delay_s, double rise_s, double reading_s) {
  constexpr double kReadings = 12;
  constexpr double kQuickPairs = 16;
  const double shortest = quick ? 1.5 * std::min(1.0, kQuickPairs / std::max(pairs, 1)) : 5.0;
  const double cut_off_s = delay_s + 2 * rise_s + reading_s;
  return std::max({shortest, 6.0 * (delay_s + rise_s), cut_off_s + kReadings * reading_s});
}

double pause_share_of(double step_w, double noise_w, double rise_s, double load_step_w) {
  constexpr double kMinRise_s = 0.1;  // ten pauses or more (bench.cpp)
  constexpr double kMaxShare = 0.05;
  // From half a step on noise dithers; readings then scatter by the step's own error, too.
  const double dithered_w2 = step_w * step_w * (1.0 / 4 + 1.0 / 12);
  if (!(step_w > 0) || noise_w * noise_w >= dithered_w2 || rise_s < kMinRise_s) return 0;
  const double share = load_step_w > 0 ? step_w / load_step_w : 1;
  return share <= kMaxShare ? share : 0;
}

double planned_seconds(const PlanInputs& inputs) {
  double sum = 0;
  const auto add = [&](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs) sum += run.seconds;
  };
  add(setup_runs(inputs));
  add(dvfs_runs(inputs));
  add(beyond_l2_runs(inputs));
  for (std::int64_t block = 1; block <= minimum_blocks(inputs); ++block) {
    add(block_runs(inputs, block));
  }
  return sum;
}

double lock_in_turn_seconds(double period_s, double delay_s, double rise_s,
                            std::optional<double> energy_interval_s) {
  constexpr double shortest_s = 0.02;
  constexpr double longest_s = 0.5;
  // Turns are long enough that three quarters or more are left once the readings have settled.
  const double settle_s =
      energy_interval_s ? 2 * *energy_interval_s : delay_s + 2 * rise_s + period_s;
  const double turn_s = std::max(shortest_s, 4 * settle_s);
  return turn_s <= longest_s ? turn_s : 0.0;
}

nlohmann::json to_json(const PlanInputs& inputs) {
  nlohmann::json json{{"device", inputs.device},
                      {"seed", inputs.seed},
                      {"quick", inputs.quick},
                      {"engines", inputs.engines},
                      {"quadrants", inputs.quadrants},
                      {"dvfs_states", inputs.dvfs_states},
                      {"reference_state", inputs.reference_state}};
  if (!inputs.mirrored) json["mirrored"] = false;
  if (inputs.nops) json["nops"] = true;
  if (inputs.latency) json["latency"] = true;
  if (inputs.beyond_l2) json["beyond_l2"] = true;
  if (inputs.tuning) {
    json["tuning"] = {{"saturated_loops", inputs.tuning->saturated_loops},
                      {"throttled_loops", inputs.tuning->throttled_loops},
                      {"throttle", inputs.tuning->throttle},
                      {"furnace_loops", inputs.tuning->furnace_loops},
                      {"throttled_share", inputs.tuning->throttled_share},
                      {"saturated_bytes_per_clock", inputs.tuning->saturated_bytes_per_clock},
                      {"three_quarters_throttle", inputs.tuning->three_quarters_throttle},
                      {"three_quarters_loops", inputs.tuning->three_quarters_loops},
                      {"quarter_throttle", inputs.tuning->quarter_throttle},
                      {"quarter_loops", inputs.tuning->quarter_loops}};
  }
  if (inputs.plateau_s) json["plateau_s"] = *inputs.plateau_s;
  if (inputs.turn_s) json["turn_s"] = *inputs.turn_s;
  if (inputs.pause_share > 0) json["pause_share"] = inputs.pause_share;
  return json;
}

Result<PlanInputs> plan_inputs_from_json(const nlohmann::json& json) {
  PlanInputs inputs;
  const JsonReader reader(json, "plan");
  reader.read("device", inputs.device);
  reader.read("seed", inputs.seed);
  reader.read("quick", inputs.quick);
  reader.read("engines", inputs.engines);
  reader.read("quadrants", inputs.quadrants);
  reader.read("dvfs_states", inputs.dvfs_states);
  reader.read("reference_state", inputs.reference_state);
  if (const auto from = reader.optional_object("tuning")) {
    auto& tuning = inputs.tuning.emplace(PlanInputs::Tuning{});
    from->read("saturated_loops", tuning.saturated_loops);
    from->read("throttled_loops", tuning.throttled_loops);
    from->read("throttle", tuning.throttle);
    from->read("furnace_loops", tuning.furnace_loops);
    from->read("throttled_share", tuning.throttled_share);
    from->read_optional("saturated_bytes_per_clock", tuning.saturated_bytes_per_clock);
    from->read("three_quarters_throttle", tuning.three_quarters_throttle);
    from->read("three_quarters_loops", tuning.three_quarters_loops);
    from->read("quarter_throttle", tuning.quarter_throttle);
    from->read("quarter_loops", tuning.quarter_loops);
  }
  reader.read_optional("mirrored", inputs.mirrored);
  reader.read_optional("nops", inputs.nops);
  reader.read_optional("latency", inputs.latency);
  reader.read_optional("beyond_l2", inputs.beyond_l2);
  reader.read_optional("plateau_s", inputs.plateau_s);
  reader.read_optional("turn_s", inputs.turn_s);
  reader.read_optional_within("pause_share", 0, 0.5, inputs.pause_share);
  WW_TRY(reader.status());
  if (inputs.engines < 1 || inputs.quadrants < 1 || inputs.engines * inputs.quadrants > 4096) {
    return fail(ErrorCode::parse_error, "engines and quadrants make no sense", "plan");
  }
  return inputs;
}

}  // namespace ww::microbench
