#include "ww/runner/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ww::runner {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& file) {
  const auto absolute = fs::absolute(file);
  return absolute.parent_path();
}

namespace {

volatile sig_atomic_t child_process = 0;

volatile sig_atomic_t asked_to_end = 0;

void pass_on(int signal) {
  asked_to_end = 1;
  if (child_process > 0) ::kill(child_process, signal);
}

void note(int) {
  asked_to_end = 1;
}

}  // namespace

Result<int> run_child(const std::vector<std::string>& command, bool quiet) {
  int report[2];  // tells why exec failed; closes by itself where it did not
  if (::pipe2(report, O_CLOEXEC) != 0) {
    return fail(ErrorCode::io_error, "cannot make a pipe", command.front());
  }
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::io_error, "cannot start a process", command.front());
  if (child == 0) {
    if (quiet) {
      const int nothing = ::open("/dev/null", O_WRONLY);
      if (nothing >= 0) ::dup2(nothing, STDOUT_FILENO);
    }
    ::execvp(arguments[0], arguments.data());
    const int number = errno;
    [[maybe_unused]] const auto told = ::write(report[1], &number, sizeof number);
    ::_exit(127);
  }
  child_process = child;
  constexpr std::array passed = {SIGTERM, SIGHUP};
  constexpr std::array typed = {SIGINT, SIGQUIT};  // from a terminal the child gets these itself
  std::array<struct sigaction, 4> before{};
  struct sigaction action {};
  action.sa_handler = pass_on;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    ::sigaction(passed[i], &action, &before[i]);
    if (before[i].sa_handler == SIG_IGN) ::sigaction(passed[i], &before[i], nullptr);  // nohup
  }
  action.sa_handler = note;
  for (std::size_t i = 0; i < typed.size(); ++i) ::sigaction(typed[i], &action, &before[2 + i]);
  ::close(report[1]);
  int number = 0;
  const bool started = ::read(report[0], &number, sizeof number) != sizeof number;
  ::close(report[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child_process = 0;
  for (std::size_t i = 0; i < passed.size(); ++i) ::sigaction(passed[i], &before[i], nullptr);
  for (std::size_t i = 0; i < typed.size(); ++i) ::sigaction(typed[i], &before[2 + i], nullptr);
  if (!started) {
    return fail(number == ENOENT   ? ErrorCode::not_found
                : number == EACCES ? ErrorCode::permission_denied
                                   : ErrorCode::io_error,
                fmt::format("cannot run it: {}", std::strerror(number)), command.front());
  }
  return status;
}

bool asked_to_end_during_child() {
  return asked_to_end != 0;
}

int child_exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace ww::runner
