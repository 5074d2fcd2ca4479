// Writes the driver's files for unmodified programs: counters, a memory trace, sensor readings, the
// report of timing mode, launches' mistakes, and, sealed for `wirewatt score` alone, where the
// energy went. Files appear whole or not at all.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/runtime/runtime.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

class Recordings {
 public:
  // Opens what the settings ask for. Errors: not_found, permission_denied, io_error.
  static Result<std::unique_ptr<Recordings>> open(const Settings& settings);
  ~Recordings();

  [[nodiscard]] bool any() const {
    return !counters_file_.empty() || trace_ != nullptr || !samples_file_.empty() ||
           !sealed_file_.empty() || !timing_file_.empty() || !mistakes_file_.empty();
  }
  // Whether what launches drew is asked for.
  [[nodiscard]] bool power() const { return !samples_file_.empty() || !sealed_file_.empty(); }
  // Whether readings are asked for, in a file or by a watcher. The chip then idles before the first
  // launch and after the last, so that idle power is among them.
  [[nodiscard]] bool rests() const { return !samples_file_.empty() || watched_; }
  void rest(gpu::VirtualGpu& gpu) const;
  // Launches kernels that are too short for the sensor again, and writes readings and energies.
  Status save_power(gpu::VirtualGpu& gpu);
  // Null where no trace is asked for.
  [[nodiscard]] trace::Writer* trace() const { return trace_.get(); }

  // Adds the rows of new dispatches to the counters' name aside, where they are even if the process
  // is killed. Does nothing without that name, and once it failed.
  Status add_counters(const gpu::VirtualGpu& gpu);
  // Puts new accesses under the trace's name aside, where they are even if the process is killed.
  void add_accesses();
  // Writes one row for each counter of each dispatch so far, in rocprofv3's form. Does nothing
  // without a file, without new dispatches, or in a process forked from the one that opened.
  Status save_counters(const gpu::VirtualGpu& gpu);
  // Writes the report of timing mode, where one is asked for.
  Status save_timing(const gpu::VirtualGpu& gpu) const;
  // Writes the launches' mistakes, where they are asked for.
  Status save_mistakes(const LaunchMistakes& mistakes);
  // Writes them soon after there are new ones, for the case that the process is killed.
  Status save_new_mistakes(const LaunchMistakes& mistakes);
  // Ends the trace and puts it in place.
  Status finish_trace();

 private:
  Recordings() = default;
  Status write_counters(const gpu::VirtualGpu& gpu, std::uint64_t first, StreamedFile& file);

  std::string counters_file_;
  std::string counters_aside_;
  std::optional<StreamedFile> aside_;
  std::uint64_t dispatches_aside_{};
  std::unordered_map<std::string, std::size_t> kernel_ids_;
  std::string samples_file_;
  std::string sealed_file_;
  std::string timing_file_;
  std::string mistakes_file_;
  bool watched_{};
  std::unique_ptr<trace::Writer> trace_;
  std::uint64_t saved_dispatches_{};
  LaunchMistakes saved_mistakes_;
  std::chrono::steady_clock::time_point mistakes_saved_at_;
  bool saved_{};
  pid_t process_{};
};

}  // namespace ww::sim::driver
