// Kernels of single classes of work, in turn: each in a random order and then mirrored.
#include "ww/microbench/classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/engine.hpp"
#include "experiment/classes/class_kernels.hpp"
#include "experiment/experiments.hpp"
#include "experiment/points.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/kernels/patterns.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

constexpr double kClassLaunchSeconds = 1e-4;
constexpr std::uint32_t kFewClassLoops = 4;
constexpr std::uint32_t kMaxClassLoops = 1'000'000;
constexpr std::size_t kStepClass = 0;

class Classes final : public PointExperiment {
 public:
  explicit Classes(const Plan& fixed) : PointExperiment(fixed) {}

  std::string_view name() const override { return "classes"; }
  std::string_view file_name() const override { return "classes.db"; }
  json plan() const override;
  Status restore(const json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench&, bool) override { return {}; }
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  std::vector<Condition> block(std::int64_t block) const override;
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  std::size_t points() const override { return class_points().size(); }
  std::string note_of(std::size_t point) const override { return class_points()[point].name(); }
  Result<double> launch_s(Bench& bench, const ClassPoint& point, std::uint32_t loops);

  std::unique_ptr<ClassKernels> kernels_;
  std::vector<std::uint32_t> loops_;  // of each point; empty until they are tuned
};

json Classes::plan() const {
  json names = json::array();
  for (const ClassPoint& point : class_points()) names.push_back(point.name());
  json plan{{"method", "classes"},
            {"least_settle_s", fixed().least.settle_s},
            {"points", std::move(names)},
            {"loops", loops_}};
  put(plan);
  return plan;
}

Status Classes::restore(const json& plan) {
  WW_TRY(check_same_options(plan, this->plan(),
                            {"blocks", "least_plateau_s", "least_settle_s", "points"}));
  const JsonReader reader(plan, "plan of the recording");
  reader.read("loops", loops_);
  take(reader);
  WW_TRY(reader.status());
  if (!loops_.empty() && loops_.size() != class_points().size()) {
    return fail(ErrorCode::parse_error, "loops and points differ in number", "plan");
  }
  return {};
}

Status Classes::prepare(Bench& bench) {
  WW_ASSIGN(kernels, ClassKernels::create(bench.device(), bench.pinning(), fixed().seed));
  kernels_ = std::move(kernels);
  return {};
}

// Times the second launch: the first one fills the caches.
Result<double> Classes::launch_s(Bench& bench, const ClassPoint& point, std::uint32_t loops) {
  WW_TRY(kernels_->select(point, loops));
  WW_ASSIGN(done, bench.launch_count(2, [&] { return kernels_->launch(point); }));
  WW_ASSIGN(second, bench.device().counters->dispatch(done.end - 1));
  return static_cast<double>(std::max<std::int64_t>(second.end_ns - second.start_ns, 1)) * 1e-9;
}

// Two lengths give the time of a loop, because a launch takes some time without any.
Status Classes::tune(Bench& bench) {
  if (!loops_.empty()) return {};  // an earlier session tuned
  for (const ClassPoint& point : class_points()) {
    WW_ASSIGN(few_s, launch_s(bench, point, kFewClassLoops));
    WW_ASSIGN(more_s, launch_s(bench, point, 3 * kFewClassLoops));
    const double loop_s = std::max((more_s - few_s) / (2 * kFewClassLoops), 1e-9);
    const double wanted = kFewClassLoops + (kClassLaunchSeconds - few_s) / loop_s;
    loops_.push_back(
        static_cast<std::uint32_t>(std::clamp<double>(wanted, kFewClassLoops, kMaxClassLoops)));
  }
  return {};
}

Result<Bench::Launch> Classes::load(Bench&, const Condition&, StoredRun& run) {
  const ClassPoint& point = class_points()[kStepClass];
  run.pattern = kernels::to_string(point.pattern);
  run.kernel_hash = kernels_->hash();
  WW_TRY(kernels_->select(point, loops_[kStepClass]));
  return Bench::Launch([this, &point] { return kernels_->launch(point); });
}

// Returns a block's conditions, with an idle run behind the points, too.
std::vector<Condition> Classes::block(std::int64_t block) const {
  auto list = block_of_points(block, points(), fixed().seed, plateau().seconds,
                              [this](std::size_t point) { return note_of(point); });
  list.push_back({.block = block,
                  .position = 2 * static_cast<std::int64_t>(points()) + 1,
                  .kind = RunKind::idle,
                  .seconds = plateau().seconds});
  return list;
}

Status Classes::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const auto index = static_cast<std::size_t>(condition.position) % class_points().size();
  const ClassPoint& point = class_points()[index];
  run.pattern = kernels::to_string(point.pattern);
  run.kernel_hash = kernels_->hash();
  WW_TRY(kernels_->select(point, loops_[index]));
  WW_ASSIGN(done, perform_point(
                      bench, condition, [&] { return kernels_->launch(point); }, run));
  WW_ASSIGN(last, bench.device().counters->dispatch(done.end - 1));
  run.counters[std::string(kBusySeconds)] =
      static_cast<double>((last.end_ns - last.start_ns) * done.launches) * 1e-9;
  return {};
}

Status check_counts_launches(const std::string& device) {
  if (DeviceName(device).is_virtual()) return {};
  return fail(
      ErrorCode::unsupported,
      "the classes of work are parted by counters of single launches, which real devices do "
      "not give; record their kernels with the vendor's profiler and give the table to "
      "`wirewatt attribute`",
      device);
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_classes(const ExperimentSettings& settings) {
  PointExperiment::Plan own{
      .seed = settings.seed, .blocks = 2, .least = {.seconds = 0.3, .settle_s = 0.05}};
  WW_TRY(SettingsReader("classes", settings.own)
             .read("blocks", own.blocks)
             .read("plateau_s", own.least.seconds)
             .read("settle_s", own.least.settle_s)
             .finish());
  if (own.blocks < 1 || !(own.least.seconds > own.least.settle_s) || !(own.least.settle_s > 0)) {
    return fail(ErrorCode::invalid_argument,
                "needs a block or more, and plateaus longer than what is cut off");
  }
  return std::make_unique<Classes>(own);
}

Result<CampaignSummary> run_classes(const ClassesRequest& request,
                                    const ProgressFunction& progress) {
  // Checks before a folder is made. An empty name's device is known when the device is opened.
  if (!request.device.name.empty()) WW_TRY(check_counts_launches(request.device.name));
  const ExperimentSettings settings{request.seed,
                                    false,
                                    {{"blocks", request.blocks},
                                     {"plateau_s", request.plateau_s},
                                     {"settle_s", request.settle_s}}};
  WW_ASSIGN(experiment, make_experiment(experiments(), "classes", settings));
  ExperimentParts parts;
  parts.open = [](const DeviceRequest& device, const std::string& name) -> Result<Device> {
    WW_TRY(check_counts_launches(name));
    return open_device(device, name);
  };
  parts.pinning = [](const Device& device) { return make_pinning(device.chip.target); };
  return run_experiment(std::move(experiment),
                        {request.device, request.folder, request.seed, request.resume}, parts,
                        progress);
}

}  // namespace ww::microbench
