#include "common/runtime/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "ww/core/atomic_file.hpp"

namespace ww::sim::driver {
namespace {

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

// "vcs=5"
Result<std::pair<std::string, std::string>> timing_key(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" is not KEY=VALUE", "timing_keys");
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Status refuse_without_timing_mode(const DriverSettings& passed) {
  const char* name = variable("WIREWATT_NETWORK")    ? "WIREWATT_NETWORK"
                     : !passed.timing.empty()        ? "timing"
                     : !passed.timing_keys.empty()   ? "timing_keys"
                     : !passed.timing_report.empty() ? "timing_report"
                     : passed.approx_threshold       ? "approx_threshold"
                                                     : nullptr;
  if (name == nullptr) return {};
  return fail(ErrorCode::invalid_argument, "means something with WIREWATT_MODE=timing only", name);
}

// The system of timing mode.
Status read_timing_settings(Settings& settings) {
  const auto mode = variable("WIREWATT_MODE").value_or("functional");
  if (mode != "functional" && mode != "timing") {
    return fail(ErrorCode::invalid_argument, "\"" + mode + "\" is not one of functional, timing",
                "WIREWATT_MODE");
  }
  const DriverSettings& passed = settings.passed;
  if (mode == "functional") return refuse_without_timing_mode(passed);
  gpu::TimingRequest& timing = settings.timing.emplace();
  timing.network = variable("WIREWATT_NETWORK").value_or("");
  if (!passed.timing.empty()) {
    timing.origin = passed.timing;
    WW_ASSIGN(text, read_file(passed.timing));
    timing.settings = std::move(text);
  }
  for (const std::string& text : passed.timing_keys) {
    WW_ASSIGN(key, timing_key(text));
    timing.keys.push_back(std::move(key));
  }
  timing.threshold_percent = passed.approx_threshold;
  return {};
}

}  // namespace

std::string recording_name(std::string name) {
  const auto process = std::to_string(::getpid());
  for (auto at = name.find("%p"); at != std::string::npos; at = name.find("%p", at)) {
    name.replace(at, 2, process);
    at += process.size();
  }
  return name;
}

bool checking() {
  return variable("WIREWATT_CHECK").has_value();
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
  WW_TRY(
      read_number<int>("WIREWATT_COMPILE_TIMEOUT_MS", 1, 86'400'000, settings.compile_timeout_ms));
  WW_TRY(read_memory_settings(settings.options));
  WW_ASSIGN(passed, read_driver_settings());
  settings.passed = std::move(passed);
  WW_TRY(read_timing_settings(settings));
  WW_ASSIGN(approximations, parse_approximations(settings.passed.approx));
  settings.approximations = std::move(approximations);
  settings.counters_file = recording_name(variable("WIREWATT_COUNTERS").value_or(""));
  settings.trace_file = recording_name(variable("WIREWATT_TRACE").value_or(""));
  settings.samples_file = recording_name(variable("WIREWATT_SAMPLES").value_or(""));
  for (std::string* file :
       {&settings.passed.counters_aside, &settings.passed.trace_aside, &settings.passed.mistakes,
        &settings.passed.sealed_energy, &settings.passed.timing_report}) {
    *file = recording_name(std::move(*file));
  }
  return settings;
}

}  // namespace ww::sim::driver
