// A sweep command that runs while a test does something to it.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "sweep_folder.hpp"

namespace ww::e2e {

inline constexpr auto kTick = std::chrono::milliseconds(50);
inline constexpr auto kPatience = std::chrono::minutes(3);

inline bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(kTick);
  }
  return false;
}

// A sweep command that runs while the test does something to it.
class Background {
 public:
  Background(const std::vector<std::string>& command, const std::filesystem::path& log) {
    pid_ = ::fork();
    if (pid_ == 0) {
      if (std::freopen(log.c_str(), "w", stderr) == nullptr) ::_exit(126);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
      std::vector<char*> arguments;
      arguments.reserve(command.size() + 1);
      for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
  }
  ~Background() {
    if (pid_ > 0) std::ignore = end(SIGKILL);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  // Returns its exit code, or minus the signal that ended it. Signal 0 waits.
  int end(int signal = 0) {
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_{-1};
};

// Processes of `wirewatt sweep work FOLDER`: a task and its points.
inline std::vector<pid_t> workers_of(const std::filesystem::path& sweep) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto line = text_of(entry.path() / "cmdline");
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line.find("wirewatt sweep work " + sweep.string()) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

}  // namespace ww::e2e
