// Runs the parts of the test and keeps what they gave.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "ww/core/interrupt.hpp"
#include "ww/measure/environment.hpp"
#include "ww/measure/polled_sensor.hpp"
#include "ww/measure/recorder.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/counter_check.hpp"
#include "ww/microbench/gpu_load.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::selftest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kParts = 5;
constexpr int kSteps = 6;
constexpr double kStepSeconds = 2.0;
constexpr std::size_t kStreamBytes = std::size_t{4} << 20;  // of each copy
constexpr int kCopies = 8;

std::string system_text() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {} {}", names.sysname, names.release, names.machine)
                            : std::string("unknown");
}

// Nobody's name goes into the archive: homes are written as "~".
std::string without_home(std::string text) {
  const char* home = std::getenv("HOME");
  const std::string path = home == nullptr ? "" : home;
  if (path.size() < 2) return text;
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    text.replace(at, path.size(), "~");
  }
  return text;
}

class Collector {
 public:
  Collector(microbench::ComputeDevice& device, Archive& archive)
      : device_(device), archive_(archive) {
    if (device_.sensor != nullptr) recorder_.emplace(*device_.sensor);
  }

  void topology() {
    auto found = microbench::discover_topology(*device_.host, {});
    if (!found) {
      archive_.no_topology = without_home(found.error().text());
      return;
    }
    archive_.topology = std::move(*found);
    archive_.topology->device = archive_.device;
    archive_.topology->is_virtual = archive_.is_virtual;
  }

  void waves() {
    auto found = microbench::record_wave_places(*device_.host);
    if (found) {
      archive_.waves = std::move(*found);
    } else {
      archive_.no_waves = without_home(found.error().text());
    }
  }

  Status step_test() {
    Recording& test = archive_.step_test;
    if (!recorder_) {
      test.absent = without_home(device_.no_sensor);
      return {};
    }
    auto load = microbench::make_gpu_load(*device_.host, *device_.sensor);
    if (!load) test.absent = without_home(load.error().text());
    WW_TRY(take(nullptr));
    rest(kStepSeconds);
    for (int step = 0; load && step < kSteps; ++step) {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      auto done = (*load)->run_for(kStepSeconds);
      if (!done) {
        test.absent = without_home(done.error().text());
        break;
      }
      test.steps.push_back(*done);
      rest(kStepSeconds);
      WW_TRY(take(&test));
    }
    return take(&test);
  }

  Status stream() {
    Recording& stream = archive_.stream;
    if (!recorder_) {
      stream.absent = without_home(device_.no_sensor);
      return {};
    }
    WW_TRY(take(nullptr));
    rest(kStepSeconds / 2);
    measure::LoadStep step;
    step.on_ns = device_.sensor->now_ns();
    const auto copied = microbench::copy_known_bytes(*device_.host, kStreamBytes, kCopies, {});
    step.off_ns = device_.sensor->now_ns();
    rest(kStepSeconds / 2);
    if (copied) {
      stream.bytes = static_cast<double>(*copied) * kCopies;
      stream.steps.push_back(step);
    } else {
      stream.absent = without_home(copied.error().text());
    }
    return take(&stream);
  }

 private:
  void rest(double seconds) {
    device_.sensor->sleep_until(device_.sensor->now_ns() + std::llround(seconds * 1e9));
  }
  // Adds the sensor's readings since the last call to `into`, or drops them.
  Status take(Recording* into) {
    WW_ASSIGN(readings, recorder_->take());
    auto rails = device_.sensor->new_rails();
    if (into == nullptr) return {};
    std::ranges::move(readings, std::back_inserter(into->readings));
    std::ranges::move(rails, std::back_inserter(into->rails));
    return {};
  }

  microbench::ComputeDevice& device_;
  Archive& archive_;
  std::optional<measure::Recorder> recorder_;
};

}  // namespace

Result<Archive> collect(const microbench::DeviceRequest& request, const Narrator& narrate) {
  const auto begun = Clock::now();
  const auto say = [&narrate](const char* step, int done) {
    if (narrate) narrate(step, done, kParts);
  };
  Archive archive;
  archive.version = WW_VERSION;
  archive.system = system_text();
  say("libraries", 0);
  archive.libraries = measure::check_libraries();
  for (measure::Finding& finding : archive.libraries) finding.detail = without_home(finding.detail);
  WW_ASSIGN(device, microbench::open_compute_device(request));
  const microbench::HostFacts facts = device.host->facts();
  archive.device = device.name;
  archive.is_virtual = device.is_virtual;
  archive.api = facts.api;
  archive.name = facts.device;
  archive.driver = facts.driver;
  archive.target = facts.target;
  archive.pci = facts.pci_bus;
  if (device.sensor != nullptr) {
    archive.sensor = device.sensor->facts().name;
    archive.fields = device.sensor->fields();
  }
  Collector collector(device, archive);
  say("latencies", 1);
  collector.topology();
  say("pinning", 2);
  collector.waves();
  say("step test", 3);
  WW_TRY(collector.step_test());
  say("stream", 4);
  WW_TRY(collector.stream());
  archive.elapsed_s = std::chrono::duration<double>(Clock::now() - begun).count();
  return archive;
}

}  // namespace ww::selftest
