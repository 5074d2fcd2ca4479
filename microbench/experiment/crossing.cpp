// The crossings of a partitioned L2: every side's places against every side's lines.
#include "ww/microbench/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/engine.hpp"
#include "device/nvidia_device.hpp"
#include "experiment/crossing_kernels.hpp"
#include "experiment/crossing_rates.hpp"
#include "experiment/experiments.hpp"
#include "experiment/points.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/model/crossing_fit.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

// At least half of a run is used: plateaus are this many times what is cut off at their start.
constexpr double kPlateauOverSettling = 2;
// Sensors of boards refresh ten times a second, and some of them average over a second.
constexpr std::int64_t kCrossingSteps = 3;
constexpr double kCrossingStepSeconds = 3.0;
constexpr std::int64_t kHeatPosition = 20;

struct CrossingSettings {
  std::uint64_t seed{1};
  bool quick{};
  std::int64_t blocks{};
  double plateau_s{};  // of one run, at least
  int groups_per_place{8};
};

class Crossing final : public PointExperiment {
 public:
  explicit Crossing(const CrossingSettings& settings)
      : PointExperiment({settings.seed, settings.blocks, {.seconds = settings.plateau_s}}),
        settings_(settings) {}

  std::string_view name() const override { return "crossing"; }
  json plan() const override;
  Status restore(const json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench& bench, bool resumed) override;
  std::vector<Condition> setup() const override;
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  std::vector<Condition> rest_of_setup() const override;
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  // Near and far at every wait, zeros at the shortest, and the controls.
  [[nodiscard]] std::vector<CrossingPoint> list() const;
  std::size_t points() const override { return list().size(); }
  std::string note_of(std::size_t point) const override;
  // The idle run at the end is left out of a quick campaign, whose next block begins with one, so
  // that it fits into the time for which a card can be had (scripts/on_nvidia_gpu): the answer
  // comes from differences between the points, and idle power only bounds what unequal times asleep
  // may cost.
  bool ends_idle() const override { return !settings_.quick; }
  Plateau plateau_with(const SensorResponse& response) const override;
  void keep_tolerances(const SensorResponse& response) override {
    tolerances_ = {response.info.gain_tolerance_95, response.info.regulator_slope_tolerance_95};
  }
  Status select(const CrossingPoint& point) {
    return kernels_->select(rates_.as_run(point), rates_.loops(point));
  }
  [[nodiscard]] double cooldown_s() const { return settings_.quick ? 10.0 : 45.0; }

  CrossingSettings settings_;
  std::unique_ptr<CrossingKernels> kernels_;
  CrossingRates rates_;
  CrossingSplit split_;  // as the first session found it
  double near_ticks_{}, far_ticks_{};
  model::CrossingTolerances tolerances_;  // of the sensor
};

json Crossing::plan() const {
  json setup{
      {"places", split_.side_of_place.size()},
      {"contrast", split_.by_latency ? crossing_contrasts::latency : crossing_contrasts::sides},
      {"near_ticks", near_ticks_},
      {"far_ticks", far_ticks_},
      {"lines", kernels_->lines()},
      {"side_of_place", split_.side_of_place}};
  if (split_.by_latency) {
    setup["difference_error_ticks"] = split_.difference_error_ticks;
    setup["additive_r2"] = split_.additive_r2;
    setup["with_product_r2"] = split_.product_r2;
  }
  rates_.put(setup);
  json plan{{"method", "crossing"},
            {"groups_per_place", settings_.groups_per_place},
            {"quick", settings_.quick},
            {"setup", std::move(setup)}};
  put(plan);
  if (plateau().settle_s > 0) {
    plan["gain_tolerance_95"] = tolerances_.gain;
    plan["regulator_tolerance_95"] = tolerances_.regulator;
  }
  return plan;
}

