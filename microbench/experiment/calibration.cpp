// The calibration: every shader engine streams every quadrant of the L2
// (plan.hpp has the order).
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "experiment/experiments.hpp"
#include "experiment/latency_pass.hpp"
#include "experiment/plan.hpp"
#include "experiment/runner.hpp"
#include "experiment/stream_kernels.hpp"
#include "memory_dies/beyond_l2.hpp"
#include "ww/core/log.hpp"

namespace ww::microbench {
namespace {

static_assert(kBeyondL2Conditions == std::ssize(model::kBeyondL2Points));

constexpr double kResumedSettleSeconds = 45.0;  // idling of a session that goes on with blocks
// A real device's launches are longer: what a launch costs its host is then a
// small part. A simulated one executes every line of a launch, and its host's work takes no time.
constexpr std::int64_t kRealLaunchNs = 2'000'000;

struct CalibrationSettings {
  std::uint64_t seed{1};
  bool quick{};
  bool nops{};              // lower rates by NOPs instead of sleep
  bool patch_binary{true};  // false: a control that must be refused
  bool mirrored{true};      // false: a control; what drifts within a block no longer cancels
  std::int64_t launch_ns{200'000};  // wanted length of a launch on a simulated device
};

class Calibration final : public Experiment {
 public:
  explicit Calibration(const CalibrationSettings& settings) : settings_(settings) {}

  std::string_view name() const override { return "calibration"; }
  nlohmann::json plan() const override;
  Status restore(const nlohmann::json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench& bench, bool resumed) override;
  std::vector<Condition> setup() const override { return conditions(split_setup().first); }
  std::vector<Condition> slow_steps() const override { return conditions(slow_step_runs(inputs_)); }
  std::vector<Condition> rest_of_setup() const override;
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  void use(const SensorResponse& response) override;
  std::int64_t minimum_blocks() const override { return microbench::minimum_blocks(inputs_); }
  std::int64_t maximum_blocks() const override { return microbench::maximum_blocks(inputs_); }
  std::vector<Condition> block(std::int64_t block) const override {
    return conditions(block_runs(inputs_, block));
  }
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  // Idle and step tests shape the rest, so they come first.
  [[nodiscard]] std::pair<std::vector<PlannedRun>, std::vector<PlannedRun>> split_setup() const;
  [[nodiscard]] std::vector<Condition> conditions(const std::vector<PlannedRun>& runs) const;
  [[nodiscard]] PlannedRun planned(const Condition& condition) const;

  Status find_latency(Bench& bench);
  Status perform_latency(Bench& bench, const PlannedRun& wanted, StoredRun& run);
  Status perform_beyond_l2(Bench& bench, const PlannedRun& wanted, StoredRun& run);

