#include "real_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "amd_device.hpp"
#include "child_view.hpp"
#include "opencl_host.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

// What the OpenCL loader shows under the user's environment, as JSON.
std::string opencl_view() {
  json answer;
  const auto api = load_opencl();
  const auto devices = api ? enumerate_opencl(**api) : tl::unexpected(api.error());
  if (!devices) {
    answer["error"] = devices.error().text();
    return answer.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  answer["devices"] = json::array();
  for (const OpenClDevice& device : *devices) {
    std::string pci;
    std::string target;
    if (device.is_gpu && device.available) {
      if (const auto host = open_opencl_host(**api, device.platform, device.device)) {
        pci = (*host)->facts().pci_bus;
        target = (*host)->facts().target;
      }
    }
    answer["devices"].push_back({{"platform", device.platform},
                                 {"device", device.device},
                                 {"platform_name", device.platform_name},
                                 {"device_name", device.device_name},
                                 {"gpu", device.is_gpu},
                                 {"available", device.available},
                                 {"pci", pci},
                                 {"target", target}});
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Says what the GPU lacks for a campaign, and which sensor it has.
void judge(RealDevice& device, const HostFacts& facts, const measure::Telemetry& telemetry) {
  const SensorMatch match = match_sensor(facts, telemetry);
  if (match.gpu == nullptr) {
    device.listing.reason = "its power cannot be read: " + match.reason;
    return;
  }
  std::string why;
  for (const measure::SensorWay& way : match.gpu->ways) {
    if (way.usable) {
      device.sensor = way.name;
      break;
    }
    why += fmt::format("; {}: {}", way.name, way.reason);
  }
  if (device.sensor.empty()) {
    device.listing.reason = "its power cannot be read" + why;
    return;
  }
  // NVIDIA's parts are calibrated by crossings.
  if (!facts.target.starts_with("sm_")) {
    device.listing.reason =
        campaign_obstacle(facts.target, match.gpu->amd ? match.gpu->amd->device_id : "");
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
  const auto text = in_child(opencl_view);
  const json answer = text ? json::parse(*text, nullptr, false) : json();
  if (!answer.is_object() || answer.contains("error")) {
    RealDevice none;
    none.listing.name = "opencl";
    none.listing.description = "the OpenCL platforms installed here";
    none.listing.reason = !text                ? text.error().message
                          : answer.is_object() ? answer["error"].get<std::string>()
                                               : "the driver ended the process";
    found.push_back(std::move(none));
    return;
  }
  for (const json& entry : answer["devices"]) {
    const auto platform = entry.at("platform_name").get<std::string>();
    if (platform.starts_with("wirewatt")) continue;  // the user's OCL_ICD_VENDORS shows ours
    RealDevice device;
    device.is_gpu = entry.at("gpu").get<bool>();
    device.listing.name =
        fmt::format("opencl:{}.{}", entry.at("platform").get<int>(), entry.at("device").get<int>());
    HostFacts facts;
    facts.device = entry.at("device_name").get<std::string>();
    facts.pci_bus = entry.at("pci").get<std::string>();
    facts.target = entry.at("target").get<std::string>();
    device.listing.description = fmt::format("{} ({})", facts.device, platform);
    if (!device.is_gpu) {
      device.listing.reason = "not a GPU";
    } else if (!entry.at("available").get<bool>()) {
      device.listing.reason = "its driver says that it is not available";
    } else {
      judge(device, facts, telemetry);
    }
    found.push_back(std::move(device));
  }
}

}  // namespace

std::vector<RealDevice> list_real_devices(const measure::Telemetry& telemetry) {
  std::vector<RealDevice> found;
  add_opencl(found, telemetry);
  for (const HostListing& host : list_driver_hosts()) {
    RealDevice device;
    device.listing.name = host.name;
    device.listing.is_virtual = host.facts.is_virtual;
    device.listing.description =
        host.facts.device.empty()
            ? fmt::format("{} devices", host.name)
            : fmt::format("{} ({}, {})", host.facts.device, host.facts.target, host.facts.driver);
    device.listing.reason = host.reason;
    device.is_gpu = host.reason.empty();
    if (device.is_gpu) judge(device, host.facts, telemetry);
    found.push_back(std::move(device));
  }
  return found;
}

std::string best_real_device() {
  const auto telemetry = measure::find_telemetry();
  // Without a sensor none of them serves, so no driver need be woken.
  const bool any = std::ranges::any_of(telemetry.gpus, [](const measure::TelemetryGpu& gpu) {
    return std::ranges::any_of(gpu.ways, &measure::SensorWay::usable);
  });
  if (!any) return {};
  const auto devices = list_real_devices(telemetry);
  const auto best = std::ranges::find_if(
      devices, [](const RealDevice& device) { return device.is_gpu && !device.sensor.empty(); });
  return best == devices.end() ? std::string() : best->listing.name;
}

}  // namespace ww::microbench
