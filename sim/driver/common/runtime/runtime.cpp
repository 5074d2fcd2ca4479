#include "common/runtime/runtime.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "common/runtime/live_feed.hpp"
#include "common/runtime/recordings.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/progress.hpp"

namespace ww::sim::driver {
namespace {

// Dispatches whose counters an application can still ask for, where no file records them all: about
// a hundred bytes each, and most of them repeat others' counters.
constexpr std::uint64_t kMaxDispatches = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kEndingStep{10};

std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::string(text);
}

// Reads a whole number from the environment into `target`; leaves it alone where unset.
template <class Number>
Status read_number(const char* name, Number smallest, Number largest, Number& target) {
  const auto text = variable(name);
  if (!text) return {};
  Number value{};
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || stop != end || value < smallest || value > largest) {
    return fail(ErrorCode::invalid_argument,
                "\"" + *text + "\" is not a whole number from " + std::to_string(smallest) +
                    " to " + std::to_string(largest),
                name);
  }
  target = value;
  return {};
}

// Reads 0 or 1 from the environment into `target`; leaves it alone where unset.
Status read_switch(const char* name, bool& target) {
  unsigned value = target ? 1 : 0;
  WW_TRY(read_number<unsigned>(name, 0, 1, value));
  target = value == 1;
  return {};
}

// Reads the settings for kernels' mistakes with memory, and for kernels without end.
Status read_memory_settings(gpu::Options& options) {
  // Tolerates faults as a real card and driver do: a program that reads a little too far runs.
  options.on_fault = gpu::OnFault::tolerate;
  if (const auto text = variable("WIREWATT_ON_FAULT")) {
    if (*text == "stop") {
      options.on_fault = gpu::OnFault::stop;
    } else if (*text == "report") {
      options.on_fault = gpu::OnFault::report;
    } else if (*text != "tolerate") {
      return fail(ErrorCode::invalid_argument,
                  "\"" + *text + "\" is not one of stop, tolerate, report", "WIREWATT_ON_FAULT");
    }
  }
  if (const auto text = variable("WIREWATT_CHECK")) {
    for (std::size_t begin = 0; begin <= text->size();) {
      const std::size_t end = std::min(text->find(',', begin), text->size());
      const std::string word = text->substr(begin, end - begin);
      begin = end + 1;
      if (word == "memory") {
        options.checks.memory = true;
      } else if (word == "races") {
        options.checks.races = true;
      } else {
        return fail(ErrorCode::invalid_argument,
                    "\"" + word + "\" is not one of memory, races (a list with commas)",
                    "WIREWATT_CHECK");
      }
    }
  }
  std::int64_t megacycles = options.watchdog_cycles / 1'000'000;
  WW_TRY(read_number<std::int64_t>("WIREWATT_WATCHDOG_MCYCLES", 1, 1'000'000'000, megacycles));
  if (variable("WIREWATT_WATCHDOG_MCYCLES")) {
    options.watchdog_cycles = megacycles * 1'000'000;
    options.watchdog_instructions = static_cast<std::uint64_t>(options.watchdog_cycles);
  }
  return {};
}

// Single settings over those of the file: "vcs=5;memory_nodes=1,7,8,14".
Status read_timing_keys(std::string_view text, gpu::TimingRequest& timing) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(';'));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorCode::invalid_argument,
                  "\"" + std::string(pair) + "\" is not KEY=VALUE (several with semicolons)",
                  "WIREWATT_TIMING_KEYS");
    }
    timing.keys.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return {};
}

// The system of timing mode.
Status read_timing_settings(Settings& settings) {
  const auto mode = variable("WIREWATT_MODE").value_or("functional");
  if (mode != "functional" && mode != "timing") {
    return fail(ErrorCode::invalid_argument, "\"" + mode + "\" is not one of functional, timing",
                "WIREWATT_MODE");
  }
  if (mode == "functional") {
    for (const char* name : {"WIREWATT_NETWORK", "WIREWATT_TIMING", "WIREWATT_TIMING_KEYS",
                             "WIREWATT_TIMING_REPORT", "WIREWATT_APPROX_THRESHOLD"}) {
      if (!variable(name)) continue;
      return fail(ErrorCode::invalid_argument, "means something with WIREWATT_MODE=timing only",
                  name);
    }
    return {};
  }
  gpu::TimingRequest& timing = settings.timing.emplace();
  timing.network = variable("WIREWATT_NETWORK").value_or("");
  if (const auto file = variable("WIREWATT_TIMING")) {
    timing.origin = *file;
    WW_ASSIGN(text, read_file(*file));
    timing.settings = std::move(text);
  }
  WW_TRY(read_timing_keys(variable("WIREWATT_TIMING_KEYS").value_or(""), timing));
  if (const auto text = variable("WIREWATT_APPROX_THRESHOLD")) {
    double percent = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, percent);
    if (error != std::errc{} || stop != end || !(percent >= 0 && percent <= 100)) {
      return fail(ErrorCode::invalid_argument,
                  "\"" + *text + "\" is not a percentage from 0 to 100",
                  "WIREWATT_APPROX_THRESHOLD");
    }
    timing.threshold_percent = percent;
  }
  settings.timing_file = recording_name(variable("WIREWATT_TIMING_REPORT").value_or(""));
  return {};
}

// A line on the terminal while a launch lasts, once it has lasted for a second.
class LaunchLine {
 public:
  void tell(const gpu::LaunchProgress& launch) {
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
                       const gpu::LaunchProgress& launch) { line->tell(launch); },
                   kBetween);
}

}  // namespace

void complain(const std::string& text) {
  const std::string line = "wirewatt: " + text + "\n";
  std::fputs(line.c_str(), stderr);
}

