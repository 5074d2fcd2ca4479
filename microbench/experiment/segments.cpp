// Single segments of the way to memory, each by its own contrast
// (ww/model/segments_fit.hpp).
#include "ww/microbench/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/engine.hpp"
#include "experiment/experiments.hpp"
#include "experiment/points.hpp"
#include "experiment/segments_kernels.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/measure/i_counters.hpp"

namespace ww::microbench {
namespace {

using model::SegmentPoint;
using nlohmann::json;

// Shares of the full rate when slow. Legs differ in power by little, so their
// rates must differ.
constexpr double kLegsShareLow = 0.45, kLegsShareHigh = 0.65;
constexpr double kL2ShareLow = 0.25, kL2ShareHigh = 0.40;
// The load of step tests: the whole chip works.
const SegmentPoint kStepPoint{.segment = "registers_l1", .lanes = 64};

struct SegmentsSettings {
  PointExperiment::Plan fixed{.blocks = 4, .least = {.seconds = 0.8, .settle_s = 0.1}};
  std::string only;  // a segment's name; empty: all
};

class Segments final : public PointExperiment {
 public:
  explicit Segments(SegmentsSettings settings)
      : PointExperiment(settings.fixed), settings_(std::move(settings)) {}

  std::string_view name() const override { return "segments"; }
  std::string_view file_name() const override { return "segments.db"; }
  json plan() const override;
  Status restore(const json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench&, bool) override { return {}; }  // tuning ran every point
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  std::vector<Condition> block(std::int64_t block) const override;
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  std::size_t points() const override { return points_.size(); }
  std::string note_of(std::size_t point) const override { return points_[point].segment; }
  [[nodiscard]] std::uint32_t throttle_of(const SegmentPoint& point) const {
    if (!point.slow) return 0;
    return point.segment == "legs" ? legs_throttle_ : l2_throttle_;
  }
  Result<double> launch_ns(Bench& bench, const SegmentPoint& point, std::uint32_t loops,
                           std::uint32_t throttle);
  Result<std::uint32_t> find_throttle(Bench& bench, const SegmentPoint& point, double low,
                                      double high);
  Result<std::uint32_t> find_loops(Bench& bench, const SegmentPoint& point);

