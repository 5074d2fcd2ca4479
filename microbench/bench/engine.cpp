#include "bench/engine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/sensor_response.hpp"
#include "bench/sensor_steps.hpp"
#include "homes/home_device.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/folder_lock.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/health.hpp"
#include "ww/measure/sensor_info.hpp"
#include "ww/measure/step_test.hpp"
#include "ww/microbench/campaign_facts.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using steady = std::chrono::steady_clock;

constexpr int kMaxSensorFailures = 10;   // consecutive runs
constexpr double kReheatSeconds = 40.0;  // before a cool-down whose heat another session ran
constexpr std::int64_t kLongStepNs = 5'000'000'000;

// Makes the folder and takes it away again, if it is still empty, unless kept.
class FolderGuard {
 public:
  static Result<FolderGuard> make(const fs::path& folder) {
    std::error_code ec;
    if (fs::is_directory(folder, ec)) return FolderGuard({});
    WW_TRY(make_folder(folder));
    return FolderGuard(folder);
  }
  FolderGuard(FolderGuard&& other) noexcept : made_(std::exchange(other.made_, {})) {}
  FolderGuard& operator=(FolderGuard&&) = delete;
  ~FolderGuard() {
    std::error_code ec;
    if (!made_.empty()) fs::remove(made_, ec);  // refuses a folder that is not empty
  }

 private:
  explicit FolderGuard(fs::path made) : made_(std::move(made)) {}
  fs::path made_;
};

class Engine {
 public:
  Engine(std::unique_ptr<Experiment> experiment, const ExperimentRequest& request,
         const ExperimentParts& parts, const ProgressFunction& progress)
      : request_(request), parts_(parts), progress_(progress), experiment_(std::move(experiment)) {}

  Result<CampaignSummary> run();

 private:
  [[nodiscard]] std::map<std::string, std::string> identity() const;
  Status open_existing(const fs::path& file);
  Status take_earlier_runs();
  Status put_facts();
  Status put_plan() { return store_->put(campaign_keys::plan, experiment_->plan().dump()); }
  Status put_elapsed();
  Status set_up();
  Status find_response();
  Status measure();
  void note_missed_width();
  Result<bool> misses_and_has_blocks() const;
  Status perform_all(const std::vector<Condition>& conditions);
  Status perform(const Condition& condition);
  Status measure_run(const Condition& condition, StoredRun& run);
  Status step(const Condition& condition, StoredRun& run);
  Status cool_down(const Condition& condition, StoredRun& run);
  Status rest(const Condition& condition, StoredRun& run);
  void judge_readings(StoredRun& run);
  [[nodiscard]] double elapsed_s() const {
    return earlier_s_ + std::chrono::duration<double>(steady::now() - started_).count();
  }
  [[nodiscard]] CampaignSummary summary(bool complete) const;
  void report(const Condition& condition);

  const ExperimentRequest& request_;
  const ExperimentParts& parts_;
  const ProgressFunction& progress_;
  steady::time_point started_{steady::now()};
  double earlier_s_{};  // of the sessions before
  std::string name_;
  bool is_virtual_{};
  std::optional<CampaignStore> store_;
  bool stored_plan_{};
  Device device_;
  std::unique_ptr<Pinning> pinning_;
  std::optional<Bench> bench_;
  std::unique_ptr<Experiment> experiment_;  // its kernels go before the device
  std::int64_t session_{};
  // Runs of block 0 until the sensor's response is found, of this session and of earlier ones.
  std::vector<StoredRun> setup_;
  bool keep_setup_{true};
  bool warm_{};
  bool heated_{};             // the run before this one, in this session, heated the chip
  bool expect_noise_{};       // the sensor shows noise: identical readings mean that it is frozen
  int sensor_failures_{};     // consecutive runs whose readings could not be used
  std::string first_reason_;  // why the first run of the current block was rejected
  std::int64_t done_{};
  std::int64_t rejected_{};
  std::int64_t planned_{};
  std::optional<double> missed_half_width_;
};

