// A pool of worker processes that run points. They are forked from this process, so a point costs
// no program start. They are separate from it, so a point that crashes, hangs or exhausts memory
// affects nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ww/sweep/record.hpp"

namespace ww::sweep {

// Runs a command line (without the program's name) in this process and returns its exit code. It
// prints on stdout and stderr.
using RunCommand = std::function<int(const std::vector<std::string>& arguments)>;

struct Job {
  std::size_t id{};
  std::vector<std::string> arguments;
};

struct Finished {
  std::size_t id{};
  Ending ending;
  double wall_s{};
  double cpu_s{};
  double peak_mib{};
  std::int64_t started_ms{};
  int attempts{1};
};

struct PoolOptions {
  unsigned slots{1};               // points at a time
  unsigned points_per_process{1};  // before a process is replaced by a fresh one
  double time_limit_s{3600};       // for one point
  double memory_mib{0};            // for one point and what it starts; 0: no limit
  std::filesystem::path folder{};  // working directory of the points; empty: this process's own
};

// Runs the jobs that `next` returns until it returns none, and passes each ending to `done`. A
// point is tried again in a fresh process, three times in all, if its process was killed from
// outside or crashed after it had run others. Call it from a process with one thread. Errors:
// cancelled (interrupted; the points under way are lost), io_error (no process is available), and
// those of `done`, after which all workers are ended.
Status run_pool(const PoolOptions& options, const RunCommand& run,
                const std::function<std::optional<Job>()>& next,
                const std::function<Status(Finished&&)>& done);

// Number of points at a time that cores and free memory allow; at least 1. A memory_mib of 0 means
// that it is not known.
[[nodiscard]] unsigned slots_for(unsigned cpus_a_point, double memory_mib);

}  // namespace ww::sweep
