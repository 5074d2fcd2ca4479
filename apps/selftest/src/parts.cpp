#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <utility>

#include "card_files.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/process.hpp"
#include "ww/measure/environment.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/polled_sensor.hpp"
#include "ww/measure/recorder.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/counter_check.hpp"
#include "ww/microbench/gpu_load.hpp"
#include "ww/microbench/traffic_check.hpp"

namespace ww::selftest {
namespace {

using microbench::DeviceRequest;

constexpr int kSteps = 6;
constexpr double kStepSeconds = 2.0;
// For registers that settle later: an MI210's is an average over 4 s.
constexpr int kSlowSteps = 3;
constexpr double kSlowStepSeconds = 12.0;
constexpr double kIdleSeconds = 10.0;
constexpr double kCopySeconds = 2.0;
constexpr double kExecutedCopySeconds = 0.5;  // of a chip whose copies this processor executes
constexpr std::size_t kMinCopyBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxCopyBytes = std::size_t{256} << 20;
// Processor time for the copies, where this processor executes them step by step.
constexpr double kMaxCopyProcessorS = 5.0;
constexpr int kSmallLaunches = 200;  // a tenth there

bool is_sensor_alone(const std::string& name) {
  const auto kind = DeviceName(name).kind();
  return kind == DeviceName::Kind::pci || kind == DeviceName::Kind::sensor;
}

// The sensor of the device, which may be one on which nothing computes.
struct Opened {
  microbench::ComputeDevice device;
  std::unique_ptr<measure::Sensor> alone;
  std::string name_of_card;
  [[nodiscard]] measure::Sensor* sensor() const {
    return alone != nullptr ? alone.get() : device.sensor.get();
  }
};

Result<Opened> open_any(const DeviceRequest& request) {
  Opened opened;
  if (!is_sensor_alone(request.name)) {
    WW_ASSIGN(device, microbench::open_compute_device(request));
    opened.device = std::move(device);
    return opened;
  }
  const auto telemetry = measure::find_telemetry();
  WW_ASSIGN(index, measure::choose_gpu(telemetry, request.name));
  const measure::TelemetryGpu& gpu = telemetry.gpus[index];
  measure::TelemetryOptions options;
  options.clock_control = false;
  opened.device.name = request.name;
  opened.name_of_card = gpu.name;
  auto sensor = measure::open_sensor(gpu, options);
  if (sensor) {
    opened.alone = std::move(*sensor);
  } else {
    opened.device.no_sensor = sensor.error().text();
  }
  return opened;
}

// Readings of the sensor while something runs.
class Watch {
 public:
  Watch(measure::Sensor& sensor, Recording& into)
      : sensor_(sensor), recorder_(sensor), into_(into) {}
  // Forgets what came before.
  void begin() { take(false); }
  void rest(double seconds) {
    // In pieces, so that Ctrl-C is noticed.
    const std::int64_t end_ns = sensor_.now_ns() + std::llround(seconds * 1e9);
    while (!interrupted() && sensor_.now_ns() < end_ns) {
      sensor_.sleep_until(std::min(end_ns, sensor_.now_ns() + kPieceNs));
      take(true);
    }
  }
  void keep() { take(true); }