// Returns the facts that must agree for a recording to be resumed.
std::map<std::string, std::string> Engine::identity() const {
  std::map<std::string, std::string> facts;
  const auto put = [&facts](std::string_view key, std::string value) {
    facts[std::string(key)] = std::move(value);
  };
  put(campaign_keys::device, name_);
  put(campaign_keys::seed, std::to_string(request_.seed));
  if (DeviceName(name_).is_random_chip()) {
    put(campaign_keys::chip_seed, std::to_string(request_.device.chip_seed));
    put(campaign_keys::chip_class, request_.device.chip_class);
  }
  return facts;
}

Status Engine::open_existing(const fs::path& file) {
  WW_ASSIGN(store, CampaignStore::open(file));
  store_.emplace(std::move(store));
  WW_ASSIGN(facts, store_->facts());
  if (request_.device.name.empty() && facts.contains(std::string(campaign_keys::device))) {
    name_ = facts.at(std::string(campaign_keys::device));
  }
  for (const auto& [key, value] : identity()) {
    const auto found = facts.find(key);
    if (found != facts.end() && found->second != value) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("the campaign in this folder has {} '{}', not '{}'; resume it with the "
                      "same options or choose another folder",
                      key, found->second, value),
          file.string());
    }
  }
  if (const auto plan = facts.find(std::string(campaign_keys::plan)); plan != facts.end()) {
    const json parsed = json::parse(plan->second, nullptr, false);
    if (parsed.is_discarded()) {
      return fail(ErrorCode::parse_error, "damaged plan", file.string());
    }
    if (auto status = experiment_->restore(parsed); !status) {
      Error error = status.error();
      if (error.context.empty()) error.context = file.string();
      return tl::unexpected(std::move(error));
    }
    stored_plan_ = true;
  }
  if (const auto elapsed = facts.find(std::string(campaign_keys::elapsed));
      elapsed != facts.end()) {
    earlier_s_ = std::strtod(elapsed->second.c_str(), nullptr);
  }
  if (const auto simulated = facts.find(std::string(campaign_keys::is_virtual));
      simulated != facts.end()) {
    is_virtual_ = simulated->second == "true";
  }
  WW_ASSIGN(count, store_->run_count());
  done_ = count;
  return take_earlier_runs();
}

// The file is read once: for the step tests of earlier sessions, and for what they rejected.
Status Engine::take_earlier_runs() {
  WW_ASSIGN(runs, store_->runs());
  for (StoredRun& run : runs) {
    if (run.status != RunStatus::ok) ++rejected_;
    if (run.block == 0) setup_.push_back(std::move(run));
  }
  return {};
}

Status Engine::put_facts() {
  for (const auto& [key, value] : identity()) WW_TRY(store_->put(key, value));
  WW_TRY(store_->put(kAskedFact, experiment_->plan().dump()));
  WW_TRY(store_->put(campaign_keys::is_virtual, device_.is_virtual ? "true" : "false"));
  if (!device_.floorplan_toml.empty()) {
    WW_TRY(store_->put(campaign_keys::floorplan, device_.floorplan_toml));
  }
  if (device_.paths) {
    WW_TRY(store_->put(model::kPathsFact, model::to_json(*device_.paths).dump()));
  }
  WW_TRY(store_->put(campaign_keys::chip, to_json(device_.chip).dump()));
  json states = json::array();
  for (const auto& state : device_.sensor->dvfs_states()) {
    json entry{{"clock_hz", state.clock_hz}};
    if (state.voltage_v > 0) entry["voltage_v"] = state.voltage_v;  // NVML shows none
    states.push_back(std::move(entry));
  }
  WW_TRY(store_->put(campaign_keys::dvfs, states.dump()));
  WW_TRY(store_->put(campaign_keys::version, WW_VERSION));
  if (!device_.notes.empty()) WW_TRY(store_->put(campaign_keys::opening, device_.notes));
  return store_->put(
      campaign_keys::started,
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())));
}

Status Engine::put_elapsed() {
  return store_->put(campaign_keys::elapsed, fmt::format("{:.3f}", elapsed_s()));
}

