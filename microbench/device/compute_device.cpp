#include "ww/microbench/compute_device.hpp"

#include <fmt/format.h>

#include "device/amd_device.hpp"
#include "device/device.hpp"
#include "device/kfd_topology.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

Result<ComputeDevice> open_real(const DeviceRequest& request, const std::string& name) {
  if (request.clock_control) {
    for (const auto& line : measure::restore_leftovers()) log::warn("{}", line);
  }
  // Before the compute host: the tries of vendor libraries fork.
  const measure::Telemetry telemetry = measure::find_telemetry({});
  WW_ASSIGN(host, open_host(name));
  ComputeDevice opened;
  opened.name = name;
  opened.host = std::move(host);
  const HostFacts facts = opened.host->facts();
  opened.target = facts.target;
  opened.is_virtual = facts.is_virtual;
  opened.l2_bytes = facts.l2_bytes;
  if (opened.l2_bytes == 0 && facts.target.starts_with("gfx")) {
    if (const auto kfd = read_kfd_layout(kfd_root(), facts.pci_bus)) {
      opened.l2_bytes = kfd->l2_bytes.value_or(0);
    }
  }
  const SensorMatch match = match_sensor(facts, telemetry);
  if (match.gpu == nullptr) {
    opened.no_sensor = match.reason;
    return opened;
  }
  opened.amd = match.gpu->amd;
  opened.nvidia = match.gpu->nvidia;
  if (opened.amd) {  // KFD's own tables are wrong for some parts
    if (const AmdCard* card = find_amd_card(opened.amd->device_id))
      opened.l2_bytes = card->l2_bytes;
  }
  measure::TelemetryOptions options;
  options.clock_control = request.clock_control;
  auto sensor = measure::open_sensor(*match.gpu, options);
  if (sensor) {
    opened.sensor = std::move(*sensor);
  } else {
    opened.no_sensor = sensor.error().text();
  }
  return opened;
}

}  // namespace

Error no_power(const ComputeDevice& device) {
  return {ErrorCode::missing_dependency,
          fmt::format("its power cannot be read: {}. 'wirewatt doctor --device {}' names what is "
                      "missing; without a power sensor nothing can be calibrated, while topology, "
                      "run, and estimate --counters need none",
                      device.no_sensor, device.name),
          device.name};
}

SensorMatch match_sensor(const HostFacts& host, const measure::Telemetry& telemetry) {
  const auto address = measure::parse_pci_address(host.pci_bus);
  if (!address) {
    return {nullptr, fmt::format("the driver of {} does not tell its PCI address, so its sensor "
                                 "cannot be told from others",
                                 host.device)};
  }
  for (const auto& gpu : telemetry.gpus) {
    // NVIDIA's OpenCL reports no function, and no domain in older drivers.
    if (gpu.pci == *address) return {&gpu, ""};
  }
  // AMD numbers the partitions of a package in the function. Only function 0 is a device of the
  // bus, and its sensors are those of the package.
  if (address->function != 0) {
    auto package = *address;
    package.function = 0;
    for (const auto& gpu : telemetry.gpus) {
      const bool divided =
          gpu.amd && !gpu.amd->compute_partition.empty() && gpu.amd->compute_partition != "SPX";
      if (gpu.pci == package && divided) return {&gpu, ""};
    }
  }
  std::string reason = fmt::format("no sensor for the GPU at {}", host.pci_bus);
  for (const auto& why : {telemetry.no_amd, telemetry.no_nvidia}) {
    if (!why.empty()) reason += "; " + why;
  }
  return {nullptr, reason};
}

Result<ComputeDevice> open_compute_device(const DeviceRequest& request) {
  WW_ASSIGN(name, resolve_device_name(request));
  if (!DeviceName(name).is_virtual()) return open_real(request, name);
  WW_ASSIGN(device, open_device(request, name));
  ComputeDevice opened;
  opened.name = device.name;
  opened.is_virtual = device.is_virtual;
  opened.target = device.chip.target;
  opened.l2_bytes = device.chip.l2_bytes;
  opened.host = std::move(device.host);
  opened.sensor = std::move(device.sensor);
  opened.counters = std::move(device.counters);
  opened.timing_report = device.timing_report;
  return opened;
}

}  // namespace ww::microbench
