// Energy of the ways between the dies of a package, which has an energy accumulator for each kind
// of die (MI300's pm_metrics): every compute die reads pages of its own I/O die, of its neighbours
// and of the one across, from the Infinity Cache and from memory. The equation is in
// ww/model/chiplet_fit.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "bench/engine.hpp"
#include "bench/order.hpp"
#include "chiplet/chiplet_kernels.hpp"
#include "chiplet/pair_kernels.hpp"
#include "device/amd_package.hpp"
#include "experiment/experiments.hpp"
#include "experiment/points.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/microbench/compute_device.hpp"

namespace ww::microbench {
namespace {

using model::ChipletPoint;
using nlohmann::json;

constexpr double kSlower = 2;  // points at half the rate
constexpr std::uint32_t kTriedWaits = 16;
constexpr int kWarmLaunches = 2;       // until the caches hold what they will hold
constexpr double kEqualRates = 0.004;  // of a search for waits
constexpr double kAgreement = 0.005;   // of counters and arithmetic
// At most half of a run is cut off at its start.
constexpr double kMinPlateauOverSettling = 2;

struct ChipletSettings {
  std::uint64_t seed{1};
  bool quick{};
  std::int64_t blocks{};
  double plateau_s{};
  double launch_s{50e-6};
};

class Chiplet final : public PointExperiment {
 public:
  explicit Chiplet(const ChipletSettings& settings)
      : PointExperiment({settings.seed, settings.blocks, {.seconds = settings.plateau_s}}),
        settings_(settings) {}

  std::string_view name() const override { return "chiplet"; }
  json plan() const override;
  Status restore(const json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench& bench, bool resumed) override;
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  using Pace = PackageKernels::Pace;
  std::size_t points() const override { return kernels_->points().size(); }
  std::string note_of(std::size_t point) const override {
    return std::string(kernels_->points()[point].name);
  }
  std::vector<std::size_t> order_of_pair(std::int64_t pair) const override;
  Plateau plateau_with(const SensorResponse& response) const override;
  Result<double> seconds_of(const ChipletPoint& point, const Pace& pace);
  Result<std::uint32_t> waits_for(const ChipletPoint& point, double wanted, std::uint32_t guess,
                                  int steps);
  [[nodiscard]] Pace pace(std::size_t point) const { return {passes_, waits_.at(point)}; }
  Result<Bench::Launch> select(std::size_t point) {
    WW_TRY(kernels_->select(kernels_->points()[point], pace(point)));
    return Bench::Launch([this] { return kernels_->launch(); });
  }
  void compare_with_counters(Bench& bench, const Bench::Launched& done, StoredRun& run) const;

