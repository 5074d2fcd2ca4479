// The driver's process-wide state: one lock, one virtual GPU, one compiler.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "common/compile/compiler.hpp"
#include "common/runtime/live_feed.hpp"
#include "common/runtime/settings.hpp"
#include "tl/expected.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

// Counts of what launches did that they should not have, or could not do.
struct LaunchMistakes {
  std::uint64_t stopped_launches{};
  std::uint64_t unknown_instructions{};  // of those, launches that one of these ended
  std::uint64_t memory_mistakes{};       // accesses
};

// Writes one line to stderr: the driver lives in foreign processes and leaves their logging alone.
void print_line(const std::string& text);

class Recordings;

class Runtime {
 public:
  static Runtime& get();  // lives until the process ends

  // The virtual GPU, powered on at the first call; null when the environment names no valid chip
  // (said once on stderr). Needs the lock.
  gpu::VirtualGpu* gpu();
  // Only after gpu() gave a device.
  [[nodiscard]] gpu::VirtualGpu& powered_gpu() { return *gpu_; }
  Compiler& compiler();
  // Records a launch that ended or was stopped, as far as that is asked for. Needs the lock.
  void record_launch();
  // Puts the counters so far into their file, where one is asked for. Needs the lock.
  void save_counters();
  // The lock. A thread that makes call after call lets one that waits for it go first. Who asks
  // while the process ends waits until the recordings are written, or given up.
  [[nodiscard]] std::unique_lock<std::mutex> lock();

  LaunchMistakes mistakes;
  std::vector<ApproximationRule> approximations;
  std::condition_variable changed;               // an event's status changed
  std::vector<std::function<void()>> callbacks;  // to run once the lock is released

 private:
  Runtime();
  ~Runtime() = delete;
  static void at_exit();

  std::mutex mutex_;
  std::mutex next_;  // of the thread that will have the lock next
  std::atomic<bool> ending_{};
  bool tried_{};
  std::unique_ptr<Recordings> recordings_;
  std::optional<LiveFeed> live_;
  std::unique_ptr<gpu::VirtualGpu> gpu_;
  std::unique_ptr<Compiler> compiler_;
  int compile_timeout_ms_{120'000};
};

// Holds the driver's lock during one API call; application callbacks run after it is released.
class Entry {
 public:
  Entry() : lock_(Runtime::get().lock()) {}
  ~Entry() { run_callbacks(); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  // Waits until `done()`; other threads may enter meanwhile.
  template <class Predicate>
  void wait(Predicate done) {
    if (done()) return;
    // Callbacks made so far must not wait for us.
    run_callbacks();
    Runtime::get().changed.wait(lock_, done);
  }

 private:
  void run_callbacks();  // releases the lock while they run
  std::unique_lock<std::mutex> lock_;
};

}  // namespace ww::sim::driver
