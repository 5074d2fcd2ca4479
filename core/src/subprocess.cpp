#include "ww/core/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ww/core/interrupt.hpp"

extern char** environ;

namespace ww {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_output = std::size_t{16} << 20;

// What execvpe needs, made before fork: the child may not allocate.
struct Words {
  std::vector<std::string> texts;
  std::vector<char*> pointers;
  void finish() {
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }
};

Words environment_of(const ProcessRequest& request) {
  Words words;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : request.environment) {
      replaced = replaced || text.starts_with(name + "=");
    }
    if (!replaced) words.texts.emplace_back(text);
  }
  for (const auto& [name, value] : request.environment) words.texts.push_back(name + "=" + value);
  words.finish();
  return words;
}

struct Pipe {
  int read_end{-1};
  int write_end{-1};
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() { close_one(read_end); }
  void close_write() { close_one(write_end); }
  ~Pipe() {
    close_read();
    close_write();
  }

 private:
  static void close_one(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// Reads what is there; false at the end of the stream.
bool drain(int end, std::string& into) {
  std::array<char, 16384> chunk{};
  const ssize_t n = ::read(end, chunk.data(), chunk.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  const auto room = most_output - std::min(most_output, into.size());
  into.append(chunk.data(), std::min(room, static_cast<std::size_t>(n)));
  return true;
}

[[noreturn]] void become(const std::string& program, const std::string& folder, Words& arguments,
                         Words& environment, int out, int err, int failure) {
  // A group of its own, so that a limit ends what the program starts as well.
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::dup2(out, STDOUT_FILENO);
  int code = 0;
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) code = errno;
  if (code == 0) {
    ::execve(program.c_str(), arguments.pointers.data(), environment.pointers.data());
    code = errno;
  }
  const ssize_t ignored = ::write(failure, &code, sizeof code);
  static_cast<void>(ignored);
  ::_exit(127);
}

}  // namespace

std::filesystem::path find_program(const std::string& name) {
  namespace fs = std::filesystem;
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name) : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code ec;
    if (fs::is_regular_file(candidate, ec) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return {};
}

Result<ProcessResult> run_process(const ProcessRequest& request) {
  if (request.command.empty()) return fail(ErrorCode::invalid_argument, "no program to run");
  const std::string& name = request.command.front();
  const std::string program = find_program(name).string();
  if (program.empty()) {
    const bool there = ::access(name.c_str(), F_OK) == 0;
    return fail(there ? ErrorCode::permission_denied : ErrorCode::not_found,
                there ? "it is not a program that may be run" : "no such program on PATH", name);
  }
  Words arguments;
  arguments.texts = request.command;
  arguments.finish();
  Words environment = environment_of(request);
  const std::string folder = request.folder.string();
  Pipe out;
  Pipe err;
  Pipe failure;
  if (!out.open() || !err.open() || !failure.open()) {
    return fail(ErrorCode::io_error, "cannot make a pipe", name);
  }
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::io_error, "cannot start a process", name);
  if (child == 0) {
    become(program, folder, arguments, environment, out.write_end, err.write_end,
           failure.write_end);
  }
  out.close_write();
  err.close_write();
  failure.close_write();
  ::setpgid(child, child);  // whichever of the two comes first

  ProcessResult result;
  const auto deadline = Clock::now() + request.limit;
  bool stopped = false;
  bool reaped = false;
  int status = 0;
  // A grandchild may hold the pipes open after the program ended: wait for the program.
  while (!reaped || out.read_end >= 0 || err.read_end >= 0) {
    const bool told_to_stop = interrupted() && !request.despite_interrupt;
    if (!stopped && (Clock::now() >= deadline || told_to_stop)) {
      result.timed_out = !told_to_stop;
      ::kill(-child, SIGKILL);
      stopped = true;
    }
    std::array<pollfd, 2> wait{{{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}}};
    const int ready = ::poll(wait.data(), wait.size(), 20);
    if (ready > 0) {
      if (wait[0].revents != 0 && !drain(out.read_end, result.output)) out.close_read();
      if (wait[1].revents != 0 && !drain(err.read_end, result.errors)) err.close_read();
    }
    if (!reaped) {
      const pid_t ended = ::waitpid(child, &status, WNOHANG);
      reaped = ended == child || (ended < 0 && errno != EINTR);
    } else if (ready == 0) {
      break;
    }
  }
  int code = 0;
  if (::read(failure.read_end, &code, sizeof code) == sizeof code) {
    return fail(code == EACCES ? ErrorCode::permission_denied : ErrorCode::io_error,
                std::string("cannot be run: ") + std::strerror(code), name);
  }
  if (stopped && !result.timed_out) return fail(ErrorCode::cancelled, "interrupted", name);
  result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.exit_code = result.signal != 0 ? 128 + result.signal : WEXITSTATUS(status);
  return result;
}

}  // namespace ww
