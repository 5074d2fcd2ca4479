#include "bench/engine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/bench.hpp"
#include "bench/plan.hpp"
#include "bench/runner.hpp"
#include "bench/sensor_steps.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/measure/sensor_info.hpp"
#include "ww/measure/step_test.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using steady = std::chrono::steady_clock;

constexpr int most_sensor_failures = 10;   // consecutive runs
constexpr double resumed_settle_s = 45.0;  // idling of a session that continues measuring blocks

// Makes the folder and takes it away again, if it is still empty, unless kept.
class FolderGuard {
 public:
  static Result<FolderGuard> make(const fs::path& folder) {
    std::error_code ec;
    if (fs::is_directory(folder, ec)) return FolderGuard({});
    fs::create_directories(folder, ec);
    if (ec == std::errc::permission_denied || ec == std::errc::read_only_file_system) {
      return fail(
          ErrorCode::permission_denied,
          fmt::format("cannot make the folder ({}); choose another with --out", ec.message()),
          folder.string());
    }
    if (ec) {
      return fail(
          ErrorCode::io_error,
          fmt::format("cannot make the folder ({}); choose another with --out", ec.message()),
          folder.string());
    }
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

std::string number_text(std::uint64_t value) {
  return std::to_string(value);
}

class Engine {
 public:
  Engine(const CampaignRequest& request, const CampaignParts& parts,
         const ProgressFunction& progress)
      : request_(request), parts_(parts), progress_(progress) {}

  Result<CampaignSummary> run();

 private:
  [[nodiscard]] std::map<std::string, std::string> identity() const;
  Status open_existing(const fs::path& file);
  Status put_facts();
  Status put_plan();
  Status set_up();
  Status find_response();
  Status perform_all(const std::vector<PlannedRun>& runs);
  Status perform(const PlannedRun& run);
  Status measure();
  Status put_elapsed();
  [[nodiscard]] CampaignSummary summary(bool complete);
  void report(const PlannedRun& run);

  const CampaignRequest& request_;
  const CampaignParts& parts_;
  const ProgressFunction& progress_;
  steady::time_point started_{steady::now()};
  double earlier_s_{};  // of the sessions before
  std::string name_;
  bool is_virtual_{};
  std::optional<CampaignStore> store_;
  bool stored_plan_{};
  Device device_;
  std::unique_ptr<Pinning> pinning_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<Runner> runner_;
  PlanInputs inputs_;
  bool warm_{};
  bool heated_{};  // the furnace ran in this session, and nothing since
  std::int64_t done_{};
  std::int64_t rejected_{};
  std::int64_t planned_{};
};

// What must agree for a campaign to be resumed.
std::map<std::string, std::string> Engine::identity() const {
  std::map<std::string, std::string> facts;
  const auto put = [&facts](std::string_view key, std::string value) {
    facts[std::string(key)] = std::move(value);
  };
  put(campaign_keys::device, name_);
  put(campaign_keys::seed, number_text(request_.seed));
  if (DeviceName(name_).is_random_chip()) {
    put(campaign_keys::chip_seed, number_text(request_.device.chip_seed));
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
    WW_ASSIGN(inputs, plan_inputs_from_json(parsed));
    inputs_ = inputs;
    stored_plan_ = true;
    if (inputs_.mirrored != request_.mirrored) {
      return fail(ErrorCode::invalid_argument,
                  inputs_.mirrored ? "the campaign in this folder mirrors its blocks; resume it "
                                     "without --no-mirror"
                                   : "the campaign in this folder does not mirror its blocks; "
                                     "resume it with --no-mirror",
                  file.string());
    }
    if (inputs_.nops != request_.nops) {
      return fail(ErrorCode::invalid_argument,
                  inputs_.nops ? "the campaign in this folder waits by NOPs; resume it with --nops"
                               : "the campaign in this folder waits by sleep; resume it without "
                                 "--nops",
                  file.string());
    }
    if (inputs_.quick != request_.quick) {
      return fail(ErrorCode::invalid_argument,
                  inputs_.quick
                      ? "the campaign in this folder is a quick one; resume it with --quick"
                      : "the campaign in this folder is a full one; resume it without --quick",
                  file.string());
    }
  }
  if (const auto elapsed = facts.find(std::string(campaign_keys::elapsed));
      elapsed != facts.end()) {
    earlier_s_ = std::strtod(elapsed->second.c_str(), nullptr);
  }
  if (const auto simulated = facts.find(std::string(campaign_keys::is_virtual));
      simulated != facts.end()) {
    is_virtual_ = simulated->second == "true";
  }
  WW_ASSIGN(runs, store_->runs());
  done_ = static_cast<std::int64_t>(runs.size());
  rejected_ =
      std::ranges::count_if(runs, [](const StoredRun& r) { return r.status != RunStatus::ok; });
  return {};
}

Status Engine::put_facts() {
  for (const auto& [key, value] : identity()) WW_TRY(store_->put(key, value));
  WW_TRY(store_->put(campaign_keys::is_virtual, device_.is_virtual ? "true" : "false"));
  WW_TRY(store_->put(campaign_keys::floorplan, device_.floorplan_toml));
  WW_TRY(store_->put(campaign_keys::chip, to_json(device_.chip).dump()));
  json states = json::array();
  for (const auto& state : device_.sensor->dvfs_states()) {
    states.push_back({{"voltage_v", state.voltage_v}, {"clock_hz", state.clock_hz}});
  }
  WW_TRY(store_->put(campaign_keys::dvfs, states.dump()));
  WW_TRY(store_->put(campaign_keys::version, WW_VERSION));
  if (!device_.notes.empty()) WW_TRY(store_->put(campaign_keys::opening, device_.notes));
  return store_->put(
      campaign_keys::started,
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())));
}

