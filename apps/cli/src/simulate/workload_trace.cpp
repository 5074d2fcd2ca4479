#include "simulate/workload_trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/accelsim.hpp"
#include "ww/workloads/workloads.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

// Runs this program with other arguments, its trace to `trace`, what it prints to `output`. Gives
// the status as waitpid does.
Result<int> run_self(const std::vector<std::string>& words, const fs::path& trace,
                     const fs::path& output) {
  std::string program = "wirewatt";
  std::vector<char*> arguments{program.data()};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0) return fail(ErrorCode::io_error, std::strerror(errno), output.string());
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(out, STDOUT_FILENO);
    ::setenv("WIREWATT_TRACE", trace.c_str(), 1);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(127);
  }
  ::close(out);
  if (child < 0) return fail(ErrorCode::io_error, "cannot start a process", "--workload");
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) {
      return fail(ErrorCode::io_error, std::strerror(errno), "--workload");
    }
    if (interrupted()) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return fail(ErrorCode::cancelled, "interrupted", "--workload");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// What `workloads run --json` says went wrong; empty where nothing did.
std::string complaint(const fs::path& output) {
  const auto text = read_file(output);
  const auto json = nlohmann::json::parse(text ? *text : std::string(), nullptr, false);
  if (!json.is_object() || !json.contains("workloads")) return {};
  for (const auto& workload : json["workloads"]) {
    if (workload.value("status", "") != "pass") return workload.value("reason", "no reason given");
  }
  return {};
}

Result<WorkloadTrace> open_trace(const fs::path& trace, const std::string& of) {
  const int file = ::open(trace.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return fail(ErrorCode::io_error,
                fmt::format("no trace was left ({}); is there room in {}?", std::strerror(errno),
                            trace.parent_path().parent_path().string()),
                of);
  }
  return WorkloadTrace(file);
}

}  // namespace

WorkloadTrace::~WorkloadTrace() {
  if (file_ >= 0) ::close(file_);
}

fs::path WorkloadTrace::path() const {
  return fmt::format("/proc/self/fd/{}", file_);
}

Result<WorkloadTrace> trace_workload(const std::string& name, const std::string& size,
                                     const std::string& device) {
  const auto known = workloads::list();
  if (std::ranges::none_of(known, [&](const auto& info) { return info.name == name; })) {
    return fail(ErrorCode::not_found, "no such workload; 'wirewatt workloads list' lists them",
                name);
  }
  WW_TRY(workloads::size_from_string(size));
  if (!device.starts_with("virtual")) {
    return fail(ErrorCode::unsupported,
                "only a virtual device gives a memory trace, for example virtual:w9100", device);
  }
  WW_ASSIGN(folder, ScratchFolder::create("trace"));
  const fs::path trace = folder.path() / "trace.wwt";
  const fs::path output = folder.path() / "output.json";
  WW_ASSIGN(status, run_self({"--quiet", "workloads", "run", name, "--size", size, "--device",
                              device, "--json"},
                             trace, output));
  if (const std::string why = complaint(output); !why.empty()) {
    return fail(ErrorCode::bad_data, "the workload failed: " + why, name);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {  // and has said why
    const bool wrong_device = WIFEXITED(status) && WEXITSTATUS(status) == 2;
    return fail(wrong_device ? ErrorCode::invalid_argument : ErrorCode::device_error,
                fmt::format("the workload did not run on {} ({} {})", device,
                            WIFSIGNALED(status) ? "signal" : "exit code",
                            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)),
                name);
  }
  return open_trace(trace, name);
}

bool is_accelsim(const fs::path& trace) {
  return trace.extension() == ".traceg" || trace.filename() == "kernelslist.g";
}

Result<WorkloadTrace> import_trace(const fs::path& from) {
  WW_ASSIGN(folder, ScratchFolder::create("trace"));
  const fs::path trace = folder.path() / "trace.wwt";
  WW_TRY(sim::trace::import_accelsim(from, trace));
  return open_trace(trace, from.string());
}

}  // namespace ww::cli
