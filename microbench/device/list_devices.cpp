// Lists the devices.
#include <fmt/format.h>

#include <algorithm>

#include "device/device.hpp"
#include "device/real_devices.hpp"
#include "host/opencl_view.hpp"
#include "ww/core/device_name.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/virtual_chips.hpp"

namespace ww::microbench {
namespace {

// Why no virtual chip can be used here; empty where they can. One chip stands for all: the driver
// and the compiler are what may be missing.
std::string no_virtual_device() {
  DeviceRequest request;
  request.name = "virtual:w9100";
  const OpenClView seen = view_opencl([&] { select_virtual_driver(request, request.name); }, false);
  if (!seen.error.empty()) {
    return seen.error;
  }
  if (seen.devices.empty()) {
    return "its driver offers no device";
  }
  if (!seen.devices.front().has_compiler) {
    return "no compiler: install the packages libamd-comgr2 and rocm-device-libs";
  }
  return {};
}

void add_virtual_devices(std::vector<DeviceListing>& listings) {
  const auto add = [&](const std::string& name, const std::string& description,
                       const std::string& reason) {
    DeviceListing listing;
    listing.name = name;
    listing.description = description;
    listing.is_virtual = true;
    listing.usable = reason.empty();
    listing.reason = reason;
    listings.push_back(std::move(listing));
  };
  const auto chips = virtual_chips();
  if (!chips) {
    add("virtual:w9100", "the default chip of the virtual GPU (virtual)", chips.error().text());
    return;
  }
  const std::string reason = no_virtual_device();
  for (const VirtualChip& chip : *chips) {
    add(virtual_device_name(chip.name), chip.description, reason);
  }
}

// A card that the kernel lists and on which no driver here computes.
DeviceListing card_alone(const measure::TelemetryGpu& gpu) {
  DeviceListing listing;
  listing.name = "pci:" + to_string(gpu.pci);
  listing.description = gpu.name;
  listing.reason = "nothing here computes on it";
  std::string obstacles;
  for (const measure::SensorBackend& backend : gpu.backends) {
    if (backend.usable) {
      listing.reason += fmt::format(
          "; its power is read by {}, and 'wirewatt doctor --device {}' "
          "tests it",
          backend.name, listing.name);
      const Status idle = gpu.amd ? measure::other_die_idles(*gpu.amd) : Status();
      if (!idle) listing.reason += "; " + idle.error().message;
      return listing;
    }
    obstacles += fmt::format("; {}: {}", backend.name, backend.reason);
  }
  listing.reason += "; its power cannot be read" + obstacles;
  return listing;
}

}  // namespace

std::vector<DeviceListing> list_devices() {
  std::vector<DeviceListing> listings;
  const auto telemetry = measure::find_telemetry();
  auto devices = list_real_devices(telemetry);
  listings.reserve(devices.size() + telemetry.gpus.size());
  for (const RealDevice& device : devices) {
    listings.push_back(device.listing);
  }
  for (const measure::TelemetryGpu& gpu : telemetry.gpus) {
    if (std::ranges::find(devices, to_string(gpu.pci), &RealDevice::pci) == devices.end()) {
      listings.push_back(card_alone(gpu));
    }
  }
  add_virtual_devices(listings);
  return listings;
}

}  // namespace ww::microbench
