// Runs IISWC'16's applications and keeps what they leave: counters, readings of the sensor, and how
// much they would move with other caches. Their traces, which are large, are not kept.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "iiswc16/application.hpp"
#include "reproduction/kept_runs.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/core/process.hpp"
#include "ww/measure/i_counters.hpp"
#include "ww/model/estimate.hpp"
#include "ww/runner/job_pool.hpp"
#include "ww/runner/sensed_energy.hpp"
#include "ww/session/traffic.hpp"
#include "ww/sim/driver_settings.hpp"
#include "ww/sim/trace/cache_replay.hpp"
#include "ww/workloads/workloads.hpp"

namespace ww::study::iiswc16 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kDevice = "virtual:w9100";
constexpr const char* kTarget = "gfx701";
constexpr const char* kCounters = "counters.csv";
constexpr const char* kSamples = "samples.csv";
constexpr const char* kTrace = "trace.wwt";
constexpr const char* kCaches = "caches.json";

double total(const session::CountedTraffic& traffic, const char* counter) {
  const auto found = traffic.totals.find(counter);
  return found == traffic.totals.end() ? 0 : found->second;
}

// Bytes as the paper counts them: every access of an L1 is a line of 64 B, and every miss of the L2
// brings 32 B from memory. Between L1 and L2 the paper agrees with our counter map.
Result<std::array<double, 3>> papers_bytes(const session::CountedTraffic& traffic) {
  constexpr double kAccessBytes = 64;
  constexpr double kMissBytes = 32;
  WW_ASSIGN(l1_l2, measure::l1_l2_bytes(kTarget, traffic.totals));
  return std::array{kAccessBytes * total(traffic, "TCP_TOTAL_CACHE_ACCESSES_sum"), l1_l2,
                    kMissBytes * total(traffic, "TCC_MISS_sum")};
}

// Replays the trace through three pairs of caches at once, and writes the bytes behind them.
Status replay_caches(const fs::path& folder) {
  const auto shape = [](std::int64_t l1_kib, std::int64_t l2_kib) {
    sim::trace::CacheShape caches;
    caches.l1_bytes = l1_kib * 1024;
    caches.l2_bytes = l2_kib * 1024;
    return caches;
  };
  const std::array shapes{shape(4, 1024), shape(16, 1024), shape(16, 256)};
  WW_ASSIGN(reader, sim::trace::Reader::open((folder / kTrace).string()));
  WW_ASSIGN(moved, sim::trace::replay_through_caches(reader, shapes));
  const std::array l1_l2{moved[0].l1_l2_bytes(), moved[1].l1_l2_bytes()};
  const std::array l2_memory{moved[2].l2_memory_bytes(), moved[1].l2_memory_bytes()};
  return write_file_atomically(folder / kCaches,
                               json{{"l1_l2", l1_l2}, {"l2_memory", l2_memory}}.dump() + "\n");
}

// Table III's name of a program: without the suite that our list puts before it.
std::string papers_name(const std::string& program) {
  for (const std::string_view suite : {"sdk-", "shoc-", "pannotia-"}) {
    if (program.starts_with(suite)) return program.substr(suite.size());
  }
  return program;
}

struct Planned {
  std::string name;
  fs::path folder;
  std::vector<std::string> command;
  json what;  // for KeptRuns
  std::string failure;
};

// Runs one application in a process of its own. Error cancelled; others belong to it alone.
Status run_one(const Planned& planned) {
  std::error_code ec;
  fs::remove_all(planned.folder, ec);
  fs::create_directories(planned.folder, ec);
  if (ec) return fail(ErrorCode::io_error, ec.message(), planned.folder.string());
  sim::DriverSettings settings;
  settings.trace_values = false;  // caches ask for addresses alone
  const auto settings_file = planned.folder / "settings.toml";
  WW_TRY(sim::write_driver_settings(settings_file, settings));
  runner::Job job{planned.command, (planned.folder / "log").string()};
  job.environment = {{"WIREWATT_COUNTERS", (planned.folder / kCounters).string()},
                     {"WIREWATT_SAMPLES", (planned.folder / kSamples).string()},
                     {"WIREWATT_TRACE", (planned.folder / kTrace).string()},
                     {"WIREWATT_SETTINGS", settings_file.string()}};
  int code = 0;
  WW_TRY(runner::run_jobs({job}, 1, [&](std::size_t, int ended_with) {
    code = ended_with;
    return true;
  }));
  Status done;
  if (code != 0) {
    done = fail(ErrorCode::device_error, fmt::format("ended with {}; its log says why", code),
                job.log);
  } else {
    done = replay_caches(planned.folder);
  }
  fs::remove(planned.folder / kTrace, ec);
  return done;
}