CampaignSummary Engine::summary(bool complete) const {
  CampaignSummary result;
  result.device = name_;
  result.is_virtual = is_virtual_;
  result.runs = done_;
  result.rejected = rejected_;
  result.elapsed_s = elapsed_s();
  result.complete = complete;
  result.missed_half_width = missed_half_width_;
  return result;
}

void Engine::report(const Condition& condition) {
  if (!progress_) return;
  CampaignProgress step;
  step.done = static_cast<double>(done_);
  step.total = static_cast<double>(std::max(planned_, done_ + 1));
  step.note = condition.note.empty() ? std::string(to_string(condition.kind)) : condition.note;
  progress_(step);
}

// The load is off, on and off again, for as long each.
Status Engine::step(const Condition& condition, StoredRun& run) {
  WW_ASSIGN(load, experiment_->load(*bench_, condition, run));
  bench_->sleep(condition.seconds);
  WW_ASSIGN(done, bench_->launch_for(condition.seconds, load));
  run.start_ns = done.start_ns;
  run.end_ns = done.end_ns;
  run.launches = done.launches;
  bench_->sleep(condition.seconds);
  return {};
}

Status Engine::rest(const Condition& condition, StoredRun& run) {
  run.start_ns = device_.sensor->now_ns();
  bench_->sleep(condition.seconds);
  run.end_ns = device_.sensor->now_ns();
  return {};
}

// Without its heat a cool-down would show one temperature only. Heat that is repeated is no run of
// its own: its readings go with the cool-down's.
Status Engine::cool_down(const Condition& condition, StoredRun& run) {
  if (!heated_) {
    Condition heat = condition;
    heat.kind = RunKind::heat;
    StoredRun unrecorded;
    WW_ASSIGN(load, experiment_->load(*bench_, heat, unrecorded));
    WW_TRY(bench_->launch_for(kReheatSeconds, load));
  }
  return rest(condition, run);
}

Status Engine::measure_run(const Condition& condition, StoredRun& run) {
  if (condition.dvfs_state) WW_TRY(bench_->select_state(*condition.dvfs_state));
  run.session = session_;
  run.block = condition.block;
  run.position = condition.position;
  run.kind = condition.kind;
  run.dvfs_state = condition.dvfs_state.value_or(device_.sensor->dvfs_current());
  switch (condition.kind) {
    case RunKind::idle: WW_TRY(rest(condition, run)); break;
    case RunKind::step_test: WW_TRY(step(condition, run)); break;
    case RunKind::heat: {
      WW_ASSIGN(load, experiment_->load(*bench_, condition, run));
      WW_TRY(bench_->heat(condition.seconds, load, run));
      break;
    }
    case RunKind::cooldown: WW_TRY(cool_down(condition, run)); break;
    default: WW_TRY(experiment_->perform(*bench_, condition, run));
  }
  heated_ = condition.kind == RunKind::heat;
  WW_TRY(bench_->read_sensor(run));
  judge_readings(run);
  return {};
}

void Engine::judge_readings(StoredRun& run) {
  // Short launches: there may be no reading.
  if (run.kind == RunKind::known_bytes || run.kind == RunKind::latency) return;
  measure::HealthExpectation expectation;
  // A sensor of a second may rest through a short step; a longer one follows if it does.
  const bool long_step = run.kind == RunKind::step_test && run.end_ns - run.start_ns >= kLongStepNs;
  expectation.load_changes = expect_noise_ || long_step || run.kind == RunKind::heat;
  const auto health = measure::check_health(run.samples, device_.sensor->facts().name, expectation);
  sensor_failures_ = health ? 0 : sensor_failures_ + 1;
  if (!health) reject(run, health.error().text());
  const bool steady =
      run.kind == RunKind::stream || run.kind == RunKind::lock_in || run.kind == RunKind::beyond_l2;
  if (const std::string why = device_.sensor->throttling(); steady && !why.empty()) {
    reject(run, fmt::format("the device held its clocks down during the run ({}); cool it, raise "
                            "its power limit or select a lower clock",
                            why));
  }
}