  ChipletSettings settings_;
  std::unique_ptr<PackageKernels> kernels_;
  std::vector<std::int32_t> identity_;  // of the package, as the first session found it
  std::vector<std::uint32_t> waits_;    // by point; empty: not tuned
  std::uint32_t passes_{1};
};

json Chiplet::plan() const {
  json setup = kernels_->setup();
  setup["identity"] = identity_;
  setup["waits"] = waits_;
  setup["passes"] = passes_;
  json plan{{"method", "chiplet"}, {"quick", settings_.quick}, {"setup", std::move(setup)}};
  put(plan);
  return plan;
}

Status Chiplet::restore(const json& plan) {
  ChipletSettings then;
  const JsonReader reader(plan, "plan");
  reader.read("blocks", then.blocks);
  reader.read("least_plateau_s", then.plateau_s);
  reader.read("quick", then.quick);
  const JsonReader setup = reader.object("setup");
  setup.read_optional("identity", identity_);
  // Recordings of earlier versions, of packages on I/O dies.
  if (identity_.empty()) setup.read("io_die_of_die", identity_);
  setup.read("waits", waits_);
  setup.read("passes", passes_);
  take(reader);
  WW_TRY(reader.status());
  if (then.quick == settings_.quick && then.blocks == settings_.blocks &&
      then.plateau_s == settings_.plateau_s) {
    return {};
  }
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("the campaign in this folder is a {} one of {} blocks of runs of {} s; go on "
                  "with the same options or choose another folder",
                  then.quick ? "quick" : "full", then.blocks, then.plateau_s));
}

Status Chiplet::prepare(Bench& bench) {
  // Parts are devices of their own; a device by itself may have several dies.
  const auto create =
      bench.device().host->parts() == 1 ? &ChipletKernels::create : &PairKernels::create;
  WW_ASSIGN(kernels, create(bench.device(), bench.pinning(), settings_.seed));
  kernels_ = std::move(kernels);
  if (identity_.empty()) identity_ = kernels_->identity();
  if (identity_ == kernels_->identity()) return {};
  return fail(
      ErrorCode::bad_data,
      "the compute dies do not stand on the I/O dies on which the recording found them: it is "
      "of another card; choose another folder",
      bench.device().name);
}

Result<double> Chiplet::seconds_of(const ChipletPoint& point, const Pace& pace) {
  WW_TRY(kernels_->select(point, pace));
  for (int i = 0; i < kWarmLaunches; ++i) WW_TRY(kernels_->time_launch());
  return kernels_->time_launch();
}

// Finds the waits for which a pass takes `wanted` seconds, between two numbers of waits that take
// less and more. Waits that hide behind a queue count less than others, so that no slope is taken
// for granted.
Result<std::uint32_t> Chiplet::waits_for(const ChipletPoint& point, double wanted,
                                         std::uint32_t guess, int steps) {
  std::uint32_t few = 0;
  std::uint32_t enough = std::max(1U, guess);
  double few_s = 0;
  WW_ASSIGN(enough_s, seconds_of(point, {1, enough}));
  for (int step = 0; step < steps && enough_s < wanted; ++step) {
    few = enough;
    few_s = enough_s;
    enough *= 2;
    WW_ASSIGN(seconds, seconds_of(point, {1, enough}));
    enough_s = seconds;
  }
  for (int step = 0; step < steps && enough - few > 1; ++step) {
    if (std::abs(enough_s - wanted) < kEqualRates * wanted) return enough;
    const double share =
        few_s > 0 ? std::clamp((wanted - few_s) / (enough_s - few_s), 0.1, 0.9) : 0.5;
    const auto between = std::clamp(
        few + static_cast<std::uint32_t>(std::lround(share * (enough - few))), few + 1, enough - 1);
    WW_ASSIGN(seconds, seconds_of(point, {1, between}));
    if (std::abs(seconds - wanted) < kEqualRates * wanted) return between;
    (seconds < wanted ? few : enough) = between;
    (seconds < wanted ? few_s : enough_s) = seconds;
  }
  return enough;
}

// All ways at one rate, that of the slowest: waits after each page make up for what others are
// faster.
Status Chiplet::tune(Bench& bench) {
  if (!waits_.empty()) return {};  // an earlier session did
  struct Time {
    double none{}, per_wait{};
  };
  std::vector<Time> times;
  double slowest = 0;
  for (const ChipletPoint& point : kernels_->points()) {
    WW_TRY(kernels_->check(point));
    WW_ASSIGN(none, seconds_of(point, {1, 0}));
    WW_ASSIGN(slowed, seconds_of(point, {1, kTriedWaits}));
    times.push_back({none, (slowed - none) / kTriedWaits});
    if (!(slowed > none)) {
      return fail(ErrorCode::bad_data, "waits do not slow the reading down", bench.device().name);
    }
    slowest = std::max(slowest, none);
  }
  const PackageKernels::Tuning tuning = kernels_->tuning();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double wanted = tuning.room * slowest * (kernels_->points()[i].slow ? kSlower : 1);
    waits_.push_back(static_cast<std::uint32_t>(
        std::max(0L, std::lround((wanted - times[i].none) / times[i].per_wait))));
    if (tuning.refinements == 0) continue;
    WW_ASSIGN(refined, waits_for(kernels_->points()[i], wanted, waits_.back(), tuning.refinements));
    waits_.back() = refined;
  }
  passes_ = static_cast<std::uint32_t>(std::max(
      long{tuning.passes}, std::lround(std::ceil(settings_.launch_s / (tuning.room * slowest)))));
  return {};
}

Status Chiplet::warm_up(Bench& bench, bool) {
  WW_ASSIGN(launch, select(0));
  WW_TRY(bench.launch_for(1.0, launch));
  return {};
}

// Steps of the sensor's test and heat.
Result<Bench::Launch> Chiplet::load(Bench&, const Condition&, StoredRun& run) {
  run.pattern = kernels_->points()[0].name;
  run.kernel_hash = kernels_->hash();
  return select(0);
}