// The inputs, and for readers every run that follows from them.
Status Engine::put_plan() {
  json plan = to_json(inputs_);
  json list = json::array();
  const auto add = [&list](const std::vector<PlannedRun>& runs) {
    for (const PlannedRun& run : runs) {
      json entry{{"block", run.block},
                 {"position", run.position},
                 {"kind", to_string(run.kind)},
                 {"dvfs_state", run.dvfs_state},
                 {"seconds", run.seconds}};
      if (run.kind == RunKind::stream) {
        entry["engine"] = run.engine;
        entry["quadrant"] = run.quadrant;
        entry["pattern"] = kernels::to_string(run.pattern);
        entry["rate"] = to_string(run.rate);
      }
      if (run.kind == RunKind::lock_in) {
        entry["pattern"] = kernels::to_string(run.pattern);
        entry["turn_s"] = run.turn_s;
        entry["order"] = run.order;
      }
      list.push_back(std::move(entry));
    }
  };
  add(setup_runs(inputs_));
  add(dvfs_runs(inputs_));
  if (inputs_.plateau_s) {
    for (std::int64_t b = 1; b <= minimum_blocks(inputs_); ++b) add(block_runs(inputs_, b));
  }
  plan["minimum_blocks"] = minimum_blocks(inputs_);
  plan["maximum_blocks"] = maximum_blocks(inputs_);
  plan["runs"] = std::move(list);
  return store_->put(campaign_keys::plan, plan.dump());
}

Status Engine::put_elapsed() {
  const double spent = std::chrono::duration<double>(steady::now() - started_).count();
  return store_->put(campaign_keys::elapsed, fmt::format("{:.3f}", earlier_s_ + spent));
}

CampaignSummary Engine::summary(bool complete) {
  CampaignSummary result;
  result.device = name_;
  result.is_virtual = is_virtual_;
  result.runs = done_;
  result.rejected = rejected_;
  result.elapsed_s = earlier_s_ + std::chrono::duration<double>(steady::now() - started_).count();
  result.complete = complete;
  return result;
}

void Engine::report(const PlannedRun& run) {
  if (!progress_) return;
  CampaignProgress step;
  step.done = static_cast<double>(done_);
  step.total = static_cast<double>(std::max(planned_, done_ + 1));
  step.note = std::string(to_string(run.kind));
  if (run.kind == RunKind::stream) {
    step.note = fmt::format("block {}: engine {} reads quadrant {}, {}", run.block, run.engine,
                            run.quadrant, kernels::to_string(run.pattern));
  }
  progress_(step);
}

