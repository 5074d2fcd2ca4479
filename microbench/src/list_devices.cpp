// Which devices there are. The OpenCL loader settles on its vendors at its first call in a process,
// so each view is taken in a child of its own.
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "child_view.hpp"
#include "device.hpp"
#include "opencl_host.hpp"
#include "real_devices.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

// What the loader shows under the child's environment, as JSON.
std::string view() {
  json answer;
  const auto api = load_opencl();
  const auto devices = api ? enumerate_opencl(**api) : tl::unexpected(api.error());
  if (!devices) {
    answer["error"] = devices.error().text();
  } else {
    answer["devices"] = json::array();
    for (const OpenClDevice& device : *devices) {
      answer["devices"].push_back({{"platform", device.platform},
                                   {"device", device.device},
                                   {"platform_name", device.platform_name},
                                   {"device_name", device.device_name},
                                   {"gpu", device.is_gpu},
                                   {"available", device.available},
                                   {"compiler", device.has_compiler}});
    }
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct View {
  json devices = json::array();
  std::string error;
};

View view_in_child(const std::function<void()>& set_up) {
  View result;
  const auto text = in_child([&] {
    set_up();
    return view();
  });
  if (!text) {
    result.error = text.error().message;
    return result;
  }
  const json answer = json::parse(*text, nullptr, false);
  if (answer.is_discarded()) {
    result.error = "the driver ended the process";
  } else if (answer.contains("error")) {
    result.error = answer["error"].get<std::string>();
  } else {
    result.devices = answer["devices"];
  }
  return result;
}

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
  const View seen = view_in_child([&] { select_virtual_driver(request, name); });
  if (!seen.error.empty()) {
    listing.reason = seen.error;
  } else if (seen.devices.empty()) {
    listing.reason = "its driver offers no device";
  } else if (!seen.devices.front().at("compiler").get<bool>()) {
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