Status Engine::perform(const Condition& condition) {
  if (interrupted()) {
    return fail(ErrorCode::cancelled, "interrupted; what was finished is kept, resume to go on");
  }
  report(condition);
  if (!warm_) {
    WW_TRY(experiment_->warm_up(*bench_, condition.block > 0));
    warm_ = true;
  }
  StoredRun run;
  WW_TRY(measure_run(condition, run));
  if (interrupted() && run.kind == RunKind::heat) return {};  // cut short: run it again
  WW_TRY(store_->add(run));
  ++done_;
  const bool ok = run.status == RunStatus::ok;
  const std::string reason = run.reason;
  if (keep_setup_ && run.block == 0) setup_.push_back(std::move(run));
  if (ok) return {};
  ++rejected_;
  if (first_reason_.empty()) first_reason_ = reason;
  log::debug("run {}.{} rejected: {}", condition.block, condition.position, reason);
  if (sensor_failures_ > 0 && condition.block == 0) return fail(ErrorCode::bad_data, reason);
  if (sensor_failures_ >= kMaxSensorFailures) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} (and {} runs before it)", reason, kMaxSensorFailures - 1));
  }
  return {};
}

Status Engine::perform_all(const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    WW_ASSIGN(there, store_->contains(condition.block, condition.position));
    if (!there) WW_TRY(perform(condition));
  }
  return {};
}

Status Engine::find_response() {
  const auto slow = experiment_->slow_steps();
  WW_ASSIGN(response, response_to_steps(setup_, 0, slow.front().position - 1));
  if (!response.resolved) {
    log::info("the step test was not resolved ({}); a slower one follows", response.reason);
    WW_TRY(perform_all(slow));
    WW_ASSIGN(slower, response_to_steps(setup_, slow.front().position, slow.back().position));
    response = slower;
    if (!response.resolved) {
      log::warn("the sensor's response is not resolved: {}", response.reason);
    }
  }
  SensorResponse found;
  found.info = measure::combine(device_.sensor->facts(), response);
  if (device_.traffic != Traffic::counters) {
    // A real card's files have a unit; how fine it reads within that, only its readings show.
    found.info.power_resolution_w =
        std::max(found.info.power_resolution_w, smallest_step_w(setup_));
  }
  if (found.info.period_s <= 0) {
    return fail(ErrorCode::bad_data, "frozen: the reading did not move while the load changed",
                fmt::format("sensor {}", found.info.name));
  }
  expect_noise_ = response.noise_w > 2 * found.info.power_resolution_w;
  found.energy_interval_s = energy_interval_s(setup_, found.info.period_s);
  found.step_w = response.step_w;
  found.noise_w = response.noise_w;
  keep_setup_ = false;
  setup_.clear();
  json text = measure::to_json(found.info);
  text["step_w"] = response.step_w;
  text["noise_w"] = response.noise_w;
  text["reason"] = response.reason;
  WW_TRY(store_->put(campaign_keys::sensor, text.dump()));
  experiment_->use(found);
  return put_plan();
}

Status Engine::set_up() {
  WW_TRY(experiment_->tune(*bench_));
  WW_TRY(put_plan());
  const auto first = experiment_->setup();
  planned_ =
      static_cast<std::int64_t>(first.size() + experiment_->rest_of_setup().size()) +
      experiment_->minimum_blocks() * static_cast<std::int64_t>(experiment_->block(1).size());
  WW_TRY(perform_all(first));
  WW_TRY(find_response());
  return perform_all(experiment_->rest_of_setup());
}

