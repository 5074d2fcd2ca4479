#include "common/runtime/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>

#include "common/runtime/recordings.hpp"
#include "ww/core/progress.hpp"

namespace ww::sim::driver {
namespace {

// Dispatches whose counters an application can still ask for, where no file records them all: about
// a hundred bytes each, and most of them repeat others' counters.
constexpr std::uint64_t kMaxDispatches = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kEndingStep{10};

// A line on the terminal while a launch lasts, once it has lasted for a second.
class LaunchLine {
 public:
  void report(const gpu::LaunchProgress& launch) {
    if (launch.ended) {
      *this = {};
      return;
    }
    if (line_ == nullptr) line_ = std::make_unique<Progress>(launch.kernel);
    const auto groups = static_cast<double>(launch.groups_ended);
    const auto instructions = static_cast<double>(launch.instructions);
    if (groups > 0) each_ = std::min(each_, instructions / groups);
    // Many work-groups run at once and end together. Between, what is executed says more.
    const double done = std::max(groups, each_ > 0 ? instructions / each_ : 0);
    line_->update(std::min(done, static_cast<double>(launch.groups)),
                  static_cast<double>(launch.groups),
                  fmt::format("{} of {} work-groups, {} M wave instructions", launch.groups_ended,
                              launch.groups, launch.instructions / 1'000'000));
  }

 private:
  std::unique_ptr<Progress> line_;
  // Wave instructions for each work-group that has ended. Those of groups that still run are among
  // them, so the least is nearest.
  double each_{std::numeric_limits<double>::infinity()};
};

void show_progress(gpu::VirtualGpu& gpu) {
  constexpr std::chrono::milliseconds kBetween{250};
  gpu.set_progress([line = std::make_shared<LaunchLine>()](
                       const gpu::LaunchProgress& launch) { line->report(launch); },
                   kBetween);
}

}  // namespace

void print_line(const std::string& text) {
  const std::string line = "wirewatt: " + text + "\n";
  std::fputs(line.c_str(), stderr);
}

// A child of fork has only the thread that forked: it must not find the lock with another one.
Runtime::Runtime() {
  const auto lock = [] {
    get().next_.lock();
    get().mutex_.lock();
  };
  const auto unlock = [] {
    get().mutex_.unlock();
    get().next_.unlock();
  };
  pthread_atfork(lock, unlock, unlock);
}

Runtime& Runtime::get() {
  static Runtime& runtime = *new Runtime;
  return runtime;
}

gpu::VirtualGpu* Runtime::gpu() {
  if (tried_) return gpu_.get();
  tried_ = true;
  auto settings = settings_from_environment();
  if (!settings) {
    print_line("no virtual GPU: " + settings.error().text());
    return nullptr;
  }
  compile_timeout_ms_ = settings->compile_timeout_ms;
  auto chip = gpu::Chip::load(settings->chip);
  if (!chip) {
    print_line("no virtual GPU: WIREWATT_CHIP=\"" + settings->chip.chip +
               "\": " + chip.error().text());
    return nullptr;
  }
  if (settings->timing) {
    auto timing = gpu::make_timing(chip->architecture(), *settings->timing);
    if (!timing) {
      print_line("no virtual GPU in timing mode: " + timing.error().text());
      return nullptr;
    }
    settings->options.timing = std::move(*timing);
  }
  auto recordings = Recordings::open(*settings);
  if (!recordings) {
    print_line("no virtual GPU: " + recordings.error().text());
    return nullptr;
  }
  recordings_ = std::move(*recordings);
  settings->options.trace = recordings_->trace();
  settings->options.host_at_device_addresses = true;
  // A long-lived program must not grow for what nobody asked for.
  settings->options.keep_energies = recordings_->power();
  if (!recordings_->any()) settings->options.most_dispatches = kMaxDispatches;
  auto powered = gpu::VirtualGpu::create(std::move(*chip), settings->options);
  if (!powered) {
    print_line("no virtual GPU: WIREWATT_CHIP=\"" + settings->chip.chip +
               "\": " + powered.error().text());
    return nullptr;
  }
  gpu_ = std::move(*powered);
  if (settings->passed.progress) show_progress(*gpu_);
  live_.emplace(settings->passed.live);
  approximations = std::move(settings->approximations);
  recordings_->rest(*gpu_);
  if (recordings_->any() || recordings_->rests() || !approximations.empty()) std::atexit(at_exit);
  return gpu_.get();
}

std::unique_lock<std::mutex> Runtime::lock() {
  while (ending_) std::this_thread::sleep_for(kEndingStep);
  const std::lock_guard next(next_);
  return std::unique_lock(mutex_);
}

void Runtime::record_launch() {
  if (auto added = recordings_->add_counters(*gpu_); !added) {
    print_line("WIREWATT_COUNTERS: " + added.error().text());
  }
  recordings_->add_accesses();
  if (auto saved = recordings_->save_new_mistakes(mistakes); !saved) {
    print_line("report of mistakes: " + saved.error().text());
  }
  live_->append(*gpu_);
}

void Runtime::save_counters() {
  if (gpu_ == nullptr) return;
  if (auto saved = recordings_->save_counters(*gpu_); !saved) {
    print_line("WIREWATT_COUNTERS: " + saved.error().text());
  }
}

void Runtime::at_exit() {
  Runtime& runtime = get();
  // Another thread may be inside a call, or may have been ended there with the lock held. One that
  // makes call after call leaves the lock to us.
  runtime.ending_ = true;
  std::unique_lock<std::mutex> lock(runtime.mutex_, std::defer_lock);
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (tries == 1000) {
      print_line(
          "the program exited amid a call to its device: counters and trace are not written");
      runtime.ending_ = false;
      return;
    }
    std::this_thread::sleep_for(kEndingStep);
  }
  runtime.ending_ = false;
  try {
    for (const ApproximationRule& rule : runtime.approximations) {
      if (!rule.used) print_line("approx: \"" + rule.text + "\" met no buffer");
    }
    runtime.save_counters();
    runtime.recordings_->rest(*runtime.gpu_);
    runtime.live_->append(*runtime.gpu_);
    if (auto saved = runtime.recordings_->save_power(*runtime.gpu_); !saved) {
      print_line("WIREWATT_SAMPLES: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->save_timing(*runtime.gpu_); !saved) {
      print_line("report of timing mode: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->save_mistakes(runtime.mistakes); !saved) {
      print_line("report of mistakes: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->finish_trace(); !saved) {
      print_line("WIREWATT_TRACE: " + saved.error().text());
    }
  } catch (...) {
    print_line("no memory to write counters and trace");
  }
}

Compiler& Runtime::compiler() {
  if (!compiler_) {
    compiler_ = std::make_unique<Compiler>(compile_worker_path(), compile_timeout_ms_);
  }
  return *compiler_;
}

void Entry::run_callbacks() {
  auto& runtime = Runtime::get();
  while (!runtime.callbacks.empty()) {
    auto callbacks = std::exchange(runtime.callbacks, {});
    lock_.unlock();
    for (auto& callback : callbacks) {
      try {
        callback();
      } catch (...) {
        print_line("an application callback threw an exception; it was dropped");
      }
    }
    lock_ = runtime.lock();
    callbacks.clear();  // lets go of objects, which may call back in turn
  }
}

}  // namespace ww::sim::driver
