#include "ww/microbench/hosts.hpp"

#include <nlohmann/json.hpp>

#include "host/child_view.hpp"
#include "host/module_driver.hpp"
#include "host/opencl_host.hpp"
#include "ww/core/device_name.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

tl::unexpected<Error> no_such_name(const std::string& name) {
  return fail(ErrorCode::invalid_argument,
              "hosts are named opencl:PLATFORM.DEVICE, hip:N and cuda:N; 'wirewatt devices' lists "
              "those that there are",
              name);
}

json to_json(const HostFacts& facts) {
  return {{"api", facts.api},           {"device", facts.device},
          {"driver", facts.driver},     {"target", facts.target},
          {"pci_bus", facts.pci_bus},   {"compute_units", facts.compute_units},
          {"l2_bytes", facts.l2_bytes}, {"virtual", facts.is_virtual}};
}

// Every device of one driver, as JSON: a list of {facts} or {error}.
std::string view(Result<int> (*count_devices)(), Result<HostFacts> (*facts_of)(int)) {
  json answer = json::array();
  const auto count = count_devices();
  if (!count) {
    answer.push_back({{"error", count.error().text()}});
  } else {
    for (int i = 0; i < *count; ++i) {
      const auto facts = facts_of(i);
      answer.push_back(facts ? json{{"index", i}, {"facts", to_json(*facts)}}
                             : json{{"index", i}, {"error", facts.error().text()}});
    }
    if (*count == 0) answer.push_back({{"error", "its driver offers no device"}});
  }
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

void add_view(std::vector<HostListing>& listings, const std::string& api,
              Result<int> (*count_devices)(), Result<HostFacts> (*facts_of)(int)) {
  const auto text = in_child([&] { return view(count_devices, facts_of); });
  const json answer = text ? json::parse(*text, nullptr, false) : json();
  if (!text || !answer.is_array()) {
    HostListing listing;
    listing.name = api;
    listing.reason = text ? "the driver ended the process" : text.error().message;
    listings.push_back(std::move(listing));
    return;
  }
  for (const json& entry : answer) {
    HostListing listing;
    listing.name =
        entry.contains("index") ? api + ":" + std::to_string(entry["index"].get<int>()) : api;
    listing.reason = entry.value("error", "");
    if (entry.contains("facts")) {
      const json& facts = entry["facts"];
      listing.facts.api = facts.value("api", "");
      listing.facts.device = facts.value("device", "");
      listing.facts.driver = facts.value("driver", "");
      listing.facts.target = facts.value("target", "");
      listing.facts.pci_bus = facts.value("pci_bus", "");
      listing.facts.compute_units = facts.value("compute_units", 0);
      listing.facts.l2_bytes = facts.value("l2_bytes", std::int64_t{0});
      listing.facts.is_virtual = facts.value("virtual", false);
    }
    listings.push_back(std::move(listing));
  }
}

}  // namespace

Result<std::unique_ptr<ComputeHost>> open_host(const std::string& name) {
  const DeviceName parsed(name);
  if (const auto place = parsed.opencl_place()) {
    WW_ASSIGN(opencl, load_opencl());
    return open_opencl_host(*opencl, place->first, place->second);
  }
  const auto index = parsed.index();
  if (!parsed.is_host() || !index) return no_such_name(name);
  WW_ASSIGN(driver, parsed.kind() == DeviceName::Kind::hip ? open_hip(*index) : open_cuda(*index));
  ModuleParts parts;
  parts.push_back(std::move(driver));
  return make_module_host(std::move(parts));
}

Result<std::unique_ptr<ComputeHost>> open_host_pair(const std::string& name,
                                                    const std::string& other_pci) {
  const DeviceName parsed(name);
  const auto index = parsed.index();
  if (parsed.kind() != DeviceName::Kind::hip || !index) {
    return fail(ErrorCode::unsupported,
                "the dies of one package reach each other's memory through HIP alone; name the "
                "device as hip:N",
                name);
  }
  WW_ASSIGN(parts, open_hip_pair(*index, other_pci));
  return make_module_host(std::move(parts));
}

std::vector<HostListing> list_driver_hosts() {
  std::vector<HostListing> listings;
  add_view(listings, "hip", &hip_device_count, &hip_facts);
  add_view(listings, "cuda", &cuda_device_count, &cuda_facts);
  return listings;
}

}  // namespace ww::microbench
