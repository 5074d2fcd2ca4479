#include "child_view.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace ww::microbench {
namespace {

constexpr auto patience = std::chrono::seconds(20);  // a driver may hang at its first call

}  // namespace

Result<std::string> in_child(const std::function<std::string()>& body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return fail(ErrorCode::io_error, "cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) {
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return fail(ErrorCode::io_error, "cannot start a process");
  }
  if (child == 0) {
    close(pipe_ends[0]);
    const std::string text = body();
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(pipe_ends[1], text.data() + sent, text.size() - sent);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    _exit(0);  // the parent's destructors are not this process's to run
  }
  close(pipe_ends[1]);
  std::string text;
  bool late = false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{pipe_ends[0], POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&wait, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    std::array<char, 4096> chunk{};
    const ssize_t n = read(pipe_ends[0], chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(n));
  }
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return fail(ErrorCode::device_error, "the driver did not answer");
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::device_error,
                fmt::format("the driver crashed (signal {})", WTERMSIG(status)));
  }
  return text;
}

}  // namespace ww::microbench
