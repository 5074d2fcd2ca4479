// Sweeps on a cluster. They are job arrays of Slurm in which each task is a chunk of points.
// Workers share a file system with the submitting machine and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
// Reads the limits from Slurm. Errors: missing_dependency (no Slurm on this machine), device_error
// (the controller does not answer).
[[nodiscard]] Result<SlurmLimits> slurm_limits();

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

// One submission's jobs.
struct SlurmJobs {
  int submission{};
  std::vector<std::string> arrays;
  std::string collect;
  std::size_t tasks{};
  [[nodiscard]] std::vector<std::string> all() const;
};

// Writes the points and scripts, and submits the arrays and the collecting job that waits for them.
// If the site accepts no more at a time, it waits for tasks to end (and calls `on_tasks`) unless
// `detach`. Errors: io_error, permission_denied, device_error (what sbatch said), cancelled.
Result<SlurmJobs> submit(const Sweep& sweep, const Program& program, const SlurmLayout& layout,
                         const Pilot& pilot, bool detach, const OnTasks& on_tasks);

// The last submission whose jobs are still in the queue, if any. Errors: parse_error.
[[nodiscard]] Result<std::optional<SlurmJobs>> queued_jobs(const std::filesystem::path& folder);

// Waits for all jobs to leave the queue. It tolerates a controller that is absent for a while.
// Errors: cancelled; device_error after ten minutes without an answer.
Status watch(const SlurmJobs& jobs, const OnTasks& on_tasks);

// Cancels the remaining jobs and waits until their workers have written their results.
// Errors: device_error.
Status cancel(const SlurmJobs& jobs);

// Runs a task: the points of one chunk, except those that it finished before it was requeued.
Status run_chunk(const Sweep& sweep, int submission, std::uint64_t chunk, const Program& program);

}  // namespace ww::sweep
