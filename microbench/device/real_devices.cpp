#include "device/real_devices.hpp"

#include <fmt/format.h>

#include "device/amd_device.hpp"
#include "device/amd_package.hpp"
#include "device/nvidia_device.hpp"
#include "host/opencl_view.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

// Says what the GPU lacks for a campaign, and which sensor it has. `hosts`: HIP's and CUDA's.
void judge(RealDevice& device, const HostFacts& facts, const measure::Telemetry& telemetry,
           const std::vector<HostListing>& hosts) {
  device.target = facts.target;
  device.has_code = facts.no_code.empty();
  const SensorMatch match = match_sensor(facts, telemetry);
  if (match.gpu == nullptr) {
    device.listing.reason = "its power cannot be read: " + match.reason;
    return;
  }
  device.pci = measure::to_string(match.gpu->pci);
  device.integrated = match.gpu->amd && match.gpu->amd->integrated;
  std::string why;
  for (const measure::SensorBackend& backend : match.gpu->backends) {
    if (backend.usable) {
      device.sensor = backend.name;
      break;
    }
    why += fmt::format("; {}: {}", backend.name, backend.reason);
  }
  if (device.sensor.empty()) {
    device.listing.reason = "its power cannot be read" + why;
    return;
  }
  // NVIDIA's parts are calibrated by crossings.
  if (!facts.no_code.empty()) {
    device.listing.reason = facts.no_code;
  } else if (facts.target.starts_with("sm_")) {
    if (match.gpu->nvidia) device.listing.reason = mig_obstacle(*match.gpu->nvidia);
  } else {
    const measure::AmdGpu* amd = match.gpu->amd ? &*match.gpu->amd : nullptr;
    device.listing.reason =
        is_amd_package(facts, amd)
            ? package_obstacle(facts, amd, hosts)
            : campaign_obstacle(facts.target, amd != nullptr ? amd->device_id : "");
    if (device.listing.reason.empty() && amd != nullptr) {
      device.listing.reason = hidden_sibling(*amd);
      const Status idle = measure::other_die_idles(*amd);
      if (device.listing.reason.empty() && !idle) device.listing.reason = idle.error().message;
    }
  }
  if (device.listing.reason.empty()) {
    device.listing.usable = true;
    device.listing.description += ", its power read by " + device.sensor;
  } else {
    device.listing.reason =
        fmt::format("its power is read by {} and 'wirewatt doctor' tests it, but {}", device.sensor,
                    device.listing.reason);
  }
}

void add_opencl(std::vector<RealDevice>& found, const measure::Telemetry& telemetry) {
  const OpenClView view = view_opencl({}, true);
  if (!view.error.empty()) {
    RealDevice none;
    none.listing.name = "opencl";
    none.listing.description = "the OpenCL platforms installed here";
    none.listing.reason = view.error;
    found.push_back(std::move(none));
    return;
  }
  for (const OpenClSight& seen : view.devices) {
    // The user's OCL_ICD_VENDORS shows ours, too.
    if (seen.platform_name.starts_with("wirewatt")) continue;
    RealDevice device;
    device.is_gpu = seen.is_gpu;
    device.listing.is_virtual = seen.is_virtual;
    device.listing.name = fmt::format("opencl:{}.{}", seen.platform, seen.device);
    device.listing.description = fmt::format("{} ({})", seen.device_name, seen.platform_name);
    if (!device.is_gpu) {
      device.listing.reason = "not a GPU";
    } else if (!seen.available) {
      device.listing.reason = "its driver says that it is not available";
    } else {
      HostFacts facts;
      facts.device = seen.device_name;
      facts.pci_bus = seen.pci_bus;
      facts.target = seen.target;
      facts.no_code = seen.no_code;
      judge(device, facts, telemetry, {});
    }
    found.push_back(std::move(device));
  }
}

}  // namespace

std::vector<RealDevice> list_real_devices(const measure::Telemetry& telemetry) {
  std::vector<RealDevice> found;
  add_opencl(found, telemetry);
  const std::vector<HostListing> hosts = list_driver_hosts();
  for (const HostListing& host : hosts) {
    RealDevice device;
    device.listing.name = host.name;
    device.listing.is_virtual = host.facts.is_virtual;
    device.listing.description =
        host.facts.device.empty()
            ? fmt::format("{} devices", host.name)
            : fmt::format("{} ({}, {})", host.facts.device, host.facts.target, host.facts.driver);
    device.listing.reason = host.reason;
    device.is_gpu = host.reason.empty();
    if (device.is_gpu) judge(device, host.facts, telemetry, hosts);
    found.push_back(std::move(device));
  }
  return found;
}

}  // namespace ww::microbench