Status Engine::measure() {
  for (std::int64_t block = 1; block <= experiment_->maximum_blocks(); ++block) {
    const auto conditions = experiment_->block(block);
    if (block > experiment_->minimum_blocks()) {
      const auto width = parts_.half_width(*store_);
      if (!width) {
        log::warn("no fit yet, so no further blocks: {}", width.error().text());
        return {};
      }
      if (*width && **width <= request_.half_width) return {};
      planned_ = std::max(planned_, done_ + static_cast<std::int64_t>(conditions.size()));
    }
    const auto rejected = rejected_;
    const auto done = done_;
    first_reason_.clear();
    WW_TRY(perform_all(conditions));
    const auto streams = std::ranges::count_if(conditions, [](const Condition& condition) {
      return condition.kind == RunKind::stream || condition.kind == RunKind::lock_in;
    });
    if (done_ - done == std::ssize(conditions) && rejected_ - rejected >= streams) {
      return fail(ErrorCode::bad_data,
                  fmt::format("every run of block {} was rejected; the first because: {}", block,
                              first_reason_),
                  name_);
    }
    WW_TRY(put_elapsed());
  }
  note_missed_width();
  return {};
}

Result<bool> Engine::misses_and_has_blocks() const {
  if (!missed_half_width_) return false;
  const auto last = experiment_->block(experiment_->maximum_blocks());
  if (last.empty()) return false;
  WW_ASSIGN(there, store_->contains(last.back().block, last.back().position));
  return !there;
}

void Engine::note_missed_width() {
  if (!parts_.half_width || experiment_->maximum_blocks() == experiment_->minimum_blocks()) return;
  const auto width = parts_.half_width(*store_);
  if (width && *width && **width > request_.half_width) missed_half_width_ = **width;
}

Result<CampaignSummary> Engine::run() {
  const fs::path file = request_.folder / experiment_->file_name();
  std::error_code ec;
  const bool exists = fs::exists(file, ec);
  if (ec && ec != std::errc::no_such_file_or_directory && ec != std::errc::not_a_directory) {
    return fail(ErrorCode::permission_denied, "cannot look into the folder: " + ec.message(),
                request_.folder.string());
  }
  if (exists && !request_.resume) {
    return fail(ErrorCode::invalid_argument,
                "a campaign is here already; pass --resume to continue it or choose another folder",
                file.string());
  }
  WW_ASSIGN(name, resolve_device_name(request_.device));
  name_ = std::move(name);
  WW_ASSIGN(guard, FolderGuard::make(request_.folder));
  WW_ASSIGN(lock, FolderLock::take(request_.folder, "measure", "measuring into"));
  if (exists) {
    WW_TRY(open_existing(file));
    WW_ASSIGN(finished, store_->get(campaign_keys::finished));
    if (finished == "true") {
      // A finished campaign goes on only where a narrower interval is asked for than it ended with.
      note_missed_width();
      WW_ASSIGN(goes_on, misses_and_has_blocks());
      if (!goes_on) {
        started_ = steady::now();
        return summary(true);
      }
      missed_half_width_.reset();
    }
  }

  WW_ASSIGN(device, parts_.open(request_.device, name_));
  device_ = std::move(device);
  is_virtual_ = device_.is_virtual;
  if (stored_plan_) {
    WW_ASSIGN(paths, store_->get(model::kPathsFact));
    WW_TRY(continue_homes(device_, paths));
  }
  WW_ASSIGN(pinning, parts_.pinning(device_));
  pinning_ = std::move(pinning);
  bench_.emplace(device_, *pinning_);
  WW_TRY(experiment_->prepare(*bench_));
  if (!store_) {
    WW_ASSIGN(store, CampaignStore::create(file));
    store_.emplace(std::move(store));
  }
  if (!stored_plan_) WW_TRY(put_facts());
  WW_ASSIGN(session, store_->begin_session());
  session_ = session;
  WW_TRY(store_->put(campaign_keys::finished, ""));

  auto status = set_up();
  if (status) status = measure();
  WW_TRY(put_elapsed());
  if (!status) {
    if (status.error().code == ErrorCode::cancelled) return summary(false);
    return tl::unexpected(status.error());
  }
  WW_TRY(store_->put(campaign_keys::finished, "true"));
  return summary(true);
}

}  // namespace

Result<CampaignSummary> run_experiment(std::unique_ptr<Experiment> experiment,
                                       const ExperimentRequest& request,
                                       const ExperimentParts& parts,
                                       const ProgressFunction& progress) {
  return Engine(std::move(experiment), request, parts, progress).run();
}

}  // namespace ww::microbench