  CalibrationSettings settings_;
  PlanInputs inputs_;
  bool restored_{};
  bool is_virtual_{};
  std::unique_ptr<StreamKernels> kernels_;
  std::optional<Runner> runner_;
  std::unique_ptr<LatencyPass> latency_;
  std::unique_ptr<BeyondL2> beyond_l2_;
  // The runs behind the conditions that were listed.
  mutable std::map<std::pair<std::int64_t, std::int64_t>, PlannedRun> planned_;
};

nlohmann::json run_json(const PlannedRun& run) {
  nlohmann::json entry{{"block", run.block},
                       {"position", run.position},
                       {"kind", to_string(run.kind)},
                       {"dvfs_state", run.dvfs_state},
                       {"seconds", run.seconds}};
  if (run.kind == RunKind::stream || run.kind == RunKind::latency) {
    entry["engine"] = run.engine;
    entry["quadrant"] = run.quadrant;
  }
  if (run.kind == RunKind::stream) {
    entry["pattern"] = kernels::to_string(run.pattern);
    entry["rate"] = to_string(run.rate);
  }
  if (run.kind == RunKind::beyond_l2) {
    entry["point"] = model::kBeyondL2Points.at(static_cast<std::size_t>(run.point));
  }
  if (run.kind == RunKind::lock_in) {
    entry["pattern"] = kernels::to_string(run.pattern);
    entry["turn_s"] = run.turn_s;
    entry["order"] = run.order;
  }
  return entry;
}

// The inputs, and for readers every run that follows from them.
nlohmann::json Calibration::plan() const {
  nlohmann::json plan = to_json(inputs_);
  nlohmann::json list = nlohmann::json::array();
  const auto add = [&list](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs) list.push_back(run_json(run));
  };
  add(setup_runs(inputs_));
  add(dvfs_runs(inputs_));
  add(latency_runs(inputs_));
  if (inputs_.plateau_s) {
    add(beyond_l2_runs(inputs_));
    for (std::int64_t b = 1; b <= minimum_blocks(); ++b) add(block_runs(inputs_, b));
  }
  plan["minimum_blocks"] = minimum_blocks();
  plan["maximum_blocks"] = maximum_blocks();
  plan["runs"] = std::move(list);
  return plan;
}

Status Calibration::restore(const nlohmann::json& plan) {
  WW_ASSIGN(inputs, plan_inputs_from_json(plan));
  inputs_ = std::move(inputs);
  restored_ = true;
  const auto refuse = [](const char* message) {
    return fail(ErrorCode::invalid_argument, message);
  };
  if (inputs_.mirrored != settings_.mirrored) {
    return refuse(inputs_.mirrored ? "the campaign in this folder mirrors its blocks; resume it "
                                     "without --no-mirror"
                                   : "the campaign in this folder does not mirror its blocks; "
                                     "resume it with --no-mirror");
  }
  if (inputs_.nops != settings_.nops) {
    return refuse(inputs_.nops ? "the campaign in this folder waits by NOPs; resume it with --nops"
                               : "the campaign in this folder waits by sleep; resume it without "
                                 "--nops");
  }
  if (inputs_.quick != settings_.quick) {
    return refuse(inputs_.quick ? "the campaign in this folder is a quick one; "
                                  "resume it with --quick"
                                : "the campaign in this folder is a full one; "
                                  "resume it without --quick");
  }
  return {};
}

Status Calibration::prepare(Bench& bench) {
  Device& device = bench.device();
  is_virtual_ = device.is_virtual;
  WW_ASSIGN(kernels,
            StreamKernels::create(device, bench.pinning(), settings_.patch_binary, settings_.seed,
                                  settings_.nops ? kernels::Wait::nops : kernels::Wait::sleep));
  kernels_ = std::move(kernels);
  runner_.emplace(bench, *kernels_);
  WW_TRY(runner_->check_pinned());
  if (restored_) return {};
  inputs_.device = device.name;
  inputs_.seed = settings_.seed;
  inputs_.quick = settings_.quick;
  inputs_.mirrored = settings_.mirrored;
  inputs_.nops = settings_.nops;
  inputs_.engines = device.chip.engines;
  inputs_.quadrants = static_cast<int>(device.quadrants.size());
  inputs_.dvfs_states = static_cast<int>(device.sensor->dvfs_states().size());
  inputs_.reference_state = device.sensor->dvfs_current();
  inputs_.beyond_l2 = BeyondL2::is_for(device);
  return find_latency(bench);
}

// A device whose loads cannot be timed is calibrated without the second witness.
Status Calibration::find_latency(Bench& bench) {
  auto pass = LatencyPass::create(bench);
  if (!pass && pass.error().code == ErrorCode::cancelled) return tl::unexpected(pass.error());
  inputs_.latency = pass.has_value();
  if (pass) {
    latency_ = std::move(*pass);
  } else {
    log::info("no latencies will witness the floorplan: {}", pass.error().text());
  }
  return {};
}

Status Calibration::perform_latency(Bench& bench, const PlannedRun& wanted, StoredRun& run) {
  if (!latency_) {  // a resumed campaign
    WW_ASSIGN(pass, LatencyPass::create(bench));
    latency_ = std::move(pass);
  }
  return latency_->perform(wanted, run);
}

// Late, so that its memory is where no other condition's would be.
Status Calibration::perform_beyond_l2(Bench& bench, const PlannedRun& wanted, StoredRun& run) {
  if (!beyond_l2_) {
    WW_ASSIGN(made, BeyondL2::create(bench, inputs_.seed));
    beyond_l2_ = std::move(made);
  }
  return beyond_l2_->perform(wanted.point, wanted.seconds, run);
}

Status Calibration::tune(Bench& bench) {
  if (inputs_.tuning) {
    runner_->use(*inputs_.tuning);
    return {};
  }
  const bool real = bench.device().traffic == Traffic::every_launch;
  WW_ASSIGN(tuning, runner_->tune(real ? kRealLaunchNs : settings_.launch_ns, !inputs_.quick));
  inputs_.tuning = tuning;
  return {};
}

// A session that goes on with blocks begins as the first one began its blocks:
// after a long cool-down, whose heat is known from its end.
Status Calibration::warm_up(Bench&, bool resumed) {
  return runner_->warm_up(resumed ? kResumedSettleSeconds : 0.0);
}

std::pair<std::vector<PlannedRun>, std::vector<PlannedRun>> Calibration::split_setup() const {
  std::pair<std::vector<PlannedRun>, std::vector<PlannedRun>> parts;
  for (const PlannedRun& run : setup_runs(inputs_)) {
    const bool first = run.kind == RunKind::idle || run.kind == RunKind::step_test;
    (first ? parts.first : parts.second).push_back(run);
  }
  return parts;
}

std::vector<Condition> Calibration::rest_of_setup() const {
  std::vector<PlannedRun> runs = split_setup().second;
  const auto other_states = dvfs_runs(inputs_);
  runs.insert(runs.end(), other_states.begin(), other_states.end());
  const auto latencies = latency_runs(inputs_);
  runs.insert(runs.end(), latencies.begin(), latencies.end());
  const auto behind = beyond_l2_runs(inputs_);
  runs.insert(runs.end(), behind.begin(), behind.end());
  return conditions(runs);
}

std::vector<Condition> Calibration::conditions(const std::vector<PlannedRun>& runs) const {
  std::vector<Condition> list;
  for (const PlannedRun& run : runs) {
    planned_[{run.block, run.position}] = run;
    Condition condition{run.block, run.position, run.kind, run.seconds, run.dvfs_state, {}};
    if (run.kind == RunKind::stream) {
      condition.note = fmt::format("block {}: engine {} reads quadrant {}, {}", run.block,
                                   run.engine, run.quadrant, kernels::to_string(run.pattern));
    }
    list.push_back(std::move(condition));
  }
  return list;
}

PlannedRun Calibration::planned(const Condition& condition) const {
  return planned_.at({condition.block, condition.position});
}

Result<Bench::Launch> Calibration::load(Bench&, const Condition& condition, StoredRun& run) {
  if (condition.kind == RunKind::heat) return runner_->furnace();
  return runner_->step_load(planned(condition), run);
}

void Calibration::use(const SensorResponse& response) {
  if (inputs_.plateau_s) return;  // an earlier session's plan goes on
  const measure::SensorInfo& info = response.info;
  const bool counts = response.energy_interval_s.has_value();
  const double reading_s = response.energy_interval_s.value_or(info.period_s);
  inputs_.plateau_s =
      plateau_seconds(inputs_.quick, inputs_.engines * inputs_.quadrants, counts ? 0 : info.delay_s,
                      counts ? reading_s : info.rise_s, reading_s);
  inputs_.turn_s =
      lock_in_turn_seconds(info.period_s, info.delay_s, info.rise_s, response.energy_interval_s);
  if (!counts) {
    inputs_.pause_share =
        pause_share_of(info.power_resolution_w, response.noise_w, info.rise_s, response.step_w);
  }
  if (*inputs_.turn_s <= 0) {
    log::info("the sensor is too slow for lock-in; plateaus take its place");
  }
  log::info(
      "the sensor reads every {:.3g} s: plateaus last {:.3g} s, and the campaign takes {:.0f} "
      "min{}",
      reading_s, *inputs_.plateau_s, std::ceil(planned_seconds(inputs_) / 60),
      is_virtual_ ? " of the virtual chip's time, which passes much faster than ours" : "");
}

Status Calibration::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const PlannedRun wanted = planned(condition);
  switch (condition.kind) {
    case RunKind::stream: return runner_->perform_stream(wanted, run);
    case RunKind::lock_in: return runner_->perform_lock_in(wanted, run);
    case RunKind::known_bytes: return runner_->perform_known_bytes(run);
    case RunKind::latency: return perform_latency(bench, wanted, run);
    case RunKind::beyond_l2: return perform_beyond_l2(bench, wanted, run);
    case RunKind::heat:
    case RunKind::cooldown:
    case RunKind::idle:
    case RunKind::step_test: break;
  }
  return fail(ErrorCode::unsupported, "no such runs are part of a calibration",
              std::string(to_string(condition.kind)));
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_calibration(const ExperimentSettings& settings) {
  CalibrationSettings own;
  own.seed = settings.seed;
  own.quick = settings.quick;
  WW_TRY(SettingsReader("calibration", settings.own)
             .read("nops", own.nops)
             .read("patch_binary", own.patch_binary)
             .read("mirrored", own.mirrored)
             .read("launch_ns", own.launch_ns)
             .finish());
  return std::make_unique<Calibration>(own);
}

}  // namespace ww::microbench