Status Crossing::restore(const json& plan) {
  CrossingSettings then;
  const JsonReader reader(plan, "plan");
  reader.read("blocks", then.blocks);
  reader.read("least_plateau_s", then.plateau_s);
  reader.read("groups_per_place", then.groups_per_place);
  reader.read("quick", then.quick);
  const JsonReader setup = reader.object("setup");
  setup.read("side_of_place", split_.side_of_place);
  std::string contrast = crossing_contrasts::sides;  // of campaigns that do not say it
  setup.read_optional("contrast", contrast);
  split_.by_latency = contrast == crossing_contrasts::latency;
  setup.read("near_ticks", near_ticks_);
  setup.read("far_ticks", far_ticks_);
  setup.read_optional("difference_error_ticks", split_.difference_error_ticks);
  setup.read_optional("additive_r2", split_.additive_r2);
  setup.read_optional("with_product_r2", split_.product_r2);
  rates_.take(setup);
  take(reader);
  reader.read_optional("gain_tolerance_95", tolerances_.gain);
  reader.read_optional("regulator_tolerance_95", tolerances_.regulator);
  WW_TRY(reader.status());
  if (then.quick != settings_.quick) {
    return fail(ErrorCode::invalid_argument,
                then.quick
                    ? "the campaign in this folder is a quick one; resume it with --quick"
                    : "the campaign in this folder is a full one; resume it without --quick");
  }
  if (then.blocks != settings_.blocks || then.plateau_s != settings_.plateau_s ||
      then.groups_per_place != settings_.groups_per_place) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the campaign in this folder has {} blocks of runs of {} s with {} "
                            "groups a place, not {}, {} s and {}; go on with the same options or "
                            "choose another folder",
                            then.blocks, then.plateau_s, then.groups_per_place, settings_.blocks,
                            settings_.plateau_s, settings_.groups_per_place));
  }
  return {};
}

Status Crossing::prepare(Bench& bench) {
  WW_ASSIGN(kernels, CrossingKernels::create(bench.device(), bench.pinning(),
                                             settings_.groups_per_place, split_));
  kernels_ = std::move(kernels);
  if (!split_.side_of_place.empty()) return {};  // an earlier session's hold
  split_ = kernels_->split();
  near_ticks_ = kernels_->sides().near_ticks;
  far_ticks_ = kernels_->sides().far_ticks;
  return {};
}

Status Crossing::tune(Bench& bench) {
  if (rates_.tuned()) return {};  // an earlier session did
  return rates_.tune(bench, *kernels_);
}

// A second of traffic on all ways: clocks and caches settle. A session that goes on with blocks
// rests as long as the first one did before its own.
Status Crossing::warm_up(Bench& bench, bool resumed) {
  for (const int place : {0, 1}) {
    for (const int line : {0, 1}) {
      WW_TRY(select({place, line, true, CrossingRates::kShortestWait}));
      WW_TRY(bench.launch_for(0.25, [this] { return kernels_->launch(); }));
    }
  }
  if (resumed) bench.sleep(cooldown_s());
  return {};
}

std::vector<Condition> Crossing::setup() const {
  std::vector<Condition> list{
      {.block = 0, .position = 0, .kind = RunKind::idle, .seconds = 5.0, .note = "idle"}};
  for (std::int64_t i = 1; i <= kCrossingSteps; ++i) {
    list.push_back({.block = 0,
                    .position = i,
                    .kind = RunKind::step_test,
                    .seconds = kCrossingStepSeconds,
                    .note = "step test of the sensor"});
  }
  return list;
}

Result<Bench::Launch> Crossing::load(Bench&, const Condition& condition, StoredRun& run) {
  if (condition.kind == RunKind::heat) {
    WW_TRY(kernels_->set_furnace(rates_.furnace_loops()));
    return Bench::Launch([this] { return kernels_->launch_furnace(); });
  }
  const CrossingPoint far{0, 1, true, CrossingRates::kShortestWait};
  run.engine = far.place_side;
  run.quadrant = far.line_side;
  run.pattern = far.pattern();
  run.kernel_hash = kernels_->hash();
  WW_TRY(select(far));
  return Bench::Launch([this] { return kernels_->launch(); });
}

// Where the response is not known, half of a plateau is cut off.
Plateau Crossing::plateau_with(const SensorResponse& response) const {
  const double settle_s =
      response.settles() ? response.settle_s() : settings_.plateau_s / kPlateauOverSettling;
  return {std::max(settings_.plateau_s, kPlateauOverSettling * settle_s), settle_s};
}

// Idle power against temperature, before the blocks.
std::vector<Condition> Crossing::rest_of_setup() const {
  return {{.block = 0,
           .position = kHeatPosition,
           .kind = RunKind::heat,
           .seconds = settings_.quick ? 20.0 : 60.0},
          {.block = 0,
           .position = kHeatPosition + 1,
           .kind = RunKind::cooldown,
           .seconds = cooldown_s()}};
}

