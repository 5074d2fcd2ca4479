#include "host/opencl_view.hpp"

#include <nlohmann/json.hpp>

#include "host/child_view.hpp"
#include "host/opencl_host.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

std::string seen_from_here(bool open) {
  json answer;
  const auto api = load_opencl();
  const auto devices = api ? enumerate_opencl(**api) : tl::unexpected(api.error());
  if (!devices) {
    answer["error"] = devices.error().text();
    return answer.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  answer["devices"] = json::array();
  for (const OpenClDevice& device : *devices) {
    HostFacts facts;
    if (open && device.is_gpu && device.available) {
      if (const auto host = open_opencl_host(**api, device.platform, device.device)) {
        facts = (*host)->facts();
      }
    }
    answer["devices"].push_back({{"platform", device.platform},
                                 {"device", device.device},
                                 {"platform_name", device.platform_name},
                                 {"device_name", device.device_name},
                                 {"gpu", device.is_gpu},
                                 {"available", device.available},
                                 {"compiler", device.has_compiler},
                                 {"pci", facts.pci_bus},
                                 {"target", facts.target}});
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

OpenClView view_opencl(const std::function<void()>& set_up, bool open) {
  OpenClView view;
  const auto text = in_child([&] {
    if (set_up) set_up();
    return seen_from_here(open);
  });
  const json answer = text ? json::parse(*text, nullptr, false) : json();
  if (!text) {
    view.error = text.error().message;
  } else if (!answer.is_object()) {
    view.error = "the driver ended the process";
  } else if (answer.contains("error")) {
    view.error = answer["error"].get<std::string>();
  } else {
    for (const json& entry : answer["devices"]) {
      OpenClSight& sight = view.devices.emplace_back();
      entry.at("platform").get_to(sight.platform);
      entry.at("device").get_to(sight.device);
      entry.at("platform_name").get_to(sight.platform_name);
      entry.at("device_name").get_to(sight.device_name);
      entry.at("gpu").get_to(sight.is_gpu);
      entry.at("available").get_to(sight.available);
      entry.at("compiler").get_to(sight.has_compiler);
      entry.at("pci").get_to(sight.pci_bus);
      entry.at("target").get_to(sight.target);
    }
  }
  return view;
}

}  // namespace ww::microbench
