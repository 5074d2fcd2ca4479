#include "ww/sweep/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "slurm_commands.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds first_poll{300};
constexpr milliseconds longest_poll{10'000};
constexpr auto patience = std::chrono::minutes(10);
constexpr auto submit_patience = std::chrono::minutes(2);
constexpr auto cancel_patience = std::chrono::seconds(20);

fs::path submission_folder(const fs::path& sweep, int submission) {
  return sweep / "slurm" / std::to_string(submission);
}

int last_submission(const fs::path& folder) {
  int last = 0;
  std::error_code ec;
  for (fs::directory_iterator at(folder / "slurm", ec); !ec && at != fs::directory_iterator();
       at.increment(ec)) {
    last = std::max(last, std::atoi(at->path().filename().c_str()));
  }
  return last;
}

// False when interrupted.
bool wait_for(milliseconds time) {
  const auto end = Clock::now() + time;
  while (!interrupted() && Clock::now() < end) {
    std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds(100), end - Clock::now()));
  }
  return !interrupted();
}

// points.jsonl: a line a point. chunks: a line of 26 characters a chunk, where in the file its
// points start [bytes] and how many there are; a task reads its own line of it and its own points.
Status write_points(const Sweep& sweep, const SlurmLayout& layout, const fs::path& folder) {
  WW_ASSIGN(points, StreamedFile::create(folder / "points.jsonl"));
  std::string chunks;
  for (const auto& chunk : layout.chunks) {
    chunks += fmt::format("{:016} {:08}\n", points.size(), chunk.count);
    for (std::uint64_t i = chunk.first; i < chunk.first + chunk.count; ++i) {
      const auto work = work_of(sweep, layout.order[i]);
      const json line{
          {"point", work.hash.text()}, {"arguments", work.arguments}, {"host", work.host}};
      WW_TRY(points.write(line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"));
    }
  }
  WW_TRY(points.keep());
  return write_file_atomically(folder / "chunks", chunks);
}

Status write_scripts(const Sweep& sweep, const Program& program, int submission,
                     const fs::path& folder) {
  const auto exe = shell_quoted(program.executable.string());
  const auto where = shell_quoted(sweep.folder.string());
  WW_TRY(write_file_atomically(
      folder / "task.sh",
      fmt::format("#!/bin/sh\n# A task of a wirewatt sweep: chunk $1 + its number in the array.\n"
                  "exec {} sweep work {} --submission {} --chunk $(($1 + SLURM_ARRAY_TASK_ID))\n",
                  exe, where, submission)));
  return write_file_atomically(
      folder / "collect.sh",
      fmt::format("#!/bin/sh\n# Puts the results of a wirewatt sweep together.\n"
                  "exec {} sweep collect {}\n",
                  exe, where));
}

Status write_jobs(const SlurmJobs& jobs, const fs::path& folder) {
  const json document{{"arrays", jobs.arrays}, {"collect", jobs.collect}, {"tasks", jobs.tasks}};
  return write_file_atomically(folder / "jobs.json", document.dump() + "\n");
}

bool is_lasting(const Error& error) {
  // What a site refuses for good; all else may pass: a full queue, a controller that restarts.
  for (const auto* text :
       {"nvalid", "nrecognized", "not permitted", "denied", "not available", "cannot be satisfied",
        "More processors requested", "Memory specification"}) {
    if (error.message.find(text) != std::string::npos) return true;
  }
  return error.code != ErrorCode::device_error;
}

// Submits one job; while the site takes no more, waits.
Result<std::string> submit_one(const std::vector<std::string>& arguments, const SlurmJobs& before,
                               bool detach, const OnTasks& on_tasks) {
  const auto start = Clock::now();
  auto pause = first_poll;
  for (;;) {
    auto printed = slurm(arguments);
    if (printed) {
      // "123" or "123;cluster"
      auto id = printed->substr(0, printed->find_first_of(";\n"));
      if (!id.empty()) return id;
      return fail(ErrorCode::device_error, "sbatch printed no job number: " + *printed,
                  arguments.front());
    }
    const bool others_run = !detach && !before.arrays.empty();
    if (is_lasting(printed.error()) || (!others_run && Clock::now() - start > submit_patience)) {
      return tl::unexpected(printed.error());
    }
    on_tasks(0, 1, "waiting to submit: " + printed.error().message);
    if (!wait_for(pause)) return fail(ErrorCode::cancelled, "interrupted");
    pause = std::min(pause * 2, longest_poll);
  }
}

}  // namespace

std::vector<std::string> SlurmJobs::all() const {
  auto ids = arrays;
  if (!collect.empty()) ids.push_back(collect);
  return ids;
}

Result<SlurmJobs> submit(const Sweep& sweep, const Program& program, const SlurmLayout& layout,
                         const Pilot& pilot, bool detach, const OnTasks& on_tasks) {
  SlurmJobs jobs;
  jobs.submission = last_submission(sweep.folder) + 1;
  const auto folder = submission_folder(sweep.folder, jobs.submission);
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) {
    return fail(ErrorCode::io_error, fmt::format("cannot make this folder: {}", ec.message()),
                folder.string());
  }
  WW_TRY(write_points(sweep, layout, folder));
  WW_TRY(write_scripts(sweep, program, jobs.submission, folder));
  const auto give_up = [&](const Error& error) {
    const auto cancelled = cancel(jobs);
    if (!cancelled) spdlog::warn("{}", cancelled.error().text());
    return tl::unexpected(error);
  };
  for (const auto& array : layout.arrays) {
    auto arguments = sbatch_arguments(sweep, jobs.submission, layout, array, pilot);
    arguments.push_back((folder / "task.sh").string());
    arguments.push_back(std::to_string(array.first_chunk));
    auto id = submit_one(arguments, jobs, detach, on_tasks);
    if (!id) return give_up(id.error());
    jobs.arrays.push_back(std::move(*id));
    jobs.tasks += array.tasks;
    WW_TRY(write_jobs(jobs, folder));
  }
  std::vector<std::string> arguments{
      "sbatch",
      "--parsable",
      "--requeue",
      fmt::format("--job-name=collect-{}", sweep.plan->name),
      fmt::format("--output={}", (folder / "collect.log").string()),
      fmt::format("--chdir={}", sweep.folder.string()),
      fmt::format("--dependency=afterany:{}", fmt::join(jobs.arrays, ":"))};
  arguments.insert(arguments.end(), sweep.plan->slurm.options.begin(),
                   sweep.plan->slurm.options.end());
  arguments.push_back((folder / "collect.sh").string());
  auto id = submit_one(arguments, jobs, detach, on_tasks);
  if (!id) return give_up(id.error());
  jobs.collect = std::move(*id);
  WW_TRY(write_jobs(jobs, folder));
  return jobs;
}