std::vector<CrossingPoint> Crossing::list() const {
  const std::vector<std::uint32_t>& waits = rates_.waits();
  std::vector<CrossingPoint> points;
  for (const int place : {0, 1}) {
    for (const int line : {0, 1}) {
      for (const std::uint32_t wait : waits) points.push_back({place, line, true, wait});
      points.push_back({place, line, false, waits.front()});
    }
  }
  for (const int half : {1, 2}) points.push_back({0, 0, true, waits.front(), half});
  for (const std::uint32_t wait : waits) points.push_back({.wait = wait, .empty = true});
  return points;
}

std::string Crossing::note_of(std::size_t point) const {
  const CrossingPoint named = list()[point];
  return fmt::format("side {} updates side {}, {}", named.place_side, named.line_side,
                     named.pattern());
}

Status Crossing::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const CrossingPoint point = list()[point_of(condition)];
  run.engine = point.place_side;
  run.quadrant = point.line_side;
  run.pattern = point.pattern();
  run.throttle = static_cast<std::int32_t>(point.wait);
  run.kernel_hash = kernels_->hash();
  WW_TRY(select(point));
  WW_ASSIGN(done, bench.launch_for(condition.seconds, [this] { return kernels_->launch(); }));
  run.start_ns = done.start_ns;
  run.end_ns = done.end_ns;
  run.launches = done.launches;
  WW_ASSIGN(count, kernels_->iterations());
  if (!(count > 0)) reject(run, "no wavefront found itself on the side that it was pinned to");
  run.payload_bits = point.empty ? 0 : count * CrossingKernels::kBitsPerUpdate;
  return {};
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_crossing(const ExperimentSettings& settings) {
  CrossingSettings own;
  own.seed = settings.seed;
  own.quick = settings.quick;
  own.blocks = settings.quick ? 4 : 8;  // pairs mirror each other's order
  own.plateau_s = settings.quick ? 2.5 : 5.0;
  WW_TRY(SettingsReader("crossing", settings.own)
             .read("blocks", own.blocks)
             .read("plateau_s", own.plateau_s)
             .read("groups_per_place", own.groups_per_place)
             .finish());
  if (own.blocks < 2 || own.groups_per_place < 1 || !(own.plateau_s > 0)) {
    return fail(ErrorCode::invalid_argument,
                "needs two blocks or more, a group a place and plateaus longer than nothing",
                "crossing");
  }
  return std::make_unique<Crossing>(own);
}

namespace {

Result<Device> open_crossing_device(const DeviceRequest& device, const std::string& name) {
  DeviceRequest named = device;
  named.name = name;
  WW_ASSIGN(opened, open_compute_device(named));
  return open_nvidia_device(std::move(opened), name);
}

}  // namespace

Result<std::vector<CrossingLaunch>> exercise_crossings(const DeviceRequest& request, int rounds) {
  constexpr std::uint32_t kLoops = 256;
  constexpr double kBytesPerUpdate = CrossingKernels::kBitsPerUpdate / 8;
  WW_ASSIGN(name, resolve_device_name(request));
  WW_ASSIGN(device, open_crossing_device(request, name));
  WW_ASSIGN(pinning, make_pinning(device.chip.target));
  WW_ASSIGN(kernels,
            CrossingKernels::create(device, *pinning, CrossingSettings{}.groups_per_place, {}));
  std::vector<CrossingLaunch> launches;
  for (int round = 0; round < rounds; ++round) {
    for (const int line_side : {0, 1}) {
      const CrossingPoint point{0, line_side, true, CrossingRates::kShortestWait};
      WW_TRY(kernels->select(point, kLoops));
      WW_TRY(kernels->launch());
      WW_ASSIGN(updates, kernels->iterations());
      launches.push_back({point.far(), updates * kBytesPerUpdate});
    }
  }
  return launches;
}

Result<CampaignSummary> run_crossing(const CampaignRequest& request,
                                     const ProgressFunction& progress) {
  WW_ASSIGN(experiment,
            make_experiment(experiments(), "crossing", {request.seed, request.quick, {}}));
  ExperimentParts parts;
  parts.open = open_crossing_device;
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  return run_experiment(std::move(experiment),
                        {request.device, request.folder, request.seed, request.resume}, parts,
                        progress);
}

}  // namespace ww::microbench
