#include "slurm_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ww/core/subprocess.hpp"

namespace ww::sweep {
namespace {

// States that a task leaves for another; in all others it has ended.
constexpr std::array<std::string_view, 12> active_states{
    "PENDING",  "RUNNING",      "CONFIGURING",  "COMPLETING", "SUSPENDED", "REQUEUED",
    "RESIZING", "REQUEUE_HOLD", "SPECIAL_EXIT", "STAGE_OUT",  "SIGNALING", "STOPPED"};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string last_line(const std::string& text) {
  const auto end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
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
    return fail(ErrorCode::device_error, last_line(trimmed(result->errors)), command.front());
  }
  return std::move(result->output);
}

std::size_t QueueStates::active() const {
  std::size_t sum = 0;
  for (const auto& [state, count] : tasks) {
    const bool is =
        std::find(active_states.begin(), active_states.end(), state) != active_states.end();
    if (is) sum += count;
  }
  return sum;
}

Result<QueueStates> queue_states(const std::vector<std::string>& jobs) {
  QueueStates states;
  if (jobs.empty()) return states;
  auto text = slurm({"squeue", "--noheader", "--array", "--states=all", "--format=%T %r",
                     fmt::format("--jobs={}", fmt::join(jobs, ","))});
  if (!text) {
    if (text.error().message.find("Invalid job id") != std::string::npos) return states;
    return tl::unexpected(text.error());
  }
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    const auto space = std::min(line.find(' '), line.size());
    const std::string state(line.substr(0, space));
    if (!state.empty()) ++states.tasks[state];
    if (state == "PENDING")
      ++states.waiting[std::string(line.substr(std::min(space + 1, line.size())))];
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
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
