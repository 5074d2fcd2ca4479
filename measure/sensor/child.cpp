#include "ww/measure/child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "ww/core/process.hpp"

namespace ww::measure {
namespace {

constexpr std::chrono::milliseconds kTimeToStop{2000};
constexpr std::chrono::milliseconds kLookForStop{100};

void write_all(int fd, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(fd, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

// Returns the library's last message, on one line.
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
                                 std::chrono::milliseconds patience,
                                 const std::function<bool()>& stop) {
  WW_ASSIGN(answer, make_pipe());
  WW_ASSIGN(errors, make_pipe());
  ProcessSetup setup;
  setup.out = kNullStream;
  setup.err = errors.write_end.number();
  const auto work = [&] {
    write_all(answer.write_end.number(), body() + '\0');
    return 0;
  };
  WW_ASSIGN(child, Process::fork(work, setup));
  answer.write_end.close();
  errors.write_end.close();
  std::string text, said;
  bool late = false;
  bool stopped = false;
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (answer.read_end.open() || errors.read_end.open()) {
    if (!stopped && stop && stop()) {
      stopped = true;
      deadline = std::min(deadline, std::chrono::steady_clock::now() + kTimeToStop);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    std::array<pollfd, 2> waits{
        {{answer.read_end.number(), POLLIN, 0}, {errors.read_end.number(), POLLIN, 0}}};
    const auto wait = stop ? std::min(left, kLookForStop) : left;
    const int ready =
        left.count() > 0 ? poll(waits.data(), waits.size(), static_cast<int>(wait.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && wait < left) continue;
    if (ready <= 0) {
      late = true;
      child.signal(SIGKILL);
      break;
    }
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      std::array<char, 4096> chunk{};
      const ssize_t n = read(waits[i].fd, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        (i == 0 ? answer : errors).read_end.close();
      } else {
        (i == 0 ? text : said).append(chunk.data(), static_cast<std::size_t>(n));
      }
    }
    // A library's own helpers may keep stderr open: the answer is enough.
    if (!text.empty() && text.back() == '\0') break;
  }
  const ProcessEnd end = child.wait();
  if (late && stopped) return fail(ErrorCode::cancelled, "it was stopped");
  if (late) {
    return fail(ErrorCode::device_error,
                fmt::format("it did not answer within {} s{}",
                            std::chrono::duration<double>(patience).count(), last_words(said)));
  }
  if (end.signal != 0) {
    return fail(ErrorCode::device_error,
                fmt::format("it crashed ({}){}", strsignal(end.signal), last_words(said)));
  }
  if (text.empty() || text.back() != '\0') {
    return fail(ErrorCode::device_error, fmt::format("it ended the process (exit code {}){}",
                                                     end.exit_code, last_words(said)));
  }
  text.pop_back();
  return text;
}

}  // namespace ww::measure