  SegmentsSettings settings_;
  std::vector<SegmentPoint> points_;
  std::unique_ptr<SegmentKernels> kernels_;
  std::uint32_t legs_throttle_{}, l2_throttle_{};
  std::vector<std::uint32_t> loops_;  // of each point; empty until they are tuned
  std::uint32_t step_loops_{};
  double nominal_v_{};
  std::string target_;
};

json Segments::plan() const {
  json list = json::array();
  for (const auto& point : points_) {
    list.push_back({{"segment", point.segment},
                    {"engine", point.engine},
                    {"group", point.group},
                    {"channels", point.channels},
                    {"from_memory", point.from_memory},
                    {"slow", point.slow},
                    {"mm", point.mm},
                    {"lanes", point.lanes},
                    {"ones", point.ones}});
  }
  json plan{{"method", "segments"},
            {"only", settings_.only},
            {"least_settle_s", fixed().least.settle_s},
            {"nominal_v", nominal_v_},
            {"target", target_},
            {"points", std::move(list)},
            {"loops", loops_},
            {"step_loops", step_loops_},
            {"legs_throttle", legs_throttle_},
            {"l2_throttle", l2_throttle_}};
  put(plan);
  return plan;
}

Status Segments::restore(const json& plan) {
  WW_TRY(check_same_options(plan, this->plan(),
                            {"blocks", "only", "least_plateau_s", "least_settle_s"}));
  const JsonReader reader(plan, "plan of the recording");
  reader.read("loops", loops_);
  reader.read("step_loops", step_loops_);
  reader.read("legs_throttle", legs_throttle_);
  reader.read("l2_throttle", l2_throttle_);
  take(reader);
  return reader.status();
}

Status Segments::prepare(Bench& bench) {
  Device& device = bench.device();
  WW_ASSIGN(points, model::segment_points(device.floorplan_toml));
  points_ = std::move(points);
  std::erase_if(points_, [&](const SegmentPoint& point) {
    return !settings_.only.empty() && point.segment != settings_.only;
  });
  if (points_.empty()) {
    return fail(ErrorCode::invalid_argument, "no segment to measure", settings_.only);
  }
  if (!loops_.empty() && loops_.size() != points_.size()) {
    return fail(ErrorCode::bad_data, "the recording is of another floorplan", device.name);
  }
  const auto states = device.sensor->dvfs_states();
  const auto state = static_cast<std::size_t>(device.sensor->dvfs_current());
  nominal_v_ = state < states.size() ? states[state].voltage_v : 0.0;
  target_ = device.chip.target;
  WW_ASSIGN(kernels, SegmentKernels::create(device, bench.pinning(), points_, fixed().seed));
  kernels_ = std::move(kernels);
  // One launch of each place shows that its wavefronts find it.
  for (const auto& point : points_) {
    if (point.segment != "legs" || point.slow) continue;
    constexpr std::uint32_t few = 16;
    WW_TRY(kernels_->select(point, few, 0));
    WW_TRY(bench.launch_count(1, [&] { return kernels_->launch(point); }));
    WW_TRY(kernels_->check_pinned(point));
  }
  return {};
}

// Times the third launch: the first ones fill the caches.
Result<double> Segments::launch_ns(Bench& bench, const SegmentPoint& point, std::uint32_t loops,
                                   std::uint32_t throttle) {
  WW_TRY(kernels_->select(point, loops, throttle));
  const int dispatches = SegmentKernels::dispatches(point);
  for (int i = 0; i < 2; ++i) WW_TRY(kernels_->launch(point));
  WW_ASSIGN(third, bench.launch_count(
                       1, [&] { return kernels_->launch(point); }, dispatches));
  WW_ASSIGN(dispatch, bench.device().counters->dispatch(third.end - 1));
  return static_cast<double>(std::max<std::int64_t>(dispatch.end_ns - dispatch.start_ns, 1));
}

Result<std::uint32_t> Segments::find_throttle(Bench& bench, const SegmentPoint& point, double low,
                                              double high) {
  constexpr std::uint32_t loops = 32;
  WW_ASSIGN(full_ns, launch_ns(bench, point, loops, 0));
  WW_ASSIGN(found, bench.find_throttle(low, high, [&](std::uint32_t throttle) -> Result<double> {
    WW_ASSIGN(slow_ns, launch_ns(bench, point, loops, throttle));
    return full_ns / slow_ns;
  }));
  return found.throttle;
}

Result<std::uint32_t> Segments::find_loops(Bench& bench, const SegmentPoint& point) {
  constexpr std::uint32_t few = 16;
  WW_ASSIGN(length_ns, launch_ns(bench, point, few, throttle_of(point)));
  return static_cast<std::uint32_t>(
      std::clamp(few * SegmentKernels::launch_s(point) * 1e9 / length_ns, 4.0, 1e6));
}

Status Segments::tune(Bench& bench) {
  if (!loops_.empty()) return {};  // an earlier session tuned
  for (const auto& point : points_) {
    if (!point.slow || point.from_memory) continue;
    const bool legs = point.segment == "legs";
    auto& throttle = legs ? legs_throttle_ : l2_throttle_;
    if (throttle != 0) continue;
    WW_ASSIGN(found, find_throttle(bench, point, legs ? kLegsShareLow : kL2ShareLow,
                                   legs ? kLegsShareHigh : kL2ShareHigh));
    throttle = found;
  }
  for (const auto& point : points_) {
    WW_ASSIGN(loops, find_loops(bench, point));
    loops_.push_back(loops);
  }
  WW_ASSIGN(step_loops, find_loops(bench, kStepPoint));
  step_loops_ = step_loops;
  return {};
}

Result<Bench::Launch> Segments::load(Bench&, const Condition&, StoredRun& run) {
  run.pattern = kernels::to_string(kernels::Pattern::random);
  run.kernel_hash = kernels_->hash(kStepPoint);
  WW_TRY(kernels_->select(kStepPoint, step_loops_, 0));
  return Bench::Launch([this] { return kernels_->launch(kStepPoint); });
}

std::vector<Condition> Segments::block(std::int64_t block) const {
  return block_of_points(block, points(), fixed().seed, plateau().seconds,
                         [this](std::size_t point) { return note_of(point); });
}

Status Segments::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const auto index = static_cast<std::size_t>(condition.position) % points_.size();
  const SegmentPoint& point = points_[index];
  run.engine = point.engine;
  run.pattern = kernels::to_string(point.ones ? kernels::Pattern::ones : kernels::Pattern::random);
  run.kernel_hash = kernels_->hash(point);
  WW_TRY(kernels_->select(point, loops_[index], throttle_of(point)));
  WW_TRY(perform_point(
      bench, condition, [&] { return kernels_->launch(point); }, run,
      SegmentKernels::dispatches(point)));
  WW_ASSIGN(bytes, measure::l1_l2_bytes(target_, run.counters));
  run.payload_bits = 8 * bytes;
  return {};
}

Status check_virtual(const std::string& device) {
  if (DeviceName(device).is_virtual()) return {};
  return fail(ErrorCode::unsupported,
              "the segments are separated by counters of single launches, which real devices do "
              "not give; use a virtual device",
              device);
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_segments(const ExperimentSettings& settings) {
  SegmentsSettings own;
  auto& [seed, blocks, least] = own.fixed;
  seed = settings.seed;
  WW_TRY(SettingsReader("segments", settings.own)
             .read("blocks", blocks)
             .read("plateau_s", least.seconds)
             .read("settle_s", least.settle_s)
             .read("only", own.only)
             .finish());
  if (blocks < 2 || !(least.seconds > least.settle_s) || !(least.settle_s > 0)) {
    return fail(ErrorCode::invalid_argument,
                "needs two blocks or more, and plateaus longer than what is cut off");
  }
  return std::make_unique<Segments>(std::move(own));
}

Result<CampaignSummary> run_segments(const SegmentsRequest& request,
                                     const ProgressFunction& progress) {
  // Checks before a folder is made. An empty name's device is known when the device is opened.
  if (!request.device.name.empty()) WW_TRY(check_virtual(request.device.name));
  const ExperimentSettings settings{request.seed,
                                    false,
                                    {{"blocks", request.blocks},
                                     {"plateau_s", request.plateau_s},
                                     {"settle_s", request.settle_s},
                                     {"only", request.only}}};
  WW_ASSIGN(experiment, make_experiment(experiments(), "segments", settings));
  ExperimentParts parts;
  parts.open = [](const DeviceRequest& device, const std::string& name) -> Result<Device> {
    WW_TRY(check_virtual(name));
    WW_ASSIGN(opened, open_device(device, name));
    if (opened.chip.interleave_bytes <= 0 || opened.floorplan_toml.empty()) {
      return fail(ErrorCode::unsupported,
                  "segments are told apart by the distances of a floorplan and by channels in "
                  "address order, and this chip has not both",
                  name);
    }
    return opened;
  };
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  return run_experiment(std::move(experiment),
                        {request.device, request.folder, request.seed, request.resume}, parts,
                        progress);
}

}  // namespace ww::microbench
