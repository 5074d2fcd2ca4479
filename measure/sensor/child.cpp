#include "ww/measure/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ww::measure {
namespace {

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  bool open() { return pipe2(ends.data(), O_CLOEXEC) == 0; }
  void close_end(std::size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
};

void write_all(int fd, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(fd, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

// What the library said last, on one line.
std::string last_words(std::string text) {
  constexpr std::size_t most = 300;
  if (text.size() > most) text = "..." + text.substr(text.size() - most);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text.empty() ? std::string() : ": " + text;
}

}  // namespace

Result<std::string> run_in_child(const std::function<std::string()>& body,
                                 std::chrono::milliseconds patience) {
  Pipe answer, errors;
  if (!answer.open() || !errors.open()) return fail(ErrorCode::io_error, "cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) {
    return fail(ErrorCode::io_error,
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    dup2(errors.ends[1], STDERR_FILENO);
    if (const int null = open("/dev/null", O_WRONLY); null >= 0) dup2(null, STDOUT_FILENO);
    write_all(answer.ends[1], body() + '\0');
    _exit(0);  // the parent's destructors are not this process's to run
  }
  answer.close_end(1);
  errors.close_end(1);
  std::string text, said;
  bool late = false;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (answer.ends[0] >= 0 || errors.ends[0] >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waits{{{answer.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
    const int ready =
        left.count() > 0 ? poll(waits.data(), waits.size(), static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      std::array<char, 4096> chunk{};
      const ssize_t n = read(waits[i].fd, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        (i == 0 ? answer : errors).close_end(0);
      } else {
        (i == 0 ? text : said).append(chunk.data(), static_cast<std::size_t>(n));
      }
    }
    // A library's own helpers may keep stderr open: the answer is enough.
    if (!text.empty() && text.back() == '\0') break;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) {
    return fail(ErrorCode::device_error,
                fmt::format("it did not answer within {} s{}",
                            std::chrono::duration<double>(patience).count(), last_words(said)));
  }
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::device_error,
                fmt::format("it crashed ({}){}", strsignal(WTERMSIG(status)), last_words(said)));
  }
  if (text.empty() || text.back() != '\0') {
    return fail(ErrorCode::device_error,
                fmt::format("it ended the process (exit code {}){}",
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1, last_words(said)));
  }
  text.pop_back();
  return text;
}

}  // namespace ww::measure
