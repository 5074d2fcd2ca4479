// Memory traces made just for a simulation: of one of the papers' applications, run on a virtual
// GPU, or of a program that Accel-Sim has traced.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "ww/core/result.hpp"

namespace ww::cli {

// An open trace that has no name any more: it is gone with this object, however the program ends.
class WorkloadTrace {
 public:
  explicit WorkloadTrace(int file) : file_(file) {}
  WorkloadTrace(WorkloadTrace&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  WorkloadTrace& operator=(WorkloadTrace&&) = delete;
  ~WorkloadTrace();

  // Path at which this process can open it.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  int file_;
};

// Runs a workload (as 'workloads run' does, in a process of its own) and keeps its trace. Errors:
// not_found (no such workload), invalid_argument (no such size), unsupported (not a virtual
// device), bad_data (its result is wrong), device_error, io_error, cancelled (Ctrl-C).
[[nodiscard]] Result<WorkloadTrace> trace_workload(const std::string& name, const std::string& size,
                                                   const std::string& device);

// A .traceg, .traceg.xz, .tracez or a kernelslist.g: Accel-Sim's traces, by their names.
[[nodiscard]] bool is_accelsim(const std::filesystem::path& trace);

// Imports an Accel-Sim trace into wirewatt's form. Errors: those of sim::trace::import_accelsim().
[[nodiscard]] Result<WorkloadTrace> import_trace(const std::filesystem::path& from);

}  // namespace ww::cli