Status Engine::perform(const PlannedRun& run) {
  if (interrupted()) {
    return fail(ErrorCode::cancelled, "interrupted; what was finished is kept, resume to go on");
  }
  report(run);
  if (!warm_) {
    // A session that goes on with blocks begins as the first one began its blocks: after a long
    // cool-down, whose heat is known from its end.
    WW_TRY(runner_->warm_up(run.block > 0 ? resumed_settle_s : 0.0));
    warm_ = true;
  }
  // Without its heat a cool-down would show one temperature only.
  if (run.kind == RunKind::cooldown && !heated_) WW_TRY(runner_->reheat(40.0));
  WW_ASSIGN(stored, runner_->perform(run));
  if (interrupted() && run.kind == RunKind::heat) return {};  // cut short: run it again
  heated_ = run.kind == RunKind::heat;
  WW_TRY(store_->add(stored));
  ++done_;
  if (stored.status == RunStatus::ok) return {};
  ++rejected_;
  spdlog::debug("run {}.{} rejected: {}", run.block, run.position, stored.reason);
  if (runner_->sensor_failures() > 0 && run.block == 0) {
    return fail(ErrorCode::bad_data, stored.reason);
  }
  if (runner_->sensor_failures() >= most_sensor_failures) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} (and {} runs before it)", stored.reason, most_sensor_failures - 1));
  }
  return {};
}

Status Engine::perform_all(const std::vector<PlannedRun>& runs) {
  for (const PlannedRun& run : runs) {
    WW_ASSIGN(there, store_->contains(run.block, run.position));
    if (!there) WW_TRY(perform(run));
  }
  return {};
}

// The step test's findings, from the session that holds most of its runs.
Status Engine::find_response() {
  const auto analyse = [this](std::int64_t first_position,
                              std::int64_t last_position) -> Result<measure::StepResponse> {
    WW_ASSIGN(runs, store_->runs());
    std::map<std::int64_t, std::vector<const StoredRun*>> sessions;
    for (const StoredRun& run : runs) {
      if (run.kind == RunKind::step_test && run.position >= first_position &&
          run.position <= last_position) {
        sessions[run.session].push_back(&run);
      }
    }
    const std::vector<const StoredRun*>* most = nullptr;
    for (const auto& [session, list] : sessions) {
      if (most == nullptr || list.size() > most->size()) most = &list;
    }
    std::vector<measure::LoadStep> steps;
    std::vector<StoredSample> readings;
    if (most != nullptr) {
      for (const StoredRun* run : *most) {
        steps.push_back({run->start_ns, run->end_ns});
        readings.insert(readings.end(), run->samples.begin(), run->samples.end());
      }
    }
    return measure::analyse_steps(readings, steps);
  };
  const auto slow = slow_step_runs(inputs_);
  WW_ASSIGN(response, analyse(0, slow.front().position - 1));
  if (!response.resolved) {
    spdlog::info("the step test was not resolved ({}); a slower one follows", response.reason);
    WW_TRY(perform_all(slow));
    WW_ASSIGN(slower, analyse(slow.front().position, slow.back().position));
    response = slower;
    if (!response.resolved)
      spdlog::warn("the sensor's response is not resolved: {}", response.reason);
  }
  measure::SensorInfo info = measure::combine(device_.sensor->facts(), response);
  WW_ASSIGN(recorded, store_->runs());
  if (device_.traffic != Traffic::counters) {
    // A real card's files have a unit; how fine it reads within that, only its readings tell.
    info.power_resolution_w = std::max(info.power_resolution_w, smallest_step_w(recorded));
  }
  if (info.period_s <= 0) {
    return fail(ErrorCode::bad_data, "frozen: the reading did not move while the load changed",
                fmt::format("sensor {}", info.name));
  }
  if (response.noise_w > 2 * info.power_resolution_w) runner_->expect_noise();
  json text = measure::to_json(info);
  text["step_w"] = response.step_w;
  text["noise_w"] = response.noise_w;
  text["reason"] = response.reason;
  WW_TRY(store_->put(campaign_keys::sensor, text.dump()));
  if (!inputs_.plateau_s) {
    inputs_.plateau_s = plateau_seconds(inputs_.quick, info.delay_s, info.rise_s);
    inputs_.turn_s = lock_in_turn_seconds(info.period_s, info.delay_s, info.rise_s,
                                          energy_interval_s(recorded, info.period_s));
    if (*inputs_.turn_s <= 0) {
      spdlog::info("the sensor is too slow for lock-in; plateaus take its place");
    }
    WW_TRY(put_plan());
  }
  return {};
}

