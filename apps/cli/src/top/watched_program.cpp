#include "top/watched_program.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "ww/core/interrupt.hpp"

namespace ww::cli {

WatchedProgram::WatchedProgram(const std::vector<std::string>& command,
                               const Environment& environment)
    : result_(std::async(std::launch::async, [command, environment] {
        ProcessRequest request;
        request.command = command;
        request.environment = environment;
        request.limit = kUnlimited;
        return run_process(request);
      })) {}

bool WatchedProgram::ended() const {
  return result_.wait_for(std::chrono::milliseconds(0)) == std::future_status::ready;
}

Result<ProcessResult> WatchedProgram::finish() {
  // The process runner listens to the interrupt; a second signal would end this program.
  if (!ended() && !interrupted()) std::raise(SIGTERM);
  return result_.get();
}

Result<int> WatchedProgram::show_result(const Result<ProcessResult>& finished) {
  if (!finished) {
    if (finished.error().code == ErrorCode::cancelled) return 0;
    return tl::unexpected(finished.error());
  }
  fmt::print(stderr, "{}{}", finished->output, finished->errors);
  return finished->exit_code;
}

}  // namespace ww::cli
