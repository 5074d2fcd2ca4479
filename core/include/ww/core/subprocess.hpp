// Another program, run to its end: for its output, with a time limit, or in the foreground.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/process.hpp"
#include "ww/core/result.hpp"

namespace ww {

// The limit of a program that may run for as long as it needs.
inline constexpr std::chrono::milliseconds kUnlimited = std::chrono::hours(24 * 365);

struct ProcessRequest {
  std::vector<std::string> command;  // program (looked for on PATH) and arguments; no shell
  std::filesystem::path folder{};    // working directory; empty: this process's own
  std::vector<std::pair<std::string, std::string>> environment{};  // added to this process's
  std::chrono::milliseconds limit{std::chrono::minutes(10)};
  // Time to put things right between SIGTERM, which the program gets at the limit or at Ctrl-C, and
  // its kill; zero: it is killed at once.
  std::chrono::milliseconds time_to_end{0};
  bool despite_interrupt{};  // runs to its end even after Ctrl-C: to clean up
  bool shows_errors{};       // its stderr is this process's; ProcessResult::errors stays empty
  bool ends_with_parent{};   // killed when the thread that runs it ends, however it ends
};

struct ProcessResult {
  int exit_code{};     // 128 + signal where a signal ended it
  int signal{};        // 0: none
  bool timed_out{};    // it and its process group were ended at the limit
  std::string output;  // stdout, at most 16 MiB; what is beyond is dropped
  std::string errors;  // stderr, likewise
};

// Errors: not_found (no such program), permission_denied (it may not be run), invalid_argument (no
// command), io_error (no process or pipe to be had), cancelled (this process was interrupted; the
// child is ended). A program that fails is no error: see exit_code.
[[nodiscard]] Result<ProcessResult> run_process(const ProcessRequest& request);

struct ForegroundEnd {
  ProcessEnd end;
  bool asked_to_end{};  // a signal asked this process to end meanwhile
};
// Runs the command as a shell would in the foreground, with this process's standard streams, and
// waits for it. The signals SIGTERM and SIGHUP are passed on to it; SIGINT and SIGQUIT, which are
// typed at a terminal, reach it by themselves. `setup` may redirect its streams; it may not ask for
// a group of its own. Call it on one thread at a time. Errors: those of Process::start.
[[nodiscard]] Result<ForegroundEnd> run_in_foreground(const std::vector<std::string>& command,
                                                      const ProcessSetup& setup = {});

}  // namespace ww
