#include "slurm_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "slurm_commands.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A command that was killed while it submitted may have left jobs that its record lacks.
Status add_unrecorded(SlurmJobs& jobs) {
  WW_ASSIGN(own, own_jobs(jobs.cluster.empty() ? jobs.clusters : std::vector{jobs.cluster}));
  const auto task = task_script(jobs.folder, 0).front() + " ";
  for (const auto& [job, command] : own) {
    const bool collects = command == collect_script(jobs.folder).string();
    if (!collects && !command.starts_with(task)) continue;
    if (jobs.cluster.empty()) jobs.cluster = job.cluster;
    if (collects) {
      jobs.collect = job.number;
    } else if (std::ranges::find(jobs.arrays, job.number) == jobs.arrays.end()) {
      jobs.arrays.push_back(job.number);
    }
  }
  return {};
}

Result<std::optional<SlurmJobs>> recorded_jobs(const fs::path& folder) {
  const auto file = folder / "jobs.json";
  if (!fs::exists(file)) return std::nullopt;
  WW_ASSIGN(text, read_file(file));
  const auto document = json::parse(text, nullptr, false);
  SlurmJobs jobs;
  jobs.folder = folder;
  try {
    if (document.value("ended", false)) return std::nullopt;
    document.at("arrays").get_to(jobs.arrays);
    document.at("collect").get_to(jobs.collect);
    document.at("tasks").get_to(jobs.tasks);
    jobs.cluster = document.value("cluster", "");
    jobs.clusters = document.value("clusters", std::vector<std::string>{});
  } catch (const json::exception&) {
    return fail(ErrorCode::parse_error, "not a list of jobs", file.string());
  }
  if (jobs.collect.empty()) WW_TRY(add_unrecorded(jobs));
  return jobs;
}

struct Standing {
  std::size_t active{};                        // tasks
  std::size_t running{};                       // running tasks
  std::vector<std::string> lost;               // jobs that neither squeue nor sacct lists
  bool is_accounted{};                         // the active ones are so by sacct alone
  std::map<std::string, std::size_t> waiting;  // tasks by Slurm's reason
  [[nodiscard]] bool is_over() const { return active == 0 && lost.empty(); }
};

// Asks Slurm about the jobs. `ended` keeps those that have ended: Slurm forgets them.
Result<Standing> standing(const SlurmJobs& jobs, std::set<std::string>& ended,
                          bool despite_interrupt = false) {
  const auto all = jobs.all();
  WW_ASSIGN(queue, queue_states(jobs.cluster, all, despite_interrupt));
  ended.merge(queue.ended);
  Standing now;
  now.active = queue.active();
  now.running = queue.running();
  now.waiting = std::move(queue.waiting);
  std::error_code ec;
  if (now.active > 0 || fs::exists(tasks_ended(jobs.folder), ec)) return now;
  const auto keep_open = [&] {
    now.lost.clear();
    std::ranges::copy_if(all, std::back_inserter(now.lost),
                         [&](const std::string& job) { return !ended.contains(job); });
  };
  keep_open();
  if (now.lost.empty()) return now;
  auto accounted = accounted_states(jobs.cluster, now.lost, despite_interrupt);
  if (!accounted) {
    if (accounted.error().code == ErrorCode::cancelled) return tl::unexpected(accounted.error());
    return now;  // many sites have no accounting
  }
  ended.merge(accounted->ended);
  now.active = accounted->active();
  now.running = accounted->running();
  now.is_accounted = now.active > 0;
  keep_open();
  return now;
}

}  // namespace

fs::path submission_folder(const fs::path& sweep, int submission) {
  return sweep / "slurm" / std::to_string(submission);
}

int last_submission(const fs::path& sweep) {
  int last = 0;
  std::error_code ec;
  for (fs::directory_iterator at(sweep / "slurm", ec); !ec && at != fs::directory_iterator();
       at.increment(ec)) {
    last = std::max(last, std::atoi(at->path().filename().c_str()));
  }
  return last;
}

fs::path tasks_ended(const fs::path& submission) {
  return submission / "tasks-ended";
}

std::vector<std::string> task_script(const fs::path& submission, std::uint64_t first_chunk) {
  return {(submission / "task.sh").string(), std::to_string(first_chunk)};
}

fs::path collect_script(const fs::path& submission) {
  return submission / "collect.sh";
}

bool wait_for(std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  while (!interrupted() && Clock::now() < end) {
    std::this_thread::sleep_for(
        std::min<Clock::duration>(std::chrono::milliseconds(100), end - Clock::now()));
  }
  return !interrupted();
}

Status write_jobs(const SlurmJobs& jobs, bool ended) {
  const json document{{"arrays", jobs.arrays},   {"collect", jobs.collect},   {"tasks", jobs.tasks},
                      {"cluster", jobs.cluster}, {"clusters", jobs.clusters}, {"ended", ended}};
  return write_file_atomically(jobs.folder / "jobs.json", document.dump() + "\n");
}