// Reads what the run left, and prices it.
Result<Application> read_one(const Planned& planned, const model::WireModel& model) {
  Application app;
  app.name = papers_name(planned.name);
  WW_ASSIGN(traffic, session::read_traffic({(planned.folder / kCounters).string()}, kTarget));
  WW_ASSIGN(bytes, papers_bytes(traffic));
  app.bytes = bytes;
  for (const auto& kernel : traffic.kernels) {
    app.seconds += kernel.time_s.value_or(0);
    for (std::size_t s = 0; s < app.moved.size(); ++s) {
      app.moved[s] += kernel.segments[s].bytes.value_or(0);
    }
  }
  const auto at_papers_rate = [&](const std::array<double, 3>& of_segments) {
    model::KernelTraffic all;
    all.kernel = planned.name;
    all.dispatches = traffic.dispatches;
    all.time_s = app.seconds;
    for (std::size_t s = 0; s < of_segments.size(); ++s) all.segments[s].bytes = of_segments[s];
    model::EstimateOptions paper;
    paper.data = model::random_words_at_rate(0.34);
    return model::estimate(model, {all}, paper);
  };
  WW_ASSIGN(by_paper, at_papers_rate(app.bytes));
  WW_ASSIGN(by_moved, at_papers_rate(app.moved));
  WW_ASSIGN(by_monitors, model::estimate(model, traffic.kernels, {}));
  WW_ASSIGN(dynamic_j, runner::dynamic_energy_j((planned.folder / kSamples).string()));
  model::add_dynamic_energy(by_paper, dynamic_j);
  model::add_dynamic_energy(by_moved, dynamic_j);
  model::add_dynamic_energy(by_monitors, dynamic_j);
  if (!by_paper.share_percent) {
    app.failure = by_paper.share_reason;
    return app;
  }
  app.share = by_paper.share_percent->value;
  if (by_moved.share_percent) app.share_moved = by_moved.share_percent->value;
  app.dynamic_w = by_paper.dynamic_w.value_or(0);
  for (std::size_t s = 0; s < app.share_percent.size(); ++s) {
    app.share_percent[s] = 100 * by_paper.total.segments[s].energy_j->value / dynamic_j.value;
  }
  if (by_monitors.share_percent) app.share_measured = by_monitors.share_percent->value;
  app.toggle_rate = by_monitors.total.segments[1].toggle_rate;
  const model::ChipPower* chip = model::chip_power(kTarget);
  if (chip != nullptr && by_paper.total.energy_j) {
    WW_ASSIGN(bounds,
              model::share_bounds(*chip, *by_paper.total.energy_j, traffic.totals, app.seconds));
    app.bounds = std::move(bounds);
  }
  const double lines = total(traffic, "TCP_TOTAL_CACHE_ACCESSES_sum");
  if (lines > 0) {
    app.l1_hit_percent = 100 * total(traffic, "TCP_CACHE_HIT_sum") / lines;
    app.vector_per_line = total(traffic, "SQ_INSTS_VALU") / lines;
  }
  const std::string caches_file = (planned.folder / kCaches).string();
  WW_ASSIGN(text, read_file(caches_file));
  WW_ASSIGN(caches, parse_json(text, caches_file));
  try {
    app.l1_l2 = caches.at("l1_l2").get<std::array<double, 2>>();
    app.l2_memory = caches.at("l2_memory").get<std::array<double, 2>>();
  } catch (const json::exception& e) {
    return fail(ErrorCode::parse_error, e.what(), caches_file);
  }
  return app;
}

std::vector<Planned> plan_of(const ApplicationsRequest& request, const std::string& self) {
  std::vector<Planned> plan;
  for (const auto& info : workloads::list()) {
    if (info.paper.find("iiswc16") == std::string_view::npos) continue;
    const std::string name(info.name);
    Planned planned{name,
                    fs::path(request.out) / "applications" / request.size / name,
                    {self, "workloads", "run", name, "--size", request.size, "--device", kDevice},
                    json{{"application", name}, {"size", request.size}, {"device", kDevice}},
                    {}};
    plan.push_back(std::move(planned));
  }
  return plan;
}

// Runs what is not kept, `at_once` at a time.
Status run_missing(std::vector<Planned>& plan, KeptRuns& kept, unsigned at_once,
                   const std::function<void(const std::string&, double, double)>& done) {
  std::vector<Planned*> missing;
  for (Planned& planned : plan) {
    if (!kept.has(planned.folder, planned.what)) missing.push_back(&planned);
  }
  std::mutex lock;
  std::size_t next = 0;
  auto finished = static_cast<double>(plan.size() - missing.size());
  Status written;
  const auto work = [&] {
    for (;;) {
      Planned* mine = nullptr;
      {
        const std::lock_guard guard(lock);
        if (!written || interrupted() || next == missing.size()) return;
        mine = missing[next++];
      }
      const Status ran = run_one(*mine);
      const std::lock_guard guard(lock);
      if (ran) {
        written = kept.keep(mine->folder, mine->what);
      } else {
        mine->failure = ran.error().text();
        if (!interrupted()) log::warn("{}: {}", mine->name, mine->failure);
      }
      done(mine->name, ++finished, static_cast<double>(plan.size()));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < at_once; ++i) threads.emplace_back(work);
    work();
  }
  if (interrupted()) return fail(ErrorCode::cancelled, "interrupted; run it again to go on", "");
  return written;
}

}  // namespace

Result<ApplicationRuns> run_applications(
    const ApplicationsRequest& request, const model::WireModel& model,
    const std::function<void(const std::string&, double, double)>& done) {
  WW_ASSIGN(self, own_program());
  std::vector<Planned> plan = plan_of(request, self.string());
  KeptRuns kept(request.build);
  WW_TRY(run_missing(plan, kept, request.at_once, done));
  ApplicationRuns runs;
  for (const Planned& planned : plan) {
    runs.programs.push_back(planned.name);
    Application app;
    app.name = papers_name(planned.name);
    app.failure = planned.failure;
    if (app.good()) {
      auto read = read_one(planned, model);
      if (read) {
        app = std::move(*read);
      } else {
        app.failure = read.error().text();
      }
    }
    runs.applications.push_back(std::move(app));
  }
  runs.builds.assign(kept.builds().begin(), kept.builds().end());
  return runs;
}

}  // namespace ww::study::iiswc16
