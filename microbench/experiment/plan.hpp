// The plan: which runs, in what order. A pure function of its inputs, so that a resumed campaign
// finds the same runs under the same (block, position).
//
// Block 0 is the set-up: idle, step test, known bytes, heat and cool-down. Every later block visits
// all pairs of engine and quadrant in random order and then the same in mirrored order, between
// idle runs at its start, middle and end: every pair's two runs have the same mean position, so
// whatever drifts linearly within a block cancels (ABBA; IISWC'16 has no such control).
//
// One block is lock-in: all pairs take turns within a run, in random order and then mirrored, over
// and over, at three lengths of turn. Slow heat cannot follow; what still changes with the length
// of a turn is due to heat.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/patterns.hpp"

namespace ww::microbench {

// Everything that fixes the plan; stored as JSON under campaign_keys::plan.
struct PlanInputs {
  std::string device;
  std::uint64_t seed{1};
  bool quick{};
  int engines{};
  int quadrants{};
  int dvfs_states{1};
  int reference_state{};
  bool mirrored{true};  // false: a control; what drifts within a block no longer cancels
  bool nops{};          // lower rates by NOPs instead of sleep
  bool latency{};       // loads can be timed: the set-up ends with a latency pass
  bool beyond_l2{};     // the set-up ends with reads behind the L2 (memory_dies/beyond_l2.hpp)

  // Found at the start of the campaign; absent until then, and kept for every later session.
  struct Tuning {
    std::uint32_t saturated_loops{};  // loop counts that give launches of the wanted length
    std::uint32_t throttled_loops{};
    std::uint32_t throttle{};  // wait iterations for the lower rate
    std::uint32_t furnace_loops{};
    double throttled_share{};            // of the saturated rate, as tuned
    double saturated_bytes_per_clock{};  // as tuned; 0 where counters give each run's
    // The other rungs of the bandwidth ladder, as `throttle`; 0 where not tuned (quick campaigns).
    std::uint32_t three_quarters_throttle{}, three_quarters_loops{};
    std::uint32_t quarter_throttle{}, quarter_loops{};
  };
  std::optional<Tuning> tuning;
  std::optional<double> plateau_s;  // from the step test
  // Shortest turn of a lock-in run, from the step test; 0: the sensor is too slow for lock-in.
  std::optional<double> turn_s;
  // Longest share of a plateau without launches, from the step test; see pause_share_of().
  double pause_share{};
};
[[nodiscard]] nlohmann::json to_json(const PlanInputs& inputs);
// Error parse_error names the key.
[[nodiscard]] Result<PlanInputs> plan_inputs_from_json(const nlohmann::json& json);

// Shares of the saturated rate: all, 50-60%, 70-80%, 22-30%.
enum class Rate { saturated, throttled, three_quarters, quarter };
inline constexpr std::size_t kRateCount = 4;
[[nodiscard]] std::string_view to_string(Rate rate);

struct PlannedRun {
  std::int64_t block{};
  std::int64_t position{};
  RunKind kind{RunKind::idle};
  int engine{-1};
  int quadrant{-1};
  kernels::Pattern pattern{kernels::Pattern::random};
  Rate rate{Rate::saturated};
  int dvfs_state{};
  double seconds{};        // of device time; heat ends earlier once the temperature stands still
  double turn_s{};         // lock_in: how long a pair streams before the next one's turn
  std::vector<int> order;  // lock_in: pairs (engine * quadrants + quadrant); see cycle_of_turns
  bool mirrored{true};     // lock_in; false: the same order again
  int repeat{};            // latency: which of the passes
  int point{};             // beyond_l2: which of its conditions
  double pause_share{};    // stream: share of the time without launches, in short pauses
  bool operator==(const PlannedRun&) const = default;
};

// Set-up before the plateau's length is known: idle, step test, known bytes, heat, cool-down.
[[nodiscard]] std::vector<PlannedRun> setup_runs(const PlanInputs& inputs);
// Set-up at the other clock states: idle, heat and cool-down each; idle alone in quick campaigns.
[[nodiscard]] std::vector<PlannedRun> dvfs_runs(const PlanInputs& inputs);
// Passes over all pairs that time a load; none unless `latency`.
[[nodiscard]] std::vector<PlannedRun> latency_runs(const PlanInputs& inputs);
inline constexpr int kBeyondL2Conditions = 3;  // as many as model::kBeyondL2Points
// Each condition of reads behind the L2, and the same mirrored, some times; none unless
// `beyond_l2`. Needs plateau_s.
[[nodiscard]] std::vector<PlannedRun> beyond_l2_runs(const PlanInputs& inputs);
// Longer step-test runs for sensors that the first ones did not resolve.
[[nodiscard]] std::vector<PlannedRun> slow_step_runs(const PlanInputs& inputs);

// Measuring blocks are numbered from 1. Those up to minimum_blocks are always run; later ones, up
// to maximum_blocks, repeat the random saturated variant until the fit is narrow enough.
[[nodiscard]] std::int64_t minimum_blocks(const PlanInputs& inputs);
[[nodiscard]] std::int64_t maximum_blocks(const PlanInputs& inputs);
// Needs plateau_s.
[[nodiscard]] std::vector<PlannedRun> block_runs(const PlanInputs& inputs, std::int64_t block);

// Length of a plateau for a sensor: long enough that what is cut off for delay and rise is a small
// part of it, and a dozen readings are left. `reading_s`: between two readings of the power
// register, or between steps of an accumulator where there is one. Minutes for a meter that reads
// every ten seconds. Quick campaigns share their time among the pairs of engine and quadrant where
// those are over 16.
[[nodiscard]] double plateau_seconds(bool quick, int pairs, double delay_s, double rise_s,
                                     double reading_s);

// Longest share of a plateau without launches for a power register with steps of `step_w` whose
// readings scatter by `noise_w` under a steady load. Where noise does not dither the steps, a
// pair's power is rounded alike in every block. Short pauses, another share of each block, then
// move its power over one step, and the errors of blocks are independent. 0 where the noise
// dithers, where the register averages over too short a time (`rise_s`) for pauses to move it, and
// where a step is too large a part of `load_step_w`, the power of a load.
[[nodiscard]] double pause_share_of(double step_w, double noise_w, double rise_s,
                                    double load_step_w);

// Device time of a campaign's set-up and of the blocks that are always run. Needs plateau_s.
[[nodiscard]] double planned_seconds(const PlanInputs& inputs);

// The pairs of a lock-in run's cycle, each of them twice. The order of the quadrants is mirrored in
// the second half and that of the engines is not: a linear drift is then the same for all pairs of
// an engine, and each engine's turns always follow the same engines'. Engines are gated some tens
// of ms after their turn, so others' next turns pay for that.
[[nodiscard]] std::vector<int> cycle_of_turns(const PlannedRun& run, int quadrants);

// Shortest turn of a lock-in run: long enough that most readings of a turn show it alone.
// `energy_interval_s`: between the steps of an accumulator, which neither lags nor averages; absent
// where there is none. 0 where turns would be so long that heat follows.
[[nodiscard]] double lock_in_turn_seconds(double period_s, double delay_s, double rise_s,
                                          std::optional<double> energy_interval_s);

}  // namespace ww::microbench
