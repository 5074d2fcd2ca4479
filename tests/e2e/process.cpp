#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <stdexcept>

#include "recording.hpp"

void nlohmann::PrintTo(const json& document, std::ostream* out) {
  *out << document;
}

namespace ww::e2e {
namespace {

std::string required_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    throw std::runtime_error(std::string(name) + " is not set; run through ctest");
  return value;
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::json parse_json(std::istream& text) {
  return nlohmann::json::parse(text, nullptr, false);
}

nlohmann::json Finished::json() const {
  return parse_json(out);
}

Finished run(const std::vector<std::string>& command, const Environment& extra,
             std::optional<std::chrono::milliseconds> kill_after) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe");
  }
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    ::setpgid(0, 0);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const auto& [key, value] : extra) ::setenv(key.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::setpgid(child, child);
  ::close(out[1]);
  ::close(err[1]);

  Finished finished;
  const auto start = std::chrono::steady_clock::now();
  bool killed = false;
  std::array<pollfd, 2> watched{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  int open = 2;
  while (open > 0) {
    int wait_ms = -1;
    if (kill_after && !killed) {
      const auto left = *kill_after - std::chrono::duration_cast<std::chrono::milliseconds>(
                                          std::chrono::steady_clock::now() - start);
      if (left.count() <= 0) {
        ::kill(-child, SIGKILL);
        killed = true;
      } else {
        wait_ms = static_cast<int>(left.count());
      }
    }
    if (::poll(watched.data(), watched.size(), wait_ms) < 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if ((watched[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      std::array<char, 4096> buffer{};
      const auto got = ::read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        (i == 0 ? finished.out : finished.err).append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        ::close(watched[i].fd);
        watched[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  finished.exit_code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  return finished;
}

std::string wirewatt() {
  return (build_folder() / "bin" / "wirewatt").string();
}
std::filesystem::path source_folder() {
  return required_environment("WW_SOURCE_DIR");
}
std::filesystem::path build_folder() {
  return required_environment("WW_BINARY_DIR");
}

Recording read_recording(const std::string& name) {
  const auto recordings = build_folder() / "recordings";
  std::ifstream printed(recordings / (name + ".json"));
  std::ifstream took(recordings / (name + ".ms"));
  long milliseconds{};
  if (!(took >> milliseconds)) throw std::runtime_error("no recording " + name);
  return {parse_json(printed), std::chrono::milliseconds(milliseconds)};
}

Recording copy_recording(const std::string& name, const std::filesystem::path& to) {
  std::filesystem::copy(build_folder() / "recordings" / name, to,
                        std::filesystem::copy_options::recursive);
  return read_recording(name);
}

}  // namespace ww::e2e