 private:
  static constexpr std::int64_t kPieceNs = 500'000'000;
  void take(bool keep) {
    auto readings = recorder_.take();
    auto rails = sensor_.new_rails();
    if (!readings) {
      into_.absent = without_home(readings.error().text());
      return;
    }
    if (!keep) return;
    std::ranges::move(*readings, std::back_inserter(into_.readings));
    std::ranges::move(rails, std::back_inserter(into_.rails));
  }
  measure::Sensor& sensor_;
  measure::Recorder recorder_;
  Recording& into_;
};

void fill_system(const DeviceRequest&, Archive& archive) {
  archive.libraries = measure::check_libraries();
  for (measure::Finding& finding : archive.libraries) finding.detail = without_home(finding.detail);
  archive.files = card_files(measure::sysfs_of({}));
  for (microbench::DeviceListing& device : microbench::list_devices()) {
    if (device.is_virtual) continue;
    device.reason = without_home(device.reason);
    archive.devices.push_back(std::move(device));
  }
}

void fill_device(const DeviceRequest& request, Archive& archive) {
  const auto opened = open_any(request);
  if (!opened) {
    archive.no_topology = archive.no_waves = without_home(opened.error().text());
    archive.step_test.absent = archive.stream.absent = archive.no_waves;
    return;
  }
  if (opened->device.host != nullptr) {
    const microbench::HostFacts facts = opened->device.host->facts();
    archive.is_virtual = opened->device.is_virtual;
    archive.api = facts.api;
    archive.name = facts.device;
    archive.driver = facts.driver;
    archive.target = facts.target;
    archive.pci = facts.pci_bus;
  } else {
    archive.name = opened->name_of_card;
    archive.pci = std::string(DeviceName(request.name).rest());
  }
  if (opened->sensor() == nullptr) {
    archive.step_test.absent = without_home(opened->device.no_sensor);
    archive.idle.absent = archive.stream.absent = archive.step_test.absent;
    return;
  }
  archive.sensor = opened->sensor()->facts().name;
  archive.fields = opened->sensor()->fields();
}

void fill_latencies(const DeviceRequest& request, Archive& archive) {
  const auto device = microbench::open_compute_device(request);
  auto found = device ? microbench::discover_topology(*device->host, {}, &archive.probes)
                      : tl::unexpected(device.error());
  if (!found) {
    archive.no_topology = without_home(found.error().text());
    return;
  }
  archive.topology = std::move(*found);
  archive.topology->device = device->name;
  archive.topology->is_virtual = device->is_virtual;
}

void fill_waves(const DeviceRequest& request, Archive& archive) {
  const auto device = microbench::open_compute_device(request);
  auto found =
      device ? microbench::record_wave_places(*device->host) : tl::unexpected(device.error());
  if (found) {
    archive.waves = std::move(*found);
  } else {
    archive.no_waves = without_home(found.error().text());
  }
}

// Switches the load on and off, after a rest of the same length.
void record_steps(measure::Load& load, Watch& watch, Recording& test, int steps, double seconds) {
  test.readings.clear();
  test.rails.clear();
  test.steps.clear();
  watch.begin();
  watch.rest(seconds);
  for (int step = 0; step < steps && !interrupted(); ++step) {
    auto done = load.run_for(seconds);
    if (!done) {
      test.absent = without_home(done.error().text());
      break;
    }
    test.steps.push_back(*done);
    watch.rest(seconds);
  }
  watch.keep();
}

void fill_steps(const DeviceRequest& request, Archive& archive) {
  Recording& test = archive.step_test;
  const auto opened = open_any(request);
  if (!opened || opened->sensor() == nullptr) {
    test.absent = without_home(opened ? opened->device.no_sensor : opened.error().text());
    archive.idle.absent = test.absent;
    return;
  }
  measure::Sensor& sensor = *opened->sensor();
  auto load = opened->device.host != nullptr
                  ? microbench::make_gpu_load(*opened->device.host, sensor)
                  : fail(ErrorCode::unsupported, "nothing here computes on it");
  {
    Watch idle(sensor, archive.idle);
    idle.begin();
    idle.rest(kIdleSeconds);
  }
  if (load) {
    Watch watch(sensor, test);
    record_steps(**load, watch, test, kSteps, kStepSeconds);
    const auto response = measure::analyse_steps(test.readings, test.steps);
    if (response && !response->resolved && !interrupted()) {
      record_steps(**load, watch, test, kSlowSteps, kSlowStepSeconds);
    }
  } else {
    test.absent = without_home(load.error().text());
    // A sensor without a load shows at least whether its readings can be believed at rest.
    test.readings = archive.idle.readings;
  }
  if (auto* polled = dynamic_cast<measure::PolledSensor*>(&sensor); polled != nullptr) {
    const measure::SamplerStats stats = polled->stats();
    archive.polls = PollTimes{stats.read_p50_us, stats.read_p99_us, stats.ticks};
  }
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The largest copy that the device's memory lets be; a small one on devices whose launches this
// processor executes, and which repeat what they have executed. `seconds`: how long to copy, of the
// device's time.
Result<microbench::KnownCopy> largest_copy(microbench::ComputeHost& host, double& seconds) {
  seconds = kExecutedCopySeconds;
  WW_ASSIGN(small, microbench::KnownCopy::make(host, kMinCopyBytes));
  WW_TRY(small.fill(1));
  const double before = processor_seconds();
  WW_TRY(small.launch_and_wait());
  constexpr double kMaxProcessorS = 0.02;
  if (processor_seconds() - before > kMaxProcessorS) return small;
  auto large = microbench::KnownCopy::make(host, kMaxCopyBytes);
  for (std::size_t bytes = kMaxCopyBytes / 2; !large && bytes >= kMinCopyBytes; bytes /= 2) {
    large = microbench::KnownCopy::make(host, bytes);
  }
  if (large) WW_TRY(large->fill(2));
  seconds = kCopySeconds;
  return large;
}

// Copies over and over.
Status copy_steadily(microbench::ComputeHost& host, measure::Sensor& sensor, Recording& stream) {
  double seconds = 0;
  WW_ASSIGN(copy, largest_copy(host, seconds));
  measure::LoadStep step;
  double launches = 0;
  constexpr int kBatch = 8;  // launches between two waits
  const double end_processor_s = processor_seconds() + kMaxCopyProcessorS;
  step.on_ns = sensor.now_ns();
  const std::int64_t end_ns = step.on_ns + std::llround(seconds * 1e9);
  do {
    for (int i = 0; i < kBatch; ++i) WW_TRY(copy.launch());
    WW_TRY(host.finish());
    launches += kBatch;
    step.off_ns = sensor.now_ns();
  } while (step.off_ns < end_ns && processor_seconds() < end_processor_s && !interrupted());
  WW_TRY(copy.check());
  stream.bytes = launches * static_cast<double>(copy.bytes());
  stream.steps.push_back(step);
  return {};
}

void fill_stream(const DeviceRequest& request, Archive& archive) {
  Recording& stream = archive.stream;
  const auto device = microbench::open_compute_device(request);
  if (!device || device->sensor == nullptr) {
    stream.absent = without_home(device ? device->no_sensor : device.error().text());
    return;
  }
  Watch watch(*device->sensor, stream);
  watch.begin();
  watch.rest(kStepSeconds / 2);
  const Status copied = copy_steadily(*device->host, *device->sensor, stream);
  if (!copied) stream.absent = without_home(copied.error().text());
  watch.rest(kStepSeconds / 2);
  watch.keep();
}

void fill_launches(const DeviceRequest& request, Archive& archive) {
  LaunchCosts& costs = archive.launches;
  const auto measured = [&]() -> Status {
    WW_ASSIGN(device, microbench::open_compute_device(request));
    WW_ASSIGN(copy, microbench::KnownCopy::make(*device.host, 4096));
    WW_TRY(copy.fill(1));
    WW_TRY(copy.launch_and_wait());
    const int count = device.is_virtual ? kSmallLaunches / 10 : kSmallLaunches;
    for (int i = 0; i < count && !interrupted(); ++i) {
      const std::int64_t begin = measure::steady_now_ns();
      WW_TRY(copy.launch_and_wait());
      costs.waited_s.push_back(static_cast<double>(measure::steady_now_ns() - begin) * 1e-9);
    }
    for (int i = 0; i < count && !interrupted(); ++i) {
      const auto seconds = copy.time_launch();
      if (!seconds) break;  // no events
      costs.by_events_s.push_back(*seconds);
    }
    return {};
  }();
  if (!measured) costs.absent = without_home(measured.error().text());
}

void fill_sleeps(const DeviceRequest& request, Archive& archive) {
  const auto measured = [&]() -> Result<microbench::SleepCurve> {
    WW_ASSIGN(device, microbench::open_compute_device(request));
    return microbench::measure_sleeps(*device.host);
  }();
  if (measured) {
    archive.sleeps = *measured;
  } else {
    archive.no_sleeps = without_home(measured.error().text());
  }
}

// RDNA has a cache between the L1s of a shader array and the L2: whether the streams' loads pass it
// is what a campaign there must know.
void fill_visibility(const DeviceRequest& request, Archive& archive) {
  const auto device = microbench::open_compute_device(request);
  if (!device) {
    archive.no_visibility = without_home(device.error().text());
    return;
  }
  if (!device->target.starts_with("gfx1")) return;
  const auto tested = microbench::test_visibility(*device->host);
  if (tested) {
    archive.visibility = *tested;
  } else {
    archive.no_visibility = without_home(tested.error().text());
  }
}

// Counted bytes of known copies, and of streams where the card's layout is known.
Result<microbench::TrafficCheck> check_counters(const DeviceRequest& request) {
  WW_ASSIGN(self, own_program());
  if (!DeviceName(request.name).is_virtual()) return microbench::check_traffic(request, self);
  WW_ASSIGN(device, microbench::open_compute_device(request));
  microbench::TrafficCheck check;
  WW_ASSIGN(mapping, microbench::check_device_mapping(device, self));
  check.mapping = std::move(mapping);
  return check;
}

void fill_counters(const DeviceRequest& request, Archive& archive) {
  const auto checked = check_counters(request);
  const std::string why = without_home(checked ? checked->reason : checked.error().text());
  if (!checked || checked->mapping.empty()) {
    archive.counters.push_back({"counters", measure::Verdict::unavailable, why, ""});
    return;
  }
  if (checked->stream_deviation) {
    archive.counters.push_back(
        {"counters of streams",
         checked->verified ? measure::Verdict::good : measure::Verdict::limited,
         fmt::format("{} counted {:+.2f}% beside what the streams moved{}{}", checked->profiler,
                     100 * *checked->stream_deviation, why.empty() ? "" : "; ", why),
         ""});
  } else if (!checked->profiler.empty()) {
    archive.counters.push_back({"counters of streams", measure::Verdict::unavailable, why, ""});
  }
  for (const measure::MappingCheck& check : checked->mapping) {
    using measure::MappingVerdict;
    measure::Finding finding{fmt::format("counters {}", to_string(check.segment)),
                             measure::Verdict::limited, without_home(check.reason), ""};
    if (check.verdict == MappingVerdict::exact) finding.verdict = measure::Verdict::good;
    if (check.verdict == MappingVerdict::refused) finding.verdict = measure::Verdict::bad;
    if (check.verdict == MappingVerdict::unavailable) {
      finding.verdict = measure::Verdict::unavailable;
    }
    if (check.counted_bytes) {
      finding.detail = fmt::format("{:.6g} B counted of {:.6g} known{}{}", *check.counted_bytes,
                                   check.expected_bytes, check.reason.empty() ? "" : ", ",
                                   without_home(check.reason));
    }
    archive.counters.push_back(std::move(finding));
  }
}

using std::chrono::seconds;

}  // namespace

std::string without_home(std::string text) {
  const char* home = std::getenv("HOME");
  const std::string path = home == nullptr ? "" : home;
  if (path.size() < 2) return text;
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    text.replace(at, path.size(), "~");
  }
  return text;
}

const std::array<Part, 10>& parts() {
  static constexpr std::array<Part, 10> kParts{
      Part{"machine", seconds(120), true, fill_system,
           [](Archive& into, Archive&& from) {
             into.libraries = std::move(from.libraries);
             into.files = std::move(from.files);
             into.devices = std::move(from.devices);
           },
           [](Archive&, const std::string&) {}},
      Part{"device", seconds(120), true, fill_device,
           [](Archive& into, Archive&& from) {
             into.is_virtual = from.is_virtual;
             into.api = std::move(from.api);
             into.name = std::move(from.name);
             into.driver = std::move(from.driver);
             into.target = std::move(from.target);
             into.pci = std::move(from.pci);
             into.sensor = std::move(from.sensor);
             into.fields = std::move(from.fields);
             into.no_topology = std::move(from.no_topology);
             into.no_waves = std::move(from.no_waves);
             into.idle.absent = std::move(from.idle.absent);
             into.step_test.absent = std::move(from.step_test.absent);
             into.stream.absent = std::move(from.stream.absent);
           },
           [](Archive&, const std::string&) {}},
      Part{"latencies", seconds(300), false, fill_latencies,
           [](Archive& into, Archive&& from) {
             into.topology = std::move(from.topology);
             into.no_topology = std::move(from.no_topology);
             into.probes = std::move(from.probes);
           },
           [](Archive& into, const std::string& why) { into.no_topology = why; }},
      Part{"pinning", seconds(120), false, fill_waves,
           [](Archive& into, Archive&& from) {
             into.waves = std::move(from.waves);
             into.no_waves = std::move(from.no_waves);
           },
           [](Archive& into, const std::string& why) { into.no_waves = why; }},
      Part{"step test", seconds(180), true, fill_steps,
           [](Archive& into, Archive&& from) {
             into.idle = std::move(from.idle);
             into.step_test = std::move(from.step_test);
             into.polls = from.polls;
           },
           [](Archive& into, const std::string& why) { into.step_test.absent = why; }},
      Part{"stream", seconds(120), false, fill_stream,
           [](Archive& into, Archive&& from) { into.stream = std::move(from.stream); },
           [](Archive& into, const std::string& why) { into.stream.absent = why; }},
      Part{"launches", seconds(60), false, fill_launches,
           [](Archive& into, Archive&& from) { into.launches = std::move(from.launches); },
           [](Archive& into, const std::string& why) { into.launches.absent = why; }},
      Part{"sleeps", seconds(60), false, fill_sleeps,
           [](Archive& into, Archive&& from) {
             into.sleeps = std::move(from.sleeps);
             into.no_sleeps = std::move(from.no_sleeps);
           },
           [](Archive& into, const std::string& why) { into.no_sleeps = why; }},
      Part{"visibility", seconds(60), false, fill_visibility,
           [](Archive& into, Archive&& from) {
             into.visibility = from.visibility;
             into.no_visibility = std::move(from.no_visibility);
           },
           [](Archive& into, const std::string& why) { into.no_visibility = why; }},
      Part{"counters", seconds(180), false, fill_counters,
           [](Archive& into, Archive&& from) { into.counters = std::move(from.counters); },
           [](Archive& into, const std::string& why) {
             into.counters = {{"counters", measure::Verdict::unavailable, why, ""}};
           }}};
  return kParts;
}

}  // namespace ww::selftest
