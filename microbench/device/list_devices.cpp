// Which devices there are.
#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "device/device.hpp"
#include "device/real_devices.hpp"
#include "host/opencl_host.hpp"
#include "host/opencl_view.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::microbench {
namespace {

DeviceListing virtual_listing(const std::string& name, const std::string& description) {
  DeviceListing listing;
  listing.name = name;
  listing.description = description;
  listing.is_virtual = true;
  if (std::error_code ec; !std::filesystem::exists(virtual_driver_path(), ec)) {
    listing.reason = fmt::format(
        "its driver is not at {}; build it (target wirewatt_vgpu) or set "
        "WIREWATT_VGPU_LIBRARY",
        virtual_driver_path().string());
    return listing;
  }
  DeviceRequest request;
  request.name = name;
  const OpenClView seen = view_opencl([&] { select_virtual_driver(request, name); }, false);
  if (!seen.error.empty()) {
    listing.reason = seen.error;
  } else if (seen.devices.empty()) {
    listing.reason = "its driver offers no device";
  } else if (!seen.devices.front().has_compiler) {
    listing.reason = "no compiler: install the packages libamd-comgr2 and rocm-device-libs";
  } else {
    listing.usable = true;
  }
  return listing;
}

}  // namespace

Result<std::vector<DeviceListing>> list_devices() {
  // Loading is not calling: the loader looks for vendors at its first call, in the children.
  if (const auto api = load_opencl(); !api) return tl::unexpected(api.error());

  std::vector<DeviceListing> listings;
  for (RealDevice& device : list_real_devices(measure::find_telemetry())) {
    listings.push_back(std::move(device.listing));
  }
  listings.push_back(
      virtual_listing("virtual:w9100", "AMD FirePro W9100, gfx701, 4 engines of 11 CUs (virtual)"));
  listings.push_back(virtual_listing(
      "virtual:vega10", "of the class of Vega 10, gfx900, 4 engines of 16 CUs (virtual)"));
  listings.push_back(virtual_listing(
      "virtual:mi210", "of the class of MI210, gfx90a, 8 engines of 13 CUs (virtual)"));
  DeviceListing random = listings.back();
  random.name = "virtual:random";
  random.description = "a chip drawn from --chip-seed and --chip-class, gfx701 (virtual)";
  listings.push_back(std::move(random));
  return listings;
}

}  // namespace ww::microbench
