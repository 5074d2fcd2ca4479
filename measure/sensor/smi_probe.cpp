#include "sensor/smi_probe.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "ww/measure/child.hpp"

namespace ww::measure {
namespace {

constexpr auto kSmiPatience = std::chrono::seconds(12);  // the libraries' own lock waits 5 s

}  // namespace

Status smi_concerns(const AmdGpu& gpu, const TelemetryOptions& options) {
  // The library reads /sys alone: under another tree it would answer for other cards.
  if (sysfs_of(options) != "/sys") {
    return fail(ErrorCode::unsupported, "this backend cannot read another device tree");
  }
  if (gpu.other_die && gpu.other_die->holds_sensor) {
    return fail(ErrorCode::unsupported,
                "the other die of the package (" + to_string(gpu.other_die->pci) +
                    ") holds the sensor, and this library does not read it for this one");
  }
  return {};
}

std::set<std::string> smi_locks() {
  std::set<std::string> names;
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ec)) {
    if (entry.path().filename().string().starts_with("rocm_smi_card")) {
      names.insert(entry.path().string());
    }
  }
  return names;
}

Status probe_smi(const std::string& library, const AmdGpu& gpu,
                 const std::function<Result<std::unique_ptr<PowerSource>>()>& open) {
  const auto before = smi_locks();
  const auto answer = run_in_child(
      [&open] {
        const auto source = open();
        if (!source) {
          return std::to_string(static_cast<int>(source.error().code)) + " " +
                 source.error().message;
        }
        RawReading reading;
        for (int i = 0; i < 2; ++i) {
          (*source)->read_fast(reading);
          (*source)->read_slow(reading);
        }
        return std::string("good");
      },
      kSmiPatience);
  if (answer) {
    if (*answer == "good") {
      return {};
    }
    const auto code = static_cast<ErrorCode>(std::atoi(answer->c_str()));
    return fail(code, answer->substr(answer->find(' ') + 1), to_string(gpu.pci));
  }
  // Removes the child's locks, which it will not release; no other process has a new one.
  for (const auto& lock : smi_locks()) {
    std::error_code ec;
    if (!before.contains(lock)) {
      std::filesystem::remove(lock, ec);
    }
  }
  return fail(ErrorCode::device_error, library + " is not used: " + answer.error().message,
              to_string(gpu.pci));
}

}  // namespace ww::measure
