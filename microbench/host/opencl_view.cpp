#include "host/opencl_view.hpp"

#include <nlohmann/json.hpp>

#include "host/child_view.hpp"
#include "host/opencl_host.hpp"
#include "ww/core/json_reader.hpp"

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
                                 {"target", facts.target},
                                 {"virtual", facts.is_virtual},
                                 {"no_code", facts.no_code}});
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
  if (!text) {
    view.error = text.error().message;
    return view;
  }
  const json answer = json::parse(*text, nullptr, false);
  if (!answer.is_object()) {
    view.error = "the driver ended the process";
    return view;
  }
  const JsonReader reader(answer, "answer of the process that asked the driver");
  if (reader.has("error")) {
    reader.read("error", view.error);
  } else {
    for (const JsonReader& entry : reader.objects("devices")) {
      OpenClSight& sight = view.devices.emplace_back();
      entry.read("platform", sight.platform);
      entry.read("device", sight.device);
      entry.read("platform_name", sight.platform_name);
      entry.read("device_name", sight.device_name);
      entry.read("gpu", sight.is_gpu);
      entry.read("available", sight.available);
      entry.read("compiler", sight.has_compiler);
      entry.read("pci", sight.pci_bus);
      entry.read("target", sight.target);
      entry.read("virtual", sight.is_virtual);
      entry.read("no_code", sight.no_code);
    }
  }
  if (const auto status = reader.status(); !status) {
    view.devices.clear();
    view.error = status.error().text();
  }
  return view;
}

}  // namespace ww::microbench
