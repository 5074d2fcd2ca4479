// Another program, run to its end in a folder of its own with a time limit.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"

namespace ww {

struct ProcessRequest {
  std::vector<std::string> command;  // program (looked for on PATH) and arguments; no shell
  std::filesystem::path folder{};    // working directory; empty: this process's own
  std::vector<std::pair<std::string, std::string>> environment{};  // added to this process's
  std::chrono::milliseconds limit{std::chrono::minutes(10)};
  bool despite_interrupt{};  // runs to its end even after Ctrl-C: to clean up
};

struct ProcessResult {
  int exit_code{};     // 128 + signal where a signal ended it
  int signal{};        // 0: none
  bool timed_out{};    // it and its process group were killed at the limit
  std::string output;  // stdout, at most 16 MiB; what is beyond is dropped
  std::string errors;  // stderr, likewise
};

// Errors: not_found (no such program), permission_denied (it may not be run), invalid_argument (no
// command), io_error (no process or pipe to be had), cancelled (this process was interrupted; the
// child is ended). A program that fails is no error: see exit_code.
[[nodiscard]] Result<ProcessResult> run_process(const ProcessRequest& request);

// The program's path as PATH has it, or empty.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

}  // namespace ww
