#include "ww/measure/command_load.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "ww/core/interrupt.hpp"

extern char** environ;

namespace ww::measure {
namespace {

class CommandLoad final : public Load {
 public:
  CommandLoad(std::string command, Sensor& sensor)
      : command_(std::move(command)), sensor_(sensor) {}

  std::string name() const override { return command_; }

  Result<LoadStep> run_for(double seconds) override {
    LoadStep step;
    WW_ASSIGN(process, start());
    step.on_ns = sensor_.now_ns();
    const std::int64_t end_ns = step.on_ns + std::llround(seconds * 1e9);
    constexpr std::int64_t nap_ns = 100'000'000;
    bool ended = false;
    while (!ended && !interrupted() && sensor_.now_ns() < end_ns) {
      sensor_.sleep_until(std::min(end_ns, sensor_.now_ns() + nap_ns));
      ended = waitpid(process, nullptr, WNOHANG) == process;
    }
    step.off_ns = sensor_.now_ns();
    if (ended) {
      return fail(ErrorCode::io_error, "the load ended by itself; it must run until it is stopped",
                  command_);
    }
    stop(process);
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    return step;
  }

 private:
  Result<pid_t> start() {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own, so that all it starts ends with it.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    const char* words[] = {"sh", "-c", command_.c_str(), nullptr};
    pid_t process = 0;
    const int code = posix_spawn(&process, "/bin/sh", &files, &attributes,
                                 const_cast<char* const*>(words), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
      return fail(ErrorCode::io_error,
                  fmt::format("cannot start the load: {}", std::strerror(code)), command_);
    }
    return process;
  }

  void stop(pid_t process) {
    kill(-process, SIGTERM);
    constexpr std::int64_t patience_ns = 1'000'000'000;
    const std::int64_t until_ns = sensor_.now_ns() + patience_ns;
    while (waitpid(process, nullptr, WNOHANG) == 0) {
      if (sensor_.now_ns() > until_ns) kill(-process, SIGKILL);
      sensor_.sleep_until(sensor_.now_ns() + 1'000'000);
    }
  }

  std::string command_;
  Sensor& sensor_;
};

}  // namespace

std::unique_ptr<Load> make_command_load(std::string command, Sensor& sensor) {
  return std::make_unique<CommandLoad>(std::move(command), sensor);
}

}  // namespace ww::measure
