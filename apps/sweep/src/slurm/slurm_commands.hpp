// Slurm's own programs, called and understood.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sweep {

// Runs one of Slurm's programs and gives what it printed. Errors: missing_dependency (it is not
// installed), device_error (what it said on stderr), cancelled.
[[nodiscard]] Result<std::string> slurm(const std::vector<std::string>& command,
                                        bool despite_interrupt = false);

// Sends the command to the cluster of that name; to the local one where the name is empty.
[[nodiscard]] std::vector<std::string> on_cluster(std::vector<std::string> command,
                                                  const std::string& cluster);

// The clusters that options of sbatch name, or else its environment. Empty: the local one.
[[nodiscard]] std::vector<std::string> named_clusters(const std::vector<std::string>& options);

// The name of this machine's cluster if it is part of a federation, else empty.
[[nodiscard]] std::string home_in_federation();

struct JobName {
  std::string number;
  std::string cluster;  // empty: Slurm named none
  bool operator==(const JobName&) const = default;
};
// The job in what sbatch printed: the last line that is "123", "123;cluster" or "Submitted batch
// job 123 on cluster c". Plugins and wrappers of a site print other lines beside it.
[[nodiscard]] std::optional<JobName> submitted_job(std::string_view printed);

struct OwnJob {
  JobName job;
  std::string command;  // its script and arguments
};
// Returns this user's jobs on these clusters, or on the local one, ended ones too while they are
// remembered. Runs even after Ctrl-C. Errors as slurm().
[[nodiscard]] Result<std::vector<OwnJob>> own_jobs(const std::vector<std::string>& clusters);

// Whether a task in this state has ended for good.
[[nodiscard]] bool is_final_state(std::string_view state);

// Tasks in the queue by state, finished ones too while the controller remembers them.
struct QueueStates {
  std::map<std::string, std::size_t> tasks;    // PENDING, RUNNING, COMPLETED, ...
  std::map<std::string, std::size_t> waiting;  // pending ones by Slurm's reason
  std::set<std::string> ended;                 // jobs with tasks that have all ended
  [[nodiscard]] std::size_t active() const;
  [[nodiscard]] std::size_t running() const;
};
// Returns the states that squeue lists of these jobs. It lists nothing of jobs that the controller
// does not know. Errors as slurm().
[[nodiscard]] Result<QueueStates> queue_states(const std::string& cluster,
                                               const std::vector<std::string>& jobs,
                                               bool despite_interrupt = false);

// Returns the states by the site's accounting (sacct), which keeps jobs longer than the queue.
[[nodiscard]] Result<QueueStates> accounted_states(const std::string& cluster,
                                                   const std::vector<std::string>& jobs,
                                                   bool despite_interrupt = false);

// 'it'\''s': as the shell reads it back.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace ww::sweep
