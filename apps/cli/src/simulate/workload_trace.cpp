#include "simulate/workload_trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/accelsim.hpp"
#include "ww/workloads/workloads.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

// Runs this program with other arguments, its trace to `trace`. The errors that it prints are for
// the user; its output is kept.
Result<ProcessResult> run_self(const std::vector<std::string>& words, const fs::path& trace) {
  WW_ASSIGN(program, own_program());
  ProcessRequest request;
  request.command = {program.string()};
  request.command.insert(request.command.end(), words.begin(), words.end());
  request.environment = {{"WIREWATT_TRACE", trace.string()}};
  request.limit = kUnlimited;
  request.shows_errors = true;
  request.ends_with_parent = true;
  auto result = run_process(request);
  if (!result) {
    result.error().context = "--workload";
  }
  return result;
}

// Returns the failure that `workloads run --json` reports; empty where there is none.
std::string complaint(const std::string& output) {
  const auto json = nlohmann::json::parse(output, nullptr, false);
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
  WW_TRY(workloads::input_from_string(size));
  if (!DeviceName(device).is_virtual()) {
    return fail(ErrorCode::unsupported,
                "only a virtual device gives a memory trace, for example virtual:w9100", device);
  }
  WW_ASSIGN(folder, ScratchFolder::create("trace"));
  const fs::path trace = folder.path() / "trace.wwt";
  WW_ASSIGN(result, run_self({"--quiet", "workloads", "run", name, "--size", size, "--device",
                              device, "--json"},
                             trace));
  if (const std::string why = complaint(result.output); !why.empty()) {
    return fail(ErrorCode::bad_data, "the workload failed: " + why, name);
  }
  if (result.exit_code != 0) {  // and has said why
    return fail(result.exit_code == 2 ? ErrorCode::invalid_argument : ErrorCode::device_error,
                fmt::format("the workload did not run on {} ({} {})", device,
                            result.signal != 0 ? "signal" : "exit code",
                            result.signal != 0 ? result.signal : result.exit_code),
                name);
  }
  return open_trace(trace, name);
}

bool is_accelsim(const fs::path& trace) {
  const auto ending = trace.extension();
  return ending == ".traceg" || ending == ".tracez" || ending == ".trace" || ending == ".xz" ||
         sim::trace::is_kernel_list(trace);
}

Result<WorkloadTrace> import_trace(const fs::path& from) {
  WW_ASSIGN(folder, ScratchFolder::create("trace"));
  const fs::path trace = folder.path() / "trace.wwt";
  WW_ASSIGN(converted, sim::trace::import_accelsim(from, trace));
  for (const auto& remark : sim::trace::remarks_on(converted)) {
    log::warn("{}: {}", from.string(), remark);
  }
  return open_trace(trace, from.string());
}

}  // namespace ww::cli