Result<Settings> settings_from_environment() {
  Settings settings;
  constexpr auto kAny = ~std::uint64_t{0};
  if (auto chip = variable("WIREWATT_CHIP")) settings.chip.chip = *chip;
  WW_TRY(read_number<std::uint64_t>("WIREWATT_CHIP_SEED", 0, kAny, settings.chip.seed));
  if (auto text = variable("WIREWATT_CHIP_CLASS")) {
    auto chip_class = gpu::chip_class_from_string(*text);
    if (!chip_class) {
      return fail(ErrorCode::invalid_argument,
                  "\"" + *text + "\" is not one of nested, mild, strong", "WIREWATT_CHIP_CLASS");
    }
    settings.chip.chip_class = *chip_class;
  }
  WW_TRY(read_number<std::uint64_t>("WIREWATT_NOISE_SEED", 0, kAny, settings.options.noise_seed));
  WW_TRY(read_number<unsigned>("WIREWATT_THREADS", 0, 256, settings.options.threads));
  if (auto text = variable("WIREWATT_SPEED")) {
    const auto speed = gpu::speed_from_string(*text);
    if (!speed) {
      return fail(ErrorCode::invalid_argument, speed.error().message, "WIREWATT_SPEED");
    }
    settings.options.speed = *speed;
  }
  WW_TRY(read_switch("WIREWATT_PROGRESS", settings.progress));
  WW_TRY(read_switch("WIREWATT_TRACE_VALUES", settings.trace_values));
  WW_TRY(
      read_number<int>("WIREWATT_COMPILE_TIMEOUT_MS", 1, 86'400'000, settings.compile_timeout_ms));
  WW_TRY(read_memory_settings(settings.options));
  WW_TRY(read_timing_settings(settings));
  WW_ASSIGN(approximations, parse_approximations(variable("WIREWATT_APPROX").value_or("")));
  settings.approximations = std::move(approximations);
  settings.counters_file = recording_name(variable("WIREWATT_COUNTERS").value_or(""));
  settings.counters_aside = recording_name(variable("WIREWATT_COUNTERS_ASIDE").value_or(""));
  settings.trace_aside = recording_name(variable("WIREWATT_TRACE_ASIDE").value_or(""));
  settings.trace_file = recording_name(variable("WIREWATT_TRACE").value_or(""));
  settings.samples_file = recording_name(variable("WIREWATT_SAMPLES").value_or(""));
  settings.watched = watched();
  settings.mistakes_file = recording_name(variable("WIREWATT_MISTAKES").value_or(""));
  settings.sealed_file = recording_name(variable("WIREWATT_SEALED_ENERGY").value_or(""));
  return settings;
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
    complain("no virtual GPU: " + settings.error().text());
    return nullptr;
  }
  compile_timeout_ms_ = settings->compile_timeout_ms;
  auto chip = gpu::Chip::load(settings->chip);
  if (!chip) {
    complain("no virtual GPU: WIREWATT_CHIP=\"" + settings->chip.chip +
             "\": " + chip.error().text());
    return nullptr;
  }
  if (settings->timing) {
    auto timing = gpu::make_timing(chip->architecture(), *settings->timing);
    if (!timing) {
      complain("no virtual GPU in timing mode: " + timing.error().text());
      return nullptr;
    }
    settings->options.timing = std::move(*timing);
  }
  auto recordings = Recordings::open(*settings);
  if (!recordings) {
    complain("no virtual GPU: " + recordings.error().text());
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
    complain("no virtual GPU: WIREWATT_CHIP=\"" + settings->chip.chip +
             "\": " + powered.error().text());
    return nullptr;
  }
  gpu_ = std::move(*powered);
  if (settings->progress) show_progress(*gpu_);
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
    complain("WIREWATT_COUNTERS: " + added.error().text());
  }
  recordings_->add_accesses();
  if (auto saved = recordings_->save_new_mistakes(mistakes); !saved) {
    complain("WIREWATT_MISTAKES: " + saved.error().text());
  }
  feed_watcher(*gpu_);
}

void Runtime::save_counters() {
  if (gpu_ == nullptr) return;
  if (auto saved = recordings_->save_counters(*gpu_); !saved) {
    complain("WIREWATT_COUNTERS: " + saved.error().text());
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
      complain("the program exited amid a call to its device: counters and trace are not written");
      runtime.ending_ = false;
      return;
    }
    std::this_thread::sleep_for(kEndingStep);
  }
  runtime.ending_ = false;
  try {
    for (const ApproximationRule& rule : runtime.approximations) {
      if (!rule.used) complain("WIREWATT_APPROX: \"" + rule.text + "\" met no buffer");
    }
    runtime.save_counters();
    runtime.recordings_->rest(*runtime.gpu_);
    feed_watcher(*runtime.gpu_);
    if (auto saved = runtime.recordings_->save_power(*runtime.gpu_); !saved) {
      complain("WIREWATT_SAMPLES: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->save_timing(*runtime.gpu_); !saved) {
      complain("WIREWATT_TIMING_REPORT: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->save_mistakes(runtime.mistakes); !saved) {
      complain("WIREWATT_MISTAKES: " + saved.error().text());
    }
    if (auto saved = runtime.recordings_->finish_trace(); !saved) {
      complain("WIREWATT_TRACE: " + saved.error().text());
    }
  } catch (...) {
    complain("no memory to write counters and trace");
  }
}

bool Runtime::checking() {
  return variable("WIREWATT_CHECK").has_value();
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
        complain("an application callback threw an exception; it was dropped");
      }
    }
    lock_ = runtime.lock();
    callbacks.clear();  // lets go of objects, which may call back in turn
  }
}

}  // namespace ww::sim::driver
