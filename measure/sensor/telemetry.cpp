#include "ww/measure/telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sensor/backends.hpp"
#include "sensor/cray/cards.hpp"
#include "sensor/cray/cray_counters.hpp"
#include "ww/measure/child.hpp"

namespace ww::measure {
namespace {

using nlohmann::json;

constexpr auto kPatience = std::chrono::seconds(20);

template <class T>
json maybe(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

template <class T>
std::optional<T> maybe(const json& value) {
  if (value.is_null()) return {};
  return value.get<T>();
}

// Lists NVIDIA's GPUs as a child sees them, as JSON.
std::string nvidia_view() {
  json answer;
  const auto gpus = list_nvidia_gpus();
  if (!gpus) {
    answer["error"] = gpus.error().message;
    return answer.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  answer["gpus"] = json::array();
  for (const NvidiaGpu& gpu : *gpus) {
    const auto source = open_nvml(gpu.pci);
    answer["gpus"].push_back({{"pci", to_string(gpu.pci)},
                              {"name", gpu.name},
                              {"driver", gpu.driver},
                              {"mig", maybe(gpu.mig)},
                              {"ecc", maybe(gpu.ecc)},
                              {"persistence", maybe(gpu.persistence)},
                              {"busy", maybe(gpu.busy_percent)},
                              {"processes", maybe(gpu.processes)},
                              {"reason", source ? "" : source.error().message}});
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

void add_nvidia(Telemetry& telemetry) {
  const auto text = run_in_child(nvidia_view, kPatience);
  if (!text) {
    telemetry.no_nvidia = "NVML: " + text.error().message;
    return;
  }
  const json answer = json::parse(*text, nullptr, false);
  if (answer.is_discarded() || answer.contains("error")) {
    telemetry.no_nvidia =
        answer.is_discarded() ? "NVML gave no answer" : answer["error"].get<std::string>();
    return;
  }
  for (const json& entry : answer["gpus"]) {
    NvidiaGpu gpu;
    const auto pci = parse_pci_address(entry["pci"].get<std::string>());
    if (!pci) continue;
    gpu.pci = *pci;
    gpu.name = entry["name"].get<std::string>();
    gpu.driver = entry["driver"].get<std::string>();
    gpu.mig = maybe<bool>(entry["mig"]);
    gpu.ecc = maybe<bool>(entry["ecc"]);
    gpu.persistence = maybe<bool>(entry["persistence"]);
    gpu.busy_percent = maybe<unsigned>(entry["busy"]);
    gpu.processes = maybe<std::vector<unsigned>>(entry["processes"]);
    gpu.no_power = entry["reason"].get<std::string>();
    telemetry.gpus.push_back({gpu.pci, gpu.name, {}, {}, gpu});
  }
  if (answer["gpus"].empty()) telemetry.no_nvidia = "NVML lists no GPU";
}

void add_amd(Telemetry& telemetry, const std::string& sysfs) {
  const auto gpus = list_amd_gpus(sysfs);
  if (gpus.empty()) {
    telemetry.no_amd = fmt::format("no amdgpu card under {}/class/drm", sysfs);
    return;
  }
  for (const AmdGpu& gpu : gpus) {
    TelemetryGpu found;
    found.pci = gpu.pci;
    found.name = gpu.name;
    found.amd = gpu;
    telemetry.gpus.push_back(std::move(found));
  }
}

Result<std::unique_ptr<ClockControl>> open_clocks(const TelemetryGpu& gpu, bool allowed) {
  if (!allowed) return fail(ErrorCode::unsupported, "clocks are left alone (--no-clock-control)");
  if (!gpu.nvidia && !gpu.amd) {
    return fail(ErrorCode::unsupported, "no control of its clocks is known", gpu.name);
  }
  WW_ASSIGN(guardian, ClockGuardian::start());
  if (gpu.nvidia) return open_nvml_clock_control(gpu.pci, std::move(guardian));
  return open_amd_clock_control(*gpu.amd, std::move(guardian));
}

}  // namespace

SensorBackend sensor_backend(std::string name, const Status& usable, OpenPowerSource open) {
  return {std::move(name), usable.has_value(), usable ? "" : usable.error().message,
          std::move(open)};
}

std::string sysfs_of(const TelemetryOptions& options) {
  if (!options.sysfs.empty()) return options.sysfs;
  const char* set = std::getenv("WIREWATT_SYSFS");
  return set != nullptr && *set != '\0' ? set : "/sys";
}

Telemetry find_telemetry(const TelemetryOptions& options) {
  Telemetry telemetry;
  add_amd(telemetry, sysfs_of(options));
  add_nvidia(telemetry);
  for (TelemetryGpu& gpu : telemetry.gpus) try_backends(gpu, options);
  return telemetry;
}

void try_backends(TelemetryGpu& gpu, const TelemetryOptions& options) {
  gpu.backends.clear();
  for (const TrySensorBackend try_backend : kSensorBackends) {
    auto backend = try_backend(gpu, options);
    if (!backend) continue;
    const bool enough = backend->usable && !options.all_backends;
    gpu.backends.push_back(std::move(*backend));
    if (enough) return;
  }
}

Result<std::unique_ptr<PowerSource>> open_source(const TelemetryGpu& gpu) {
  std::string why;
  bool denied = false;
  for (const SensorBackend& backend : gpu.backends) {
    if (!backend.usable) {
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", backend.name, backend.reason);
      continue;
    }
    auto source = backend.open();
    if (source) return source;
    denied = denied || source.error().code == ErrorCode::permission_denied;
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", backend.name, source.error().message);
  }
  return fail(denied ? ErrorCode::permission_denied : ErrorCode::device_error,
              "its power sensor cannot be read: " + why, to_string(gpu.pci));
}

Result<std::unique_ptr<PolledSensor>> open_sensor_beside_a_program(const TelemetryGpu& gpu,
                                                                   std::int64_t interval_ns) {
  WW_ASSIGN(source, open_source(gpu));
  const auto& fields = source->fields();
  const auto energy = std::ranges::find(fields, "energy", &FieldState::name);
  const bool has_accumulator = energy != fields.end() && energy->status == FieldStatus::ok;
  const std::string sysfs = sysfs_of({});
  const std::string folder = cray_folder(sysfs);
  if (const auto accelerator = cray_accelerator_of(gpu, folder, sysfs)) {
    source = with_cray_meters(std::move(source), folder, *accelerator);
  } else {
    source = with_cray_meters(std::move(source), folder, std::nullopt);
  }
  return PolledSensor::start(std::move(source), nullptr, "clocks are left alone",
                             beside_a_program(interval_ns, has_accumulator));
}

Result<std::unique_ptr<PolledSensor>> open_sensor(const TelemetryGpu& gpu,
                                                  const TelemetryOptions& options) {
  if (gpu.amd && !options.whole_package) WW_TRY(other_die_idles(*gpu.amd));
  // The guardian forks: before the sampler's thread is there.
  auto clocks = open_clocks(gpu, options.clock_control);
  WW_ASSIGN(source, open_source(gpu));
  return PolledSensor::start(std::move(source), clocks ? std::move(*clocks) : nullptr,
                             clocks ? "" : clocks.error().message, options.sampler);
}

}  // namespace ww::measure
