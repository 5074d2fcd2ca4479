#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "slurm_commands.hpp"
#include "slurm_jobs.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

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
      collect_script(folder),
      fmt::format("#!/bin/sh\n# Puts the results of a wirewatt sweep together. It starts when all "
                  "tasks have ended, and\n# leaves a file that says so.\n"
                  ": > {}\nexec {} sweep collect {}\n",
                  shell_quoted(tasks_ended(folder).string()), exe, where));
}

bool is_lasting(const Error& error) {
  // These are refused for good; all else may pass: a full queue, a controller that restarts.
  for (const auto* text :
       {"nvalid", "nrecognized", "not permitted", "denied", "not available", "cannot be satisfied",
        "More processors requested", "Memory specification"}) {
    if (error.message.find(text) != std::string::npos) return true;
  }
  return error.code != ErrorCode::device_error;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Submits the jobs of one submission.
class Submitter {
 public:
  Submitter(SlurmJobs& jobs, bool detach, const OnTasks& on_tasks, const SlurmPatience& patience)
      : jobs_(jobs), detach_(detach), on_tasks_(on_tasks), patience_(patience) {}

  // The job's number. While the site takes no more jobs, waits.
  Result<std::string> submit(std::vector<std::string> arguments,
                             const std::vector<std::string>& script) {
    // Jobs that depend on each other must be on one cluster.
    if (!jobs_.cluster.empty()) arguments.push_back("--clusters=" + jobs_.cluster);
    arguments = joined(std::move(arguments), script);
    const auto command = fmt::format("{}", fmt::join(script, " "));
    const auto start = Clock::now();
    auto pause = patience_.first_poll;
    for (;;) {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      // Ctrl-C does not end sbatch: the job may be there already, and its number must be known.
      const auto printed = slurm(arguments, true);
      if (printed) {
        if (const auto job = submitted_job(*printed)) return taken(*job);
      } else if (is_lasting(printed.error())) {
        return tl::unexpected(printed.error());
      }
      const auto error =
          printed ? Error{ErrorCode::device_error, "printed no job number: " + *printed, "sbatch"}
                  : printed.error();
      on_tasks_(0, 1, "waiting to submit: " + error.message);
      // The job may be there all the same. It is submitted again only when the queue does not list
      // it, and never where sbatch reported success.
      if (is_late(error)) pause = patience_.longest_poll;
      for (bool may_be_there = true; may_be_there;) {
        const bool waited = wait_for(pause);
        pause = std::min(pause * 2, patience_.longest_poll);
        if (const auto queue = own_jobs(clusters())) {
          const auto found = std::ranges::find(*queue, command, &OwnJob::command);
          if (found != queue->end()) return taken(found->job);
          may_be_there = printed.has_value();
        }
        is_unsure_ = true;
        if (!waited) {
          log::warn(
              "sbatch: {}; wirewatt sweep cancel FOLDER cancels the job if it comes all the "
              "same",
              error.message);
          return fail(ErrorCode::cancelled, "interrupted");
        }
        const bool others_run = !detach_ && !jobs_.arrays.empty();
        const bool is_hopeless = printed && pause == patience_.longest_poll;
        if (is_hopeless || (!others_run && Clock::now() - start > patience_.submit)) {
          return tl::unexpected(error);
        }
      }
    }
  }

  // Whether a call of sbatch that gave up on its job may have submitted it all the same.
  [[nodiscard]] bool is_unsure() const { return is_unsure_; }

 private:
  // Answers that say nothing about the job: the controller may still have it before it.
  static bool is_late(const Error& error) {
    return error.message.find("timed out") != std::string::npos ||
           error.message.find("no answer") != std::string::npos;
  }

  [[nodiscard]] std::vector<std::string> clusters() const {
    return jobs_.cluster.empty() ? jobs_.clusters : std::vector{jobs_.cluster};
  }

  std::string taken(const JobName& job) {
    is_unsure_ = false;
    const auto& named = jobs_.clusters;
    if (!jobs_.cluster.empty()) return job.number;
    if (!job.cluster.empty()) {
      jobs_.cluster = job.cluster;
    } else if (named.size() == 1 && named.front() != "all") {
      jobs_.cluster = named.front();
    } else if (jobs_.arrays.empty()) {
      jobs_.cluster = home_in_federation();
    }
    return job.number;
  }

  SlurmJobs& jobs_;
  bool detach_;
  const OnTasks& on_tasks_;
  const SlurmPatience& patience_;
  bool is_unsure_{};
};

}  // namespace

Result<SlurmJobs> submit(const Sweep& sweep, const Program& program, const SlurmLayout& layout,
                         const Pilot& pilot, bool detach, const OnTasks& on_tasks,
                         const SlurmPatience& patience) {
  const auto& options = sweep.plan->slurm.options;
  const int submission = last_submission(sweep.folder) + 1;
  SlurmJobs jobs;
  jobs.folder = submission_folder(sweep.folder, submission);
  jobs.clusters = named_clusters(options);
  jobs.tasks = layout.chunks.size();
  WW_TRY(ww::make_folder(jobs.folder));
  WW_TRY(write_points(sweep, layout, jobs.folder));
  WW_TRY(write_scripts(sweep, program, submission, jobs.folder));
  WW_TRY(write_jobs(jobs));  // if this process is killed, the jobs can be found by their scripts
  Submitter submitter(jobs, detach, on_tasks, patience);
  const auto give_up = [&](const Error& error) -> Result<SlurmJobs> {
    const auto cancelled = cancel(jobs, patience);
    if (!cancelled) log::warn("{}", cancelled.error().text());
    // The job of a call without an answer may still come.
    if (submitter.is_unsure()) WW_TRY(write_jobs(jobs));
    return tl::unexpected(error);
  };
  for (const auto& array : layout.arrays) {
    auto number = submitter.submit(sbatch_arguments(sweep, submission, layout, array, pilot),
                                   task_script(jobs.folder, array.first_chunk));
    if (!number) return give_up(number.error());
    jobs.arrays.push_back(std::move(*number));
    if (const auto written = write_jobs(jobs); !written) return give_up(written.error());
  }
  auto arguments = joined(
      {"sbatch", "--parsable", "--requeue", fmt::format("--job-name=collect-{}", sweep.plan->name),
       fmt::format("--output={}", (jobs.folder / "collect.log").string()),
       fmt::format("--chdir={}", sweep.folder.string())},
      options);
  // After the site's options: a dependency among them is for the tasks.
  arguments.push_back(fmt::format("--dependency=afterany:{}", fmt::join(jobs.arrays, ":")));
  auto number = submitter.submit(std::move(arguments), {collect_script(jobs.folder).string()});
  if (!number) return give_up(number.error());
  jobs.collect = std::move(*number);
  if (const auto written = write_jobs(jobs); !written) return give_up(written.error());
  return jobs;
}

}  // namespace ww::sweep
