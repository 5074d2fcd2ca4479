#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "sensor/nvml/nvml_api.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/clock_control.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "wirewatt-restore 1";
// The kernel's files that may be written on behalf of an ended process, and nothing else.
constexpr std::array<std::string_view, 2> writable{"power_dpm_force_performance_level",
                                                   "pp_dpm_sclk"};

fs::path state_folder() {
  const auto set = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const auto folder = set("WIREWATT_STATE_DIR"); !folder.empty()) return folder;
  if (geteuid() == 0) return "/run/wirewatt";
  if (const auto folder = set("XDG_RUNTIME_DIR"); !folder.empty()) return folder + "/wirewatt";
  return fmt::format("/tmp/wirewatt-{}", geteuid());
}

// Owned by this user, writable by nobody else: another user's file would be that user's orders.
bool trusted(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && !S_ISLNK(info.st_mode);
}

// When a process began, in clock ticks since boot: with its number it is unique. Field 22 of
// /proc/PID/stat, behind the name in brackets, which may hold anything.
std::optional<unsigned long long> start_time(long process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto behind = text.rfind(')');
  if (behind == std::string::npos) return {};
  std::istringstream rest(text.substr(behind + 1));
  std::string field;
  constexpr int fields_before = 20;  // state is the third
  for (int i = 0; i < fields_before; ++i) {
    if (!(rest >> field)) return {};
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

struct Leftover {
  long process{};
  unsigned long long started{};
  RestoreAction action;
};

std::optional<Leftover> read_leftover(const fs::path& path) {
  std::ifstream file(path);
  std::string line, kind;
  Leftover found;
  if (!std::getline(file, line) || line != kHead) return {};
  if (!(file >> found.process >> found.started >> kind)) return {};
  file.ignore();
  if (!std::getline(file, found.action.target) || !std::getline(file, found.action.text)) return {};
  if (kind != "write" && kind != "nvml") return {};
  found.action.kind =
      kind == "write" ? RestoreAction::Kind::write_file : RestoreAction::Kind::nvml_reset_clocks;
  return found;
}

Status write_kernel_file(const std::string& path, const std::string& text) {
  const auto name = fs::path(path).filename().string();
  if (std::ranges::find(writable, name) == writable.end()) {
    return fail(ErrorCode::invalid_argument, "not a file that controls clocks", path);
  }
  const auto refused = [&path](int error) {
    const bool denied = error == EACCES || error == EROFS;
    return fail(denied            ? ErrorCode::permission_denied
                : error == ENOENT ? ErrorCode::not_found
                                  : ErrorCode::device_error,
                std::strerror(error), path);
  };
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  if (fd < 0) return refused(errno);
  const ssize_t n = write(fd, text.data(), text.size());
  const int error = errno;
  close(fd);
  if (n != static_cast<ssize_t>(text.size())) return refused(error);
  return {};
}

Status perform(const RestoreAction& action) {
  if (action.kind == RestoreAction::Kind::write_file) {
    return write_kernel_file(action.target, action.text);
  }
  return nvml_reset_locked_clocks(action.target);
}

// In the guardian, once its parent is gone or done: only in the first case, and where the parent
// could not do it, the file is still there. A driver that resets the card refuses for some seconds.
void restore_from(const fs::path& file) {
  constexpr int attempts = 20;
  constexpr useconds_t pause_us = 500'000;
  for (int i = 0; i < attempts; ++i) {
    if (i > 0) usleep(pause_us);
    const auto left = read_leftover(file);
    if (!left) return;
    const auto done = perform(left->action);
    if (done) unlink(file.c_str());
    if (done || done.error().code != ErrorCode::device_error) return;
  }
}

// Drops in the guardian all of the parent's that somebody else waits on.
void detach(int keep) {
  setsid();
  prctl(PR_SET_NAME, "wirewatt-clocks");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  if (const int null = open("/dev/null", O_RDWR); null >= 0) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
    if (null > STDERR_FILENO) close(null);
  }
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = STDERR_FILENO + 1; fd < std::min(most, 4096L); ++fd) {
    struct stat info {};
    // Device files stay: the vendor's library may be in use already.
    if (fd != keep && fstat(fd, &info) == 0 && !S_ISCHR(info.st_mode)) close(fd);
  }
}

}  // namespace

Result<std::unique_ptr<ClockGuardian>> ClockGuardian::start() {
  static int number = 0;
  const auto folder = state_folder();
  std::error_code ec;
  if (!fs::exists(folder, ec)) {
    fs::create_directories(folder, ec);
    fs::permissions(folder, fs::perms::owner_all, ec);
  }
  if (!trusted(folder)) {
    return fail(ErrorCode::io_error,
                "clocks are left alone: how to give them back cannot be kept here; set "
                "WIREWATT_STATE_DIR to a folder of this user's",
                folder.string());
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(ErrorCode::io_error, "cannot make a pipe");
  const auto file = folder / fmt::format("clocks-{}-{}", getpid(), number++);
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return fail(ErrorCode::io_error, "cannot start a process");
  }
  if (child == 0) {
    close(ends[1]);
    detach(ends[0]);
    char byte = 0;
    while (true) {
      const ssize_t n = read(ends[0], &byte, 1);
      if (n == 0 || (n < 0 && errno != EINTR)) break;
    }
    restore_from(file);
    _exit(0);
  }
  close(ends[0]);
  return std::unique_ptr<ClockGuardian>(new ClockGuardian(ends[1], child, file.string()));
}

ClockGuardian::~ClockGuardian() {
  close(pipe_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  const auto left = read_leftover(file_);
  if (!left) return;
  log::warn(
      "{}: clocks stay fixed, because the driver did not take them back; the next start of "
      "wirewatt tries again{}",
      left->action.target,
      left->action.kind == RestoreAction::Kind::write_file
          ? fmt::format(", or: echo {} | sudo tee {}", left->action.text, left->action.target)
          : std::string());
}

Status ClockGuardian::arm(const RestoreAction& action) {
  // Whole or not at all: a reader sees the file only under its final name.
  const auto draft = file_ + ".new";
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(ErrorCode::io_error, std::strerror(errno), draft);
  const bool write_kind = action.kind == RestoreAction::Kind::write_file;
  const auto text =
      fmt::format("{}\n{} {} {}\n{}\n{}\n", kHead, getpid(), start_time(getpid()).value_or(0),
                  write_kind ? "write" : "nvml", action.target, action.text);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  if (!written || std::rename(draft.c_str(), file_.c_str()) != 0) {
    const int error = errno;
    unlink(draft.c_str());
    return fail(ErrorCode::io_error, std::strerror(error), file_);
  }
  return {};
}

void ClockGuardian::disarm() {
  unlink(file_.c_str());
}

std::vector<std::string> restore_leftovers() {
  std::vector<std::string> lines;
  const auto folder = state_folder();
  std::error_code ec;
  if (!trusted(folder)) return lines;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (!entry.path().filename().string().starts_with("clocks-") || !trusted(entry.path())) {
      continue;
    }
    const auto left = read_leftover(entry.path());
    if (!left || start_time(left->process) == left->started) continue;  // its owner still runs
    const auto done = perform(left->action);
    lines.push_back(
        fmt::format("{}: {}", left->action.target,
                    done ? "clocks that an ended wirewatt had fixed are given back"
                         : "clocks stay fixed by an ended wirewatt: " + done.error().text()));
    if (done) fs::remove(entry.path(), ec);
  }
  return lines;
}

}  // namespace ww::measure