Plateau Chiplet::plateau_with(const SensorResponse& response) const {
  const double settle_s = std::max(
      response.settles() ? response.settle_s() : settings_.plateau_s / kMinPlateauOverSettling,
      0.2 * settings_.plateau_s);
  return {std::max(settings_.plateau_s, kMinPlateauOverSettling * settle_s), settle_s};
}

// Each pair has a generator of its own.
std::vector<std::size_t> Chiplet::order_of_pair(std::int64_t pair) const {
  std::vector<std::size_t> order(points());
  SplitMix random(fixed().seed + static_cast<std::uint64_t>(pair));
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, [&] { return random.next(); });
  return order;
}

Status Chiplet::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const std::size_t index = point_of(condition);
  const ChipletPoint& point = kernels_->points()[index];
  run.pattern = point.name;
  run.throttle = static_cast<std::int32_t>(waits_.at(index));
  run.kernel_hash = kernels_->hash();
  WW_ASSIGN(launch, select(index));
  WW_ASSIGN(done, bench.launch_for(condition.seconds, launch));
  run.start_ns = done.start_ns;
  run.end_ns = done.end_ns;
  run.launches = done.launches;
  run.payload_bits = static_cast<double>(done.launches) * kernels_->bits(point, pace(index));
  compare_with_counters(bench, done, run);
  return {};
}

// Where counters follow launches, they say whether the pages came from behind the L2s. The first
// launch still finds what the run before left there.
void Chiplet::compare_with_counters(Bench& bench, const Bench::Launched& done,
                                    StoredRun& run) const {
  const Device& device = bench.device();
  if (device.counters == nullptr || device.traffic != Traffic::counters) return;
  auto counters = device.counters->sum(done.end - 1, done.end);
  if (!counters) return;
  run.counters = std::move(*counters);
  measure::CounterDispatch last;
  last.counters = run.counters;
  for (const auto& segment : measure::segment_bytes(device.chip.target, last)) {
    if (segment.segment != measure::Segment::l2_memory_read || !segment.bytes) continue;
    const double wanted = run.payload_bits / 8 / static_cast<double>(run.launches);
    if (std::abs(*segment.bytes - wanted) > kAgreement * std::max(wanted, 1e6)) {
      reject(run,
             fmt::format("counters saw {:.0f} bytes behind the L2s in a launch instead of {:.0f}",
                         *segment.bytes, wanted));
    }
  }
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_chiplet(const ExperimentSettings& settings) {
  ChipletSettings own;
  own.seed = settings.seed;
  own.quick = settings.quick;
  own.blocks = settings.quick ? 6 : 12;  // pairs mirror each other's order
  own.plateau_s = settings.quick ? 1.5 : 5.0;
  WW_TRY(SettingsReader("chiplet", settings.own)
             .read("blocks", own.blocks)
             .read("plateau_s", own.plateau_s)
             .read("launch_s", own.launch_s)
             .finish());
  if (own.blocks < 3 || !(own.plateau_s > 0) || !(own.launch_s > 0)) {
    return fail(ErrorCode::invalid_argument,
                "needs three blocks or more, and runs and launches longer than nothing", "chiplet");
  }
  return std::make_unique<Chiplet>(own);
}

Result<CampaignSummary> run_chiplet(const CampaignRequest& request,
                                    const ProgressFunction& progress) {
  WW_ASSIGN(experiment,
            make_experiment(experiments(), "chiplet", {request.seed, request.quick, {}}));
  ExperimentParts parts;
  parts.open = [](const DeviceRequest& device, const std::string& name) -> Result<Device> {
    if (DeviceName(name).is_virtual()) return open_device(device, name);
    DeviceRequest named = device;
    named.name = name;
    WW_ASSIGN(opened, open_compute_device(named));
    return open_amd_package(std::move(opened), name);
  };
  // No place of a part is named.
  parts.pinning = [](const Device& device) {
    return device.host->parts() == 1 ? make_die_pinning(device.chip.target)
                                     : make_pinning(device.chip.target);
  };
  return run_experiment(std::move(experiment),
                        {request.device, request.folder, request.seed, request.resume}, parts,
                        progress);
}

}  // namespace ww::microbench
