// Sweeps on a cluster. They are job arrays of Slurm in which each task is a chunk of points.
// Workers share a file system with the submitting machine and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ww/sweep/sweep.hpp"

namespace ww::sweep {

// Limits of a site. They are Slurm's own defaults if Slurm is not available to report them.
struct SlurmLimits {
  std::uint64_t max_array_size{1001};  // MaxArraySize: one more than the tasks of an array
  std::uint64_t max_jobs{10'000};      // MaxJobCount: tasks that the controller keeps at a time
  std::uint64_t cpus{2};               // of the cluster
};
// Reads the limits of the cluster that the plan's options of sbatch name, or of the local one. Of
// several clusters it gives the smallest limits. Errors: missing_dependency (no Slurm on this
// machine), device_error (the controller does not answer).
[[nodiscard]] Result<SlurmLimits> slurm_limits(const Plan& plan);

struct SlurmChunk {
  std::uint64_t first{};  // in the list of points to run
  std::uint64_t count{};
};

struct SlurmArray {
  std::uint64_t first_chunk{};
  std::uint64_t tasks{};
  std::string host;  // where it must run; empty: anywhere
};

// How points become tasks.
struct SlurmLayout {
  std::vector<std::uint32_t> order;  // the points to run, those of one machine together
  std::uint64_t points_per_task{1};
  std::vector<SlurmChunk> chunks;
  std::vector<SlurmArray> arrays;
  double task_s{};  // what a task should take
};
// Divides points into tasks that run for about `chunk_s`, by the pilot's time. Tasks are shorter if
// there would be fewer than four tasks a CPU, but never under a second's work. They are longer if
// there would be more than max_tasks. A pilot without points leaves the time unknown; a point is
// then taken to need the plan's time limit. `divide_by` makes them smaller by that factor, to
// separate points that kill their worker from others.
[[nodiscard]] SlurmLayout lay_out(const Sweep& sweep, const std::vector<std::uint32_t>& todo,
                                  const Pilot& pilot, const SlurmLimits& limits,
                                  std::uint64_t divide_by = 1);

// The arguments of sbatch, without the array's script.
[[nodiscard]] std::vector<std::string> sbatch_arguments(const Sweep& sweep, int submission,
                                                        const SlurmLayout& layout,
                                                        const SlurmArray& array,
                                                        const Pilot& pilot);

// Called now and then with tasks done, tasks in all and a short text.
using OnTasks = std::function<void(std::size_t done, std::size_t total, const std::string& note)>;

// How often Slurm is asked, and for how long an answer may fail to come.
struct SlurmPatience {
  std::chrono::milliseconds first_poll{300};
  std::chrono::milliseconds longest_poll{10'000};
  std::chrono::milliseconds submit = std::chrono::minutes(2);
  std::chrono::milliseconds silence = std::chrono::minutes(10);  // of the controller, or on a job
  std::chrono::milliseconds cancel = std::chrono::seconds(20);
};

// One submission's jobs. They all run on one cluster. The folder's jobs.json records them.
struct SlurmJobs {
  std::filesystem::path folder;       // of the submission
  std::vector<std::string> clusters;  // those that the options of sbatch named
  std::string cluster;                // empty: the local one, which is in no federation
  std::vector<std::string> arrays;
  std::string collect;
  std::size_t tasks{};
  [[nodiscard]] std::vector<std::string> all() const;
  // "123, 124 on cluster c"
  [[nodiscard]] std::string text() const;
};

// Writes the points and scripts, and submits the arrays and the collecting job that waits for them.
// If the site accepts no more at a time, it waits for tasks to end (and calls `on_tasks`) unless
// `detach`. A call of sbatch that failed, timed out or printed no number may have left a job: the
// queue is searched for it before the job is submitted again. An error, Ctrl-C included, cancels
// what was submitted. Errors: io_error, permission_denied, device_error (what sbatch said),
// cancelled.
Result<SlurmJobs> submit(const Sweep& sweep, const Program& program, const SlurmLayout& layout,
                         const Pilot& pilot, bool detach, const OnTasks& on_tasks,
                         const SlurmPatience& patience = {});

// The last submission if not all of its jobs are known to have ended, also where the command that
// submitted them was killed meanwhile. Errors: parse_error, and those of Slurm's programs.
[[nodiscard]] Result<std::optional<SlurmJobs>> queued_jobs(const std::filesystem::path& folder);

// Waits until all jobs have ended. A job has ended if squeue or sacct lists it as such, or if the
// collecting job began, which waits for all others. It tolerates a controller that is absent for a
// while, and a job that neither lists for a while. Errors: cancelled; device_error after ten
// minutes without an answer, or without a trace of a job.
Status watch(const SlurmJobs& jobs, const OnTasks& on_tasks, const SlurmPatience& patience = {});

// Cancels the remaining jobs and waits until their workers have written their results.
// Errors: device_error (jobs that may still run; it names the command that ends them).
Status cancel(const SlurmJobs& jobs, const SlurmPatience& patience = {});

// Runs a task: the points of one chunk, except those that it finished before it was requeued.
Status run_chunk(const Sweep& sweep, int submission, std::uint64_t chunk, const Program& program);

}  // namespace ww::sweep
