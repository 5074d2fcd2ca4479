#include "slurm_commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "ww/core/subprocess.hpp"

namespace ww::sweep {
namespace {

// A state that is not among these may change. REVOKED is the state of a job that another cluster of
// the federation runs.
constexpr std::array<std::string_view, 9> kFinalStates{"BOOT_FAIL", "CANCELLED",     "COMPLETED",
                                                       "DEADLINE",  "FAILED",        "NODE_FAIL",
                                                       "PREEMPTED", "OUT_OF_MEMORY", "TIMEOUT"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

template <class Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto line = trimmed(text.substr(0, end)); !line.empty()) take(line);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The line at which Slurm's programs say what went wrong: the last.
std::string last_line(std::string_view text) {
  text = trimmed(text);
  const auto end = text.rfind('\n');
  return std::string(end == std::string_view::npos ? text : text.substr(end + 1));
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (const auto name = trimmed(list.substr(0, comma)); !name.empty()) names.emplace_back(name);
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return names;
}

// Adds a task to the states; `active` collects the jobs of tasks that have not ended.
void count_task(QueueStates& states, std::set<std::string>& active, std::string_view state,
                std::string_view job) {
  ++states.tasks[std::string(state)];
  if (!is_number(job)) return;
  (is_final_state(state) ? states.ended : active).emplace(job);
}

void drop_active(QueueStates& states, const std::set<std::string>& active) {
  for (const auto& job : active) states.ended.erase(job);
}

}  // namespace

Result<std::string> slurm(const std::vector<std::string>& command, bool despite_interrupt) {
  ProcessRequest request;
  request.command = command;
  request.limit = std::chrono::minutes(2);
  request.despite_interrupt = despite_interrupt;
  auto result = run_process(request);
  if (!result) {
    auto error = result.error();
    if (error.code == ErrorCode::not_found) {
      error.code = ErrorCode::missing_dependency;
      error.message =
          "Slurm is not on this machine: log in where it is, install slurm-client, or use "
          "--executor local";
    }
    return tl::unexpected(std::move(error));
  }
  if (result->timed_out) {
    return fail(ErrorCode::device_error, "gave no answer within 2 minutes", command.front());
  }
  if (result->exit_code != 0) {
    return fail(ErrorCode::device_error, last_line(result->errors), command.front());
  }
  return std::move(result->output);
}

std::vector<std::string> on_cluster(std::vector<std::string> command, const std::string& cluster) {
  if (!cluster.empty()) command.insert(command.begin() + 1, "--clusters=" + cluster);
  return command;
}

std::vector<std::string> named_clusters(const std::vector<std::string>& options) {
  std::string names;
  for (const auto* variable : {"SLURM_CLUSTERS", "SBATCH_CLUSTERS"}) {
    if (const char* value = std::getenv(variable); value != nullptr) names = value;
  }
  for (const std::string_view option : options) {
    for (const std::string_view spelling : {"--clusters=", "--cluster=", "-M"}) {
      if (option.starts_with(spelling)) names = trimmed(option.substr(spelling.size()));
    }
  }
  return names_in(names);
}

std::string home_in_federation() {
  const auto shown = slurm({"scontrol", "show", "federation"});
  std::string home;
  if (!shown) return home;
  each_line(*shown, [&](std::string_view line) {  // "Self:       near:127.0.0.1:6817 ID:1 ..."
    constexpr std::string_view kSelf = "Self:";
    if (!line.starts_with(kSelf)) return;
    const auto name = trimmed(line.substr(kSelf.size()));
    home = name.substr(0, name.find(':'));
  });
  return home;
}

std::optional<JobName> submitted_job(std::string_view printed) {
  std::optional<JobName> job;
  each_line(printed, [&](std::string_view line) {
    constexpr std::string_view kWords = "Submitted batch job ";
    constexpr std::string_view kOn = " on cluster ";
    const bool in_words = line.starts_with(kWords);
    if (in_words) line.remove_prefix(kWords.size());
    const std::string_view between = in_words ? kOn : ";";
    const auto end = std::min(line.find(between), line.size());
    if (!is_number(line.substr(0, end))) return;
    const auto cluster = line.substr(std::min(line.size(), end + between.size()));
    if (cluster.find(' ') != std::string_view::npos) return;
    job = JobName{std::string(line.substr(0, end)), std::string(cluster)};
  });
  return job;
}

Result<std::vector<OwnJob>> own_jobs(const std::vector<std::string>& clusters) {
  WW_ASSIGN(listed, slurm(on_cluster({"squeue", "--states=all",
                                      fmt::format("--user={}", ::getuid()), "--format=%F %o"},
                                     fmt::format("{}", fmt::join(clusters, ","))),
                          true));
  std::vector<OwnJob> jobs;
  std::string cluster;
  each_line(listed, [&](std::string_view line) {
    constexpr std::string_view kCluster =
        "CLUSTER:";  // above the jobs of each, where some are named
    if (line.starts_with(kCluster)) cluster = trimmed(line.substr(kCluster.size()));
    const auto space = std::min(line.find(' '), line.size());
    const auto number = line.substr(0, space);
    if (is_number(number)) {
      jobs.push_back({{std::string(number), cluster}, std::string(trimmed(line.substr(space)))});
    }
  });
  return jobs;
}

bool is_final_state(std::string_view state) {
  return std::ranges::find(kFinalStates, state) != kFinalStates.end();
}

std::size_t QueueStates::active() const {
  std::size_t sum = 0;
  for (const auto& [state, count] : tasks) {
    if (!is_final_state(state) && state != "REVOKED") sum += count;
  }
  return sum;
}

std::size_t QueueStates::running() const {
  const auto found = tasks.find("RUNNING");
  return found == tasks.end() ? 0 : found->second;
}

Result<QueueStates> queue_states(const std::string& cluster, const std::vector<std::string>& jobs,
                                 bool despite_interrupt) {
  QueueStates states;
  if (jobs.empty()) return states;
  auto text =
      slurm(on_cluster({"squeue", "--noheader", "--array", "--states=all", "--format=%T %r %F",
                        fmt::format("--jobs={}", fmt::join(jobs, ","))},
                       cluster),
            despite_interrupt);
  if (!text) {
    if (text.error().message.find("Invalid job id") != std::string::npos) return states;
    return tl::unexpected(text.error());
  }
  std::set<std::string> active;
  each_line(*text, [&](std::string_view line) {
    if (line.starts_with("CLUSTER:")) return;
    // The reason, between state and number, may have spaces.
    const auto first = std::min(line.find(' '), line.size());
    const auto state = line.substr(0, first);
    auto reason = trimmed(line.substr(first));
    std::string_view job;
    if (const auto last = reason.rfind(' ');
        last != std::string_view::npos && is_number(reason.substr(last + 1))) {
      job = reason.substr(last + 1);
      reason = trimmed(reason.substr(0, last));
    }
    count_task(states, active, state, job);
    if (state == "PENDING") ++states.waiting[std::string(reason)];
  });
  drop_active(states, active);
  return states;
}

Result<QueueStates> accounted_states(const std::string& cluster,
                                     const std::vector<std::string>& jobs, bool despite_interrupt) {
  WW_ASSIGN(text, slurm(on_cluster({"sacct", "--noheader", "--parsable2", "--allocations",
                                    "--format=JobID,State",
                                    fmt::format("--jobs={}", fmt::join(jobs, ","))},
                                   cluster),
                        despite_interrupt));
  QueueStates states;
  std::set<std::string> active;
  each_line(text, [&](std::string_view line) {  // "123_[4-9]|CANCELLED by 1000"
    const auto bar = line.find('|');
    if (bar == std::string_view::npos) return;
    const auto state = line.substr(bar + 1);
    count_task(states, active, state.substr(0, state.find(' ')),
               line.substr(0, std::min(bar, line.find('_'))));
  });
  drop_active(states, active);
  return states;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace ww::sweep