Result<std::optional<SlurmJobs>> queued_jobs(const fs::path& folder) {
  const int last = last_submission(folder);
  const auto file = submission_folder(folder, last) / "jobs.json";
  if (last == 0 || !fs::exists(file)) return std::nullopt;
  WW_ASSIGN(text, read_file(file));
  const auto document = json::parse(text, nullptr, false);
  SlurmJobs jobs;
  jobs.submission = last;
  try {
    document.at("arrays").get_to(jobs.arrays);
    document.at("collect").get_to(jobs.collect);
    document.at("tasks").get_to(jobs.tasks);
  } catch (const json::exception&) {
    return fail(ErrorCode::parse_error, "not a list of jobs", file.string());
  }
  WW_ASSIGN(states, queue_states(jobs.all()));
  if (states.active() == 0) return std::nullopt;
  return jobs;
}

Status watch(const SlurmJobs& jobs, const OnTasks& on_tasks) {
  auto pause = first_poll;
  auto answered = Clock::now();
  bool away = false;
  std::set<std::string> told;
  for (;;) {
    const auto states = queue_states(jobs.all());
    if (states) {
      if (away) spdlog::info("Slurm's controller answers again");
      away = false;
      answered = Clock::now();
      const auto active = states->active();
      if (active == 0) return {};
      // The collecting job is one of them until the end.
      const auto left = std::min(jobs.tasks, active - std::min<std::size_t>(1, active));
      const auto running = states->tasks.find("RUNNING");
      on_tasks(
          jobs.tasks - left, jobs.tasks,
          fmt::format("{} tasks running", running == states->tasks.end() ? 0 : running->second));
      for (const auto& [reason, count] : states->waiting) {
        static const std::set<std::string> usual{"None",       "Resources",         "Priority",
                                                 "Dependency", "JobArrayTaskLimit", "BeginTime"};
        if (!usual.contains(reason) && told.insert(reason).second) {
          spdlog::warn("{} tasks wait: Slurm says {}", count, reason);
        }
      }
    } else if (states.error().code == ErrorCode::cancelled) {
      return tl::unexpected(states.error());
    } else {
      if (!away) spdlog::warn("{}; waiting for it, the jobs go on", states.error().text());
      away = true;
      if (Clock::now() - answered > patience) {
        return fail(ErrorCode::device_error,
                    "Slurm has not answered for ten minutes; the jobs go on, and the same command "
                    "with --resume comes back to them",
                    "squeue");
      }
    }
    if (!wait_for(pause)) return fail(ErrorCode::cancelled, "interrupted");
    pause = std::min(pause * 5 / 4, longest_poll);
  }
}

Status cancel(const SlurmJobs& jobs) {
  auto ids = jobs.all();
  if (ids.empty()) return {};
  std::vector<std::string> command{"scancel"};
  command.insert(command.end(), ids.begin(), ids.end());
  WW_TRY(slurm(command, true));
  const auto start = Clock::now();
  while (Clock::now() - start < cancel_patience) {
    const auto text = slurm(
        {"squeue", "--noheader", "--format=%T", fmt::format("--jobs={}", fmt::join(ids, ","))},
        true);
    if (!text || text->empty()) return {};
    std::this_thread::sleep_for(milliseconds(300));
  }
  return {};
}

}  // namespace ww::sweep
