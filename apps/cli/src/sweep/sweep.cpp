// wirewatt sweep: many points of a plan, here or on a cluster.
#include "ww/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "sweep/sweep_dry_run.hpp"
#include "sweep/sweep_program.hpp"
#include "sweep/sweep_show.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/folder_lock.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::cli {
namespace {

struct SweepArguments {
  std::string plan;
  std::string out;
  std::string executor{"local"};
  std::vector<std::string> slurm_options;
  unsigned jobs{};
  bool resume{};
  bool dry_run{};
  bool detach{};
  bool json{};
};

// A task that ends its worker takes its neighbours along: they go again in ever smaller tasks.
constexpr int kMaxRounds = 3;
constexpr std::uint64_t kSmallerBy = 16;

// Times at which each point's newest record was begun; what changes it is a new record.
using Seen = std::unordered_map<sweep::PointHash, std::int64_t, sweep::PointHasher>;

Result<Seen> seen_records(const sweep::Sweep& sweep) {
  Seen seen;
  WW_TRY(sweep::each_record(sweep, [&](const sweep::Record& record) {
    auto& newest = seen[record.hash];
    newest = std::max(newest, record.started_ms);
  }));
  return seen;
}

Result<std::vector<std::uint32_t>> untouched(const sweep::Sweep& sweep,
                                             const std::vector<std::uint32_t>& todo,
                                             const Seen& before) {
  WW_ASSIGN(now, seen_records(sweep));
  std::vector<std::uint32_t> left;
  for (const auto point : todo) {
    const auto& hash = sweep.points->hash(point);
    const auto at = now.find(hash);
    const auto old = before.find(hash);
    const bool fresh = at != now.end() && (old == before.end() || at->second != old->second);
    if (!fresh) left.push_back(point);
  }
  return left;
}

// The points that the pilot did not settle. What failed for want of a device here may run
// elsewhere.
std::vector<std::uint32_t> beside_pilot(const sweep::Sweep& sweep,
                                        const std::vector<std::uint32_t>& todo,
                                        const sweep::Pilot& pilot) {
  std::unordered_set<sweep::PointHash, sweep::PointHasher> settled;
  for (const auto& record : pilot.records) {
    if (sweep::Pilot::counts(record)) settled.insert(record.hash);
  }
  std::vector<std::uint32_t> left;
  std::ranges::copy_if(todo, std::back_inserter(left), [&](std::uint32_t point) {
    return !settled.contains(sweep.points->hash(point));
  });
  return left;
}

// `left_running`: the jobs that --detach leaves to themselves.
Status run_on_slurm(const sweep::Sweep& sweep, const sweep::Program& program,
                    const SweepArguments& arguments,
                    std::optional<sweep::SlurmJobs>& left_running) {
  WW_ASSIGN(limits, sweep::slurm_limits(*sweep.plan));
  Progress progress("tasks", "tasks");
  const sweep::OnTasks on_tasks = [&](std::size_t done, std::size_t total,
                                      const std::string& note) {
    progress.update(static_cast<double>(done), static_cast<double>(total), note);
  };
  const auto see_through = [&](const sweep::SlurmJobs& jobs) -> Status {
    auto status = sweep::watch(jobs, on_tasks);
    if (status || status.error().code != ErrorCode::cancelled) return status;
    progress.finish();
    log::info("cancelling the jobs {}", jobs.text());
    if (const auto cancelled = sweep::cancel(jobs); !cancelled) {
      log::warn("{}", cancelled.error().text());
    }
    return status;
  };
  WW_ASSIGN(queued, sweep::queued_jobs(sweep.folder));
  if (queued && arguments.detach) {
    left_running = std::move(*queued);
    return {};
  }
  if (queued) {
    log::info("this sweep was submitted before, as the jobs {}: going on with them",
              queued->text());
    WW_TRY(see_through(*queued));
  }
  WW_ASSIGN(todo, sweep::missing_points(sweep));
  if (todo.empty()) return {};
  WW_ASSIGN(pilot, sweep::run_pilot(sweep, todo, program, true));
  auto left = beside_pilot(sweep, todo, pilot);
  WW_ASSIGN(before, seen_records(sweep));
  std::uint64_t divide_by = 1;
  for (int round = 0; round < kMaxRounds && !left.empty(); ++round) {
    const auto layout = sweep::lay_out(sweep, left, pilot, limits, divide_by);
    WW_ASSIGN(jobs, sweep::submit(sweep, program, layout, pilot, arguments.detach, on_tasks));
    log::info(
        "submitted {} points as {} tasks of {} in {} arrays: the jobs {}, the last of "
        "which collects the results",
        left.size(), jobs.tasks, layout.points_per_task, jobs.arrays.size(), jobs.text());
    if (arguments.detach) {
      left_running = std::move(jobs);
      return {};
    }
    WW_TRY(see_through(jobs));
    WW_ASSIGN(still, untouched(sweep, left, before));
    left = std::move(still);
    divide_by *= kSmallerBy;
    if (!left.empty() && round + 1 < kMaxRounds) {
      log::warn("{} points came back without a record; submitting them again, in smaller tasks",
                left.size());
    }
  }
  return {};
}

Status run_here(const sweep::Sweep& sweep, const sweep::Program& program,
                const SweepArguments& arguments) {
  const auto queued = sweep::queued_jobs(sweep.folder);
  if (queued && *queued) {
    return fail(ErrorCode::invalid_argument,
                "jobs of this sweep may still be in Slurm's queue: go on with --executor slurm, or "
                "cancel them with: wirewatt sweep cancel",
                sweep.folder.string());
  }
  WW_ASSIGN(todo, sweep::missing_points(sweep));
  Progress progress(sweep.plan->name, "points");
  std::size_t done = 0;
  std::size_t failed = 0;
  auto status =
      sweep::run_local(sweep, todo, arguments.jobs, program, [&](const sweep::Record& record) {
        if (!is_final(record.status)) ++failed;
        progress.update(static_cast<double>(++done), static_cast<double>(todo.size()),
                        failed > 0 ? fmt::format("{} failed", failed) : std::string());
      });
  progress.finish();
  return status;
}

int summarise(const sweep::Sweep& sweep, const sweep::StatusCounts& counts, double elapsed_s,
              const SweepArguments& arguments) {
  const auto ok = counts.at(sweep::PointStatus::ok);
  if (arguments.json) {
    nlohmann::json of = nlohmann::json::object();
    for (const auto& [status, count] : counts.of) of[std::string(to_string(status))] = count;
    print_json({{"folder", sweep.folder.string()},
                {"database", sweep.database().string()},
                {"points", counts.total()},
                {"unique_points", sweep.points->unique()},
                {"status", of},
                {"elapsed_s", elapsed_s}});
  } else {
    fmt::print("{}: {} of {} points ok{}{}, {}\n", sweep.plan->name, ok, counts.total(),
               ok == counts.total() ? "" : "; ", failures_text(counts), human_duration(elapsed_s));
    if (ok != counts.total()) {
      if (const auto status = print_failures(sweep.database()); !status) {
        return report_error(status.error());
      }
      fmt::print("run what is missing or failed again: wirewatt sweep {} --out {} --resume\n",
                 arguments.plan, sweep.folder.string());
    }
    fmt::print("results: wirewatt sweep show {}\n", sweep.folder.string());
  }
  return ok == counts.total() ? 0 : 1;
}

// Options that the executor would not look at.
Status check_executor(const SweepArguments& arguments) {
  const bool on_slurm = arguments.executor == "slurm";
  const std::tuple<bool, const char*, const char*> unread[] = {
      {!on_slurm && arguments.detach, "--detach", "needs --executor slurm"},
      {!on_slurm && !arguments.slurm_options.empty(), "--slurm-option", "needs --executor slurm"},
      {on_slurm && arguments.jobs != 0, "--jobs",
       "is for this machine; under Slurm the plan's slots say how many points a task runs at a "
       "time"}};
  for (const auto& [given, option, why] : unread) {
    if (given) return fail(ErrorCode::invalid_argument, why, option);
  }
  return {};
}

int say_what_runs(const sweep::Sweep& sweep, const sweep::SlurmJobs& jobs, bool json) {
  if (json) {
    print_json({{"folder", sweep.folder.string()},
                {"detached", true},
                {"tasks", jobs.tasks},
                {"cluster", jobs.cluster},
                {"jobs", jobs.all()}});
    return 0;
  }
  fmt::print(
      "the jobs {} run without this command; come back with --resume, or show what is there:\n"
      "  wirewatt sweep show {}\n",
      jobs.text(), sweep.folder.string());
  return 0;
}

// Two commands would run the same points twice, and each would pack what the other still writes.
Result<FolderLock> lock_folder(const sweep::Sweep& sweep) {
  WW_TRY(make_folder(sweep.folder));
  return FolderLock::take(sweep.folder, "sweep", "running the sweep in");
}

int run(const SweepArguments& arguments) {
  namespace fs = std::filesystem;
  const auto start = std::chrono::steady_clock::now();
  if (const auto fits = check_executor(arguments); !fits) return report_error(fits.error());
  const auto program = swept_program();
  if (!program) return report_error(program.error());
  const auto folder = arguments.out.empty()
                          ? fs::path(fs::path(arguments.plan).stem().string() + ".sweep")
                          : fs::path(arguments.out);
  auto sweep = sweep::plan_sweep(arguments.plan, folder, *program);
  if (!sweep) return report_error(sweep.error());
  auto& options = sweep->plan->slurm.options;
  options.insert(options.end(), arguments.slurm_options.begin(), arguments.slurm_options.end());
  if (arguments.dry_run) {
    return dry_run(
        *sweep, *program,
        {arguments.executor == "slurm", arguments.resume, arguments.jobs, arguments.json});
  }
  const auto lock = lock_folder(*sweep);
  if (!lock) return report_error(lock.error());
  if (const auto made = sweep::make_folder(*sweep, *program, arguments.resume); !made) {
    return report_error(made.error());
  }
  std::optional<sweep::SlurmJobs> left_running;
  const auto status = arguments.executor == "slurm"
                          ? run_on_slurm(*sweep, *program, arguments, left_running)
                          : run_here(*sweep, *program, arguments);
  if (left_running) return say_what_runs(*sweep, *left_running, arguments.json);
  if (!status && status.error().code != ErrorCode::cancelled) return report_error(status.error());
  const auto counts = sweep::collect(*sweep);
  if (!counts) return report_error(counts.error());
  if (!status) {
    log::warn("interrupted; what was finished is kept, --resume goes on with it");
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const int code = summarise(*sweep, *counts, elapsed.count(), arguments);
  return status ? code : exit_code(ErrorCode::cancelled);
}

// The points are needed to make the database: workers elsewhere need not make them.
Result<sweep::Sweep> opened(const std::string& folder, const sweep::Program& program, bool points) {
  WW_ASSIGN(sweep, sweep::open_sweep(folder, program));
  if (points) {
    WW_ASSIGN(expanded, sweep::Points::expand(*sweep.plan, sweep.program_hash,
                                              program.input_files(sweep.plan->command)));
    sweep.points = std::make_unique<sweep::Points>(std::move(expanded));
  }
  return sweep;
}

int run_worker(const std::string& folder, int submission, std::uint64_t chunk) {
  const auto program = swept_program();
  if (!program) return report_error(program.error());
  const auto sweep = opened(folder, *program, false);
  if (!sweep) return report_error(sweep.error());
  const auto status = sweep::run_chunk(*sweep, submission, chunk, *program);
  return status ? 0 : report_error(status.error());
}

int run_collect(const std::string& folder) {
  const auto program = swept_program();
  if (!program) return report_error(program.error());
  const auto sweep = opened(folder, *program, true);
  if (!sweep) return report_error(sweep.error());
  const auto counts = sweep::collect(*sweep);
  if (!counts) return report_error(counts.error());
  const auto failures = failures_text(*counts);
  fmt::print("{} points, {} ok{}{}\n", counts->total(), counts->at(sweep::PointStatus::ok),
             failures.empty() ? "" : "; ", failures);
  return 0;
}

int run_cancel(const std::string& folder) {
  if (std::error_code ec;
      !std::filesystem::exists(std::filesystem::path(folder) / "sweep.json", ec)) {
    return report_error(
        {ErrorCode::not_found, "this folder has no sweep.json: it is no sweep's", folder});
  }
  const auto queued = sweep::queued_jobs(std::filesystem::absolute(folder));
  if (!queued) return report_error(queued.error());
  if (!*queued) {
    fmt::print("no jobs of this sweep are in the queue\n");
    return 0;
  }
  if (const auto done = sweep::cancel(**queued); !done) return report_error(done.error());
  fmt::print("cancelled {}; what was finished is kept\n", (*queued)->text());
  return 0;
}

void add_folder(CLI::App& command, const std::shared_ptr<std::string>& folder) {
  command.add_option("folder", *folder, "Folder of the sweep")->required();
}

void add_worker_commands(CLI::App& command, Outcome& outcome) {
  auto folder = std::make_shared<std::string>();
  auto* collect =
      command.add_subcommand("collect", "Put the results that have arrived into sweep.db");
  add_folder(*collect, folder);
  collect->footer("Example:\n  wirewatt sweep collect plan.sweep");
  collect->callback([folder, &outcome] { outcome.exit_code = run_collect(*folder); });

  auto* cancel = command.add_subcommand("cancel", "Cancel a sweep's jobs in Slurm's queue");
  add_folder(*cancel, folder);
  cancel->footer("Example:\n  wirewatt sweep cancel plan.sweep");
  cancel->callback([folder, &outcome] { outcome.exit_code = run_cancel(*folder); });

  auto submission = std::make_shared<int>();
  auto chunk = std::make_shared<std::uint64_t>();
  auto* work =
      command.add_subcommand("work", "Run one task of a job array; the job's script calls this");
  add_folder(*work, folder);
  work->add_option("--submission", *submission, "Which")->required();
  work->add_option("--chunk", *chunk, "Which of its chunks of points")->required();
  work->group("");
  work->callback([=, &outcome] { outcome.exit_code = run_worker(*folder, *submission, *chunk); });
}

}  // namespace

void add_sweep(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("sweep", "Run every point of a plan, here or on a cluster (Slurm)");
  auto arguments = std::make_shared<SweepArguments>();
  command->add_option("plan", arguments->plan, "The plan (TOML; docs/sweeps.md)");
  as_output_folder(command->add_option("-o,--out", arguments->out,
                                       "Folder for the results (default: PLAN.sweep)"));
  command->add_option("--executor", arguments->executor, "Where the points run: local or slurm")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command->add_option("--jobs", arguments->jobs,
                      "local: points at a time (default: what cores and memory allow)");
  command
      ->add_option("--slurm-option", arguments->slurm_options,
                   "An option for sbatch, as --slurm-option=--partition=gpu; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--detach", arguments->detach, "slurm: submit the jobs and return at once");
  command->add_flag("--resume", arguments->resume, "Run only what is missing or failed");
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "Check the plan, run up to three points, and say how long the sweep would take");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt sweep mesh.toml --dry-run\n"
      "  wirewatt sweep mesh.toml\n"
      "  wirewatt sweep mesh.toml --executor slurm --slurm-option=--partition=cpu\n"
      "  wirewatt sweep show mesh.sweep --pareto min:avg_packet_latency,min:energy_pj.total");
  add_sweep_show(*command, outcome);
  add_worker_commands(*command, outcome);
  command->callback([arguments, command, &outcome] {
    if (!command->get_subcommands().empty()) return;
    if (arguments->plan.empty()) {
      outcome.exit_code = report_error(
          {ErrorCode::invalid_argument, "name a plan, as: wirewatt sweep mesh.toml", "sweep"});
      return;
    }
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
