// Declares an experiment's own part. The engine (engine.hpp) does the rest for every experiment: it
// opens the device, measures the sensor's response by a step test, performs the runs and judges
// their readings, keeps each finished run with its samples, goes on after an interrupt, and asks
// the stop rule whether further blocks are needed.
//
// The order of calls in a session:
//
//   restore        only where the file holds a plan already
//   prepare        kernels on the device; nothing is recorded yet
//   tune           loop counts and throttles, where no earlier session found them
//   setup          idle and step tests; the engine analyses them
//   use            the sensor's response: how long plateaus must be
//   rest_of_setup  what else comes before the blocks: heat, and a cool-down after it
//   block(1, ...)  conditions of a block, in the order in which they run
//
// After tune and after use the engine stores plan(). A resumed session gets the same plan back, and
// must list the same conditions under the same (block, position).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/sensor_info.hpp"

namespace ww::microbench {

// One run to be made.
struct Condition {
  std::int64_t block{};
  std::int64_t position{};  // (block, position) is unique and names the run in the file
  RunKind kind{RunKind::idle};
  double seconds{};                 // of device time
  std::optional<int> dvfs_state{};  // none: the state stays as it is
  std::string note{};               // for people who watch the progress
};

// Appends a run of this block to its list. Its position is its place in the list.
void add_run(std::vector<Condition>& list, std::int64_t block, RunKind kind, double seconds,
             std::string_view note);

// The sensor as the step test found it.
struct SensorResponse {
  measure::SensorInfo info;
  // Between the steps of an energy accumulator; none where the sensor has none to go by.
  std::optional<double> energy_interval_s;
  double step_w{};   // of the test's load
  double noise_w{};  // by which readings of a steady load scatter
  // Whether it is known how long readings show the load before a change, and how long that is [s].
  // An accumulator neither lags nor averages, however slow the register beside it is.
  [[nodiscard]] bool settles() const { return energy_interval_s || info.resolved; }
  [[nodiscard]] double settle_s() const {
    return energy_interval_s ? 2 * *energy_interval_s : info.delay_s + info.rise_s;
  }
};

class Experiment {
 public:
  virtual ~Experiment() = default;

  // "calibration": names the experiment to people and to the table of experiments.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view file_name() const { return "campaign.db"; }

  // Everything that fixes the conditions, kept in the file under campaign_keys::plan.
  [[nodiscard]] virtual nlohmann::json plan() const = 0;
  // Takes back what plan() gave in an earlier session. Errors: parse_error for a damaged plan;
  // invalid_argument, saying which option, where this session was asked for another experiment.
  virtual Status restore(const nlohmann::json& plan) = 0;

  virtual Status prepare(Bench& bench) = 0;
  virtual Status tune(Bench& bench) = 0;
  // Settles clocks and caches at the start of a session. `resumed`: the session goes on with
  // blocks, and should begin as the first session began its blocks.
  virtual Status warm_up(Bench& bench, bool resumed) = 0;

  // Idle and step tests, in block 0. The default serves most experiments.
  [[nodiscard]] virtual std::vector<Condition> setup() const;
  // Longer step tests for a sensor that the first ones did not resolve.
  [[nodiscard]] virtual std::vector<Condition> slow_steps() const;
  // The load of a step test or of a heat run, whichever the condition is: selects what is
  // launched, one dispatch a launch, and notes it in the run.
  virtual Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) = 0;
  virtual void use(const SensorResponse& response) = 0;
  [[nodiscard]] virtual std::vector<Condition> rest_of_setup() const { return {}; }

  // Blocks are numbered from 1. Those up to minimum_blocks are always run; later ones, up to
  // maximum_blocks, until the stop rule is content.
  [[nodiscard]] virtual std::int64_t minimum_blocks() const = 0;
  [[nodiscard]] virtual std::int64_t maximum_blocks() const { return minimum_blocks(); }
  [[nodiscard]] virtual std::vector<Condition> block(std::int64_t block) const = 0;

  // Performs a condition of the experiment's own (the engine performs idle runs, step tests, heat
  // and cool-downs), and fills in what was launched and what it moved; readings are the engine's. A
  // run that cannot be used is marked by reject(); an error means that the device failed.
  virtual Status perform(Bench& bench, const Condition& condition, StoredRun& run) = 0;
};

}  // namespace ww::microbench