Status Engine::set_up() {
  if (!inputs_.tuning) {
    // A real device's launches are longer: what a launch costs its host is then a small part.
    constexpr std::int64_t real_launch_ns = 2'000'000;
    const bool counters = device_.traffic == Traffic::counters;
    WW_ASSIGN(tuning, runner_->tune(counters ? parts_.launch_ns : real_launch_ns, !inputs_.quick));
    inputs_.tuning = tuning;
    WW_TRY(put_plan());
  } else {
    runner_->use(*inputs_.tuning);
  }
  planned_ = static_cast<std::int64_t>(setup_runs(inputs_).size() + dvfs_runs(inputs_).size() +
                                       static_cast<std::size_t>(minimum_blocks(inputs_)) *
                                           block_runs(inputs_, 1).size());
  const auto setup = setup_runs(inputs_);
  // Idle and step test first: what they find shapes the rest.
  const auto after_steps = std::ranges::find_if(
      setup, [](const PlannedRun& run) { return run.kind == RunKind::known_bytes; });
  WW_TRY(perform_all({setup.begin(), after_steps}));
  WW_TRY(find_response());
  WW_TRY(perform_all({after_steps, setup.end()}));
  return perform_all(dvfs_runs(inputs_));
}

Status Engine::measure() {
  for (std::int64_t block = 1; block <= maximum_blocks(inputs_); ++block) {
    if (block > minimum_blocks(inputs_)) {
      const auto width = parts_.half_width(*store_);
      if (!width) {
        spdlog::warn("no fit yet, so no further blocks: {}", width.error().text());
        return {};
      }
      if (*width && **width <= wanted_half_width) return {};
      planned_ =
          std::max(planned_, done_ + static_cast<std::int64_t>(block_runs(inputs_, 1).size()));
    }
    const auto rejected = rejected_;
    const auto done = done_;
    const auto runs = block_runs(inputs_, block);
    WW_TRY(perform_all(runs));
    const auto streams = std::ranges::count_if(runs, [](const PlannedRun& run) {
      return run.kind == RunKind::stream || run.kind == RunKind::lock_in;
    });
    if (done_ - done == static_cast<std::int64_t>(runs.size()) && rejected_ - rejected >= streams) {
      WW_ASSIGN(all, store_->runs());
      const auto bad = std::ranges::find_if(all, [block](const StoredRun& run) {
        return run.block == block && run.status != RunStatus::ok;
      });
      return fail(ErrorCode::bad_data,
                  fmt::format("every run of block {} was rejected; the first because: {}", block,
                              bad == all.end() ? "" : bad->reason),
                  name_);
    }
    WW_TRY(put_elapsed());
  }
  return {};
}

Result<CampaignSummary> Engine::run() {
  const fs::path file = request_.folder / "campaign.db";
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
  if (exists) {
    WW_TRY(open_existing(file));
    WW_ASSIGN(finished, store_->get(campaign_keys::finished));
    if (finished == "true") {
      started_ = steady::now();
      return summary(true);
    }
  }

  WW_ASSIGN(guard, FolderGuard::make(request_.folder));
  WW_ASSIGN(device, parts_.open(request_.device, name_));
  device_ = std::move(device);
  is_virtual_ = device_.is_virtual;
  WW_ASSIGN(pinning, parts_.pinning(device_));
  pinning_ = std::move(pinning);
  WW_ASSIGN(bench, Bench::create(device_, *pinning_, request_.patch_binary, request_.seed,
                                 request_.nops ? kernels::Wait::nops : kernels::Wait::sleep));
  bench_ = std::move(bench);
  {
    Runner probe(device_, *bench_, 0);
    WW_TRY(probe.check_pinned());
  }
  if (!store_) {
    WW_ASSIGN(store, CampaignStore::create(file));
    store_.emplace(std::move(store));
  }
  if (!stored_plan_) {
    inputs_.device = name_;
    inputs_.seed = request_.seed;
    inputs_.quick = request_.quick;
    inputs_.mirrored = request_.mirrored;
    inputs_.nops = request_.nops;
    inputs_.engines = device_.chip.engines;
    inputs_.quadrants = static_cast<int>(device_.quadrants.size());
    inputs_.dvfs_states = static_cast<int>(device_.sensor->dvfs_states().size());
    inputs_.reference_state = device_.sensor->dvfs_current();
    WW_TRY(put_facts());
  }
  WW_ASSIGN(session, store_->begin_session());
  runner_ = std::make_unique<Runner>(device_, *bench_, session);

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

Result<CampaignSummary> run_campaign_with(const CampaignRequest& request,
                                          const CampaignParts& parts,
                                          const ProgressFunction& progress) {
  return Engine(request, parts, progress).run();
}

}  // namespace ww::microbench
