#include "ww/core/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

extern char** environ;

namespace ww {
namespace {

namespace fs = std::filesystem;

// Makes execvpe's arguments before fork: the child of a process with threads may not allocate.
class ExecWords {
 public:
  explicit ExecWords(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) {
      pointers_.push_back(text.data());
    }
    pointers_.push_back(nullptr);
  }
  [[nodiscard]] char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> merged_environment(const ProcessSetup& setup) {
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : setup.environment) {
      replaced = replaced || text.starts_with(name + "=");
    }
    if (!replaced) {
      texts.emplace_back(text);
    }
  }
  for (const auto& [name, value] : setup.environment) {
    texts.push_back(fmt::format("{}={}", name, value));
  }
  return texts;
}

void redirect(int stream, int target) {
  if (target == kInheritStream) {
    return;
  }
  const int from = target == kNullStream ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : target;
  if (from < 0) {
    return;
  }
  ::dup2(from, stream);
  if (target == kNullStream && from > STDERR_FILENO) {
    ::close(from);
  }
}

// In the child: does what `setup` asks and gives errno where it fails. Calls what is safe between
// fork and exec only.
int prepare_child(const ProcessSetup& setup, pid_t parent) {
  if (setup.own_group) {
    ::setpgid(0, 0);
  }
  if (setup.signal_at_parents_end != 0) {
    ::prctl(PR_SET_PDEATHSIG, setup.signal_at_parents_end);
    if (::getppid() != parent) {  // it ended before prctl
      ::_exit(127);
    }
  }
  redirect(STDIN_FILENO, setup.in);
  redirect(STDERR_FILENO, setup.err);
  redirect(STDOUT_FILENO, setup.out);
  if (!setup.folder.empty() && ::chdir(setup.folder.c_str()) != 0) {
    return errno;
  }
  return 0;
}

void report_failure(int to, int number) {
  [[maybe_unused]] const ssize_t written = ::write(to, &number, sizeof number);
}

ProcessEnd end_of(int status) {
  ProcessEnd end;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_code = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}

struct Forked {
  pid_t child{};
  int failure{};  // errno of what the child could not do before its work began; 0: nothing
};

// `work` runs in the child. It gets the descriptor that reports a failure and that shows this
// process, by being closed, that the work has begun.
template <class Work>
Result<Forked> fork_child(const ProcessSetup& setup, const std::string& name, const Work& work) {
  // One at a time: a child that another thread forks meanwhile would hold `failure` open.
  static std::mutex one_at_a_time;
  std::unique_lock lock(one_at_a_time);
  WW_ASSIGN(failure, make_pipe());
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(ErrorCode::io_error,
                fmt::format("cannot start a process: {}", std::strerror(errno)), name);
  }
  if (child == 0) {
    if (const int number = prepare_child(setup, parent); number != 0) {
      report_failure(failure.write_end.number(), number);
      ::_exit(127);
    }
    lock.unlock();  // the child's copy: `work` may start processes of its own
    work(failure.write_end);
    ::_exit(127);
  }
  if (setup.own_group) {
    ::setpgid(child, child);  // the child does it, too: whichever comes first
  }
  failure.write_end.close();
  Forked forked{child, 0};
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure.read_end.number(), &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof number) {
    forked.failure = number;
  }
  return forked;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) {
    ::close(number_);
  }
  number_ = -1;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::io_error, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<Process> Process::start(const std::vector<std::string>& command, const ProcessSetup& setup) {
  if (command.empty()) {
    return fail(ErrorCode::invalid_argument, "no program to run");
  }
  const std::string& name = command.front();
  const std::string program = find_program(name).string();
  if (program.empty()) {
    if (name.find('/') == std::string::npos) {
      return fail(ErrorCode::not_found, "no such program on PATH", name);
    }
    if (::access(name.c_str(), F_OK) == 0) {
      return fail(ErrorCode::permission_denied, "is not a program that may be run", name);
    }
    return fail(ErrorCode::not_found, "no such program", name);
  }
  const ExecWords arguments(command);
  const ExecWords environment(merged_environment(setup));
  WW_ASSIGN(forked, fork_child(setup, name, [&](const Descriptor& failure) {
              ::execvpe(program.c_str(), arguments.get(), environment.get());
              report_failure(failure.number(), errno);
            }));
  Process process(forked.child, setup.own_group);
  if (forked.failure != 0) {
    process.wait();
    return fail(forked.failure == EACCES ? ErrorCode::permission_denied : ErrorCode::io_error,
                fmt::format("cannot be run: {}", std::strerror(forked.failure)), name);
  }
  return process;
}

Result<Process> Process::fork(const std::function<int()>& body, const ProcessSetup& setup) {
  WW_ASSIGN(forked, fork_child(setup, {}, [&](Descriptor& failure) {
              failure.close();
              for (const auto& [name, value] : setup.environment) {
                ::setenv(name.c_str(), value.c_str(), 1);
              }
              ::_exit(body());
            }));
  Process process(forked.child, setup.own_group);
  if (forked.failure != 0) {
    process.wait();
    return fail(ErrorCode::io_error,
                fmt::format("cannot start a process: {}", std::strerror(forked.failure)),
                setup.folder.string());
  }
  return process;
}

Process::~Process() {
  if (id_ > 0 && !end_) {
    signal(SIGKILL);
    wait();
  }
}

void Process::signal(int number) const {
  if (id_ > 0 && !end_) {
    ::kill(own_group_ ? -id_ : id_, number);
  }
}

std::optional<ProcessEnd> Process::poll() {
  if (!end_ && id_ > 0) {
    int status = 0;
    const pid_t ended = ::waitpid(id_, &status, WNOHANG);
    if (ended == id_) {
      end_ = end_of(status);
    } else if (ended < 0 && errno == ECHILD) {
      end_ = ProcessEnd{0, 127};  // somebody else waited for it
    }
  }
  return end_;
}

ProcessEnd Process::wait() {
  while (!end_) {
    int status = 0;
    const pid_t ended = ::waitpid(id_, &status, 0);
    if (ended == id_) {
      end_ = end_of(status);
    } else if (ended < 0 && errno != EINTR) {
      end_ = ProcessEnd{0, 127};  // somebody else waited for it
    }
  }
  return *end_;
}

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return ::access(name.c_str(), X_OK) == 0 ? fs::absolute(name) : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code ec;
    if (fs::is_regular_file(candidate, ec) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return {};
}

Result<fs::path> own_program() {
  std::error_code ec;
  auto program = fs::read_symlink("/proc/self/exe", ec);
  if (ec) {
    return fail(ErrorCode::io_error, "cannot find the file of this program: " + ec.message(),
                "/proc/self/exe");
  }
  return program;
}

}  // namespace ww