std::vector<std::string> SlurmJobs::all() const {
  auto ids = arrays;
  if (!collect.empty()) ids.push_back(collect);
  return ids;
}

std::string SlurmJobs::text() const {
  return fmt::format("{}{}{}", fmt::join(all(), ", "), cluster.empty() ? "" : " on cluster ",
                     cluster);
}

Result<std::optional<SlurmJobs>> queued_jobs(const fs::path& folder) {
  WW_ASSIGN(jobs, recorded_jobs(submission_folder(folder, last_submission(folder))));
  if (!jobs) return jobs;
  std::set<std::string> ended;
  WW_ASSIGN(now, standing(*jobs, ended));
  if (!now.is_over()) return jobs;
  WW_TRY(write_jobs(*jobs, true));
  return std::nullopt;
}

Status watch(const SlurmJobs& jobs, const OnTasks& on_tasks, const SlurmPatience& patience) {
  auto pause = patience.first_poll;
  auto answered = Clock::now();  // by the controller
  auto listed = answered;        // every job that had not ended
  bool away = false;
  bool missed = false;
  std::set<std::string> reported;
  std::set<std::string> ended;
  for (;;) {
    const auto now = standing(jobs, ended);
    if (now) {
      if (away) log::info("Slurm's controller answers again");
      away = false;
      answered = Clock::now();
      if (now->is_over()) return write_jobs(jobs, true);
      const bool lost = now->active == 0;
      if (!lost) listed = answered;
      if ((lost || now->is_accounted) && !missed) {
        log::warn(
            "squeue does not list the jobs {} any more, and {}; waiting, nothing is "
            "submitted again",
            jobs.text(),
            lost ? "sacct does not know how they ended" : "sacct says that they go on");
      }
      missed = lost || now->is_accounted;
      if (answered - listed > patience.silence) {
        return fail(
            ErrorCode::device_error,
            fmt::format(
                "neither squeue nor sacct lists the jobs {}, and nothing is submitted again "
                "while they may run. If they are gone, say so with: wirewatt sweep cancel "
                "FOLDER. Then --resume runs what is missing",
                jobs.text()),
            "squeue");
      }
      if (!lost) {
        // The collecting job is one of them until the end.
        const auto left = std::min(jobs.tasks, now->active - 1);
        on_tasks(jobs.tasks - left, jobs.tasks, fmt::format("{} tasks running", now->running));
      }
      for (const auto& [reason, count] : now->waiting) {
        static const std::set<std::string> usual{"None",       "Resources",         "Priority",
                                                 "Dependency", "JobArrayTaskLimit", "BeginTime"};
        if (!usual.contains(reason) && reported.insert(reason).second) {
          log::warn("{} tasks wait: Slurm says {}", count, reason);
        }
      }
    } else if (now.error().code == ErrorCode::cancelled) {
      return tl::unexpected(now.error());
    } else {
      if (!away) log::warn("{}; waiting for it, the jobs go on", now.error().text());
      away = true;
      listed = Clock::now();  // silence says nothing about the jobs
      if (Clock::now() - answered > patience.silence) {
        return fail(ErrorCode::device_error,
                    "Slurm has not answered for ten minutes; the jobs go on, and the same command "
                    "with --resume comes back to them",
                    "squeue");
      }
    }
    if (!wait_for(pause)) return fail(ErrorCode::cancelled, "interrupted");
    pause = std::min(pause * 5 / 4, patience.longest_poll);
  }
}

Status cancel(const SlurmJobs& jobs, const SlurmPatience& patience) {
  const auto ids = jobs.all();
  if (ids.empty()) return write_jobs(jobs, true);
  std::vector<std::string> command{"scancel"};
  command.insert(command.end(), ids.begin(), ids.end());
  command = on_cluster(std::move(command), jobs.cluster);
  const auto end = Clock::now() + patience.cancel;
  auto pause = patience.first_poll;
  std::set<std::string> ended;
  // A scancel that succeeds says nothing: it also does for jobs that it does not find.
  bool asked = false;
  std::string trouble;
  do {
    if (!asked) {
      const auto answer = slurm(command, true);
      asked = answer.has_value();
      if (!asked) trouble = answer.error().message + "; ";
    }
    const auto now = standing(jobs, ended, true);
    if (now && now->active == 0) {
      if (!now->lost.empty()) {
        log::warn("Slurm does not list the jobs {} any more: they are taken to have ended",
                  fmt::join(now->lost, ", "));
      }
      return write_jobs(jobs, true);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 5 / 4, patience.longest_poll);
  } while (Clock::now() < end);
  return fail(ErrorCode::device_error,
              fmt::format("{}the jobs may still run. See what has become of them with: squeue{} "
                          "--jobs={}",
                          trouble, jobs.cluster.empty() ? "" : " --clusters=" + jobs.cluster,
                          fmt::join(ids, ",")),
              fmt::format("{}", fmt::join(command, " ")));
}

}  // namespace ww::sweep
