#include "device/amd_package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "device/launch_log.hpp"
#include "host/module_driver.hpp"

namespace ww::microbench {
namespace {

// Eight compute dies on four I/O dies: MI300X and MI325X (the PCI ID Repository, vendor 1002).
constexpr std::array<std::string_view, 2> kPackages{"0x74a1", "0x74a5"};

}  // namespace

bool is_amd_package(const HostFacts& host, const measure::AmdGpu* amd) {
  if (host.target.starts_with("gfx942")) return true;
  return host.api == "hip" && amd != nullptr && measure::is_die_of_two(*amd);
}

std::string package_obstacle(const HostFacts& host, const measure::AmdGpu* amd) {
  if (!host.no_code.empty()) return host.no_code;
  if (!is_amd_package(host, amd)) return "it is no package of several compute dies";
  if (amd != nullptr && measure::is_die_of_two(*amd)) {
    if (amd->other_die) return {};
    return "which device is the other die of its package is not to be seen; the widest link of the "
           "die's node under /sys/class/kfd/kfd/topology/nodes leads there, and a container must "
           "have that node";
  }
  const std::string device_id = amd != nullptr ? amd->device_id : "";
  const std::string partition = amd != nullptr ? amd->compute_partition : "";
  if (std::ranges::find(kPackages, device_id) == kPackages.end()) {
    return fmt::format(
        "how many dies the package with PCI id {} has is not known; MI300X and MI325X are",
        device_id.empty() ? "unknown" : device_id);
  }
  if (!partition.empty() && partition != "SPX") {
    return fmt::format(
        "the package is divided ({}), and a device of some dies does not reach the others' homes "
        "at the rate of all; 'amd-smi set --compute-partition SPX' undoes it",
        partition);
  }
  return {};
}

std::string package_obstacle(const HostFacts& host, const measure::AmdGpu* amd,
                             const std::vector<HostListing>& hosts) {
  std::string why = package_obstacle(host, amd);
  if (!why.empty() || amd == nullptr || !amd->other_die) return why;
  const std::string other = to_string(amd->other_die->pci);
  std::vector<std::string> shown;
  for (const HostListing& listing : hosts) {
    if (listing.facts.api != "hip") continue;
    if (listing.facts.pci_bus == other) return {};
    shown.push_back(fmt::format("{} at {}", listing.name, listing.facts.pci_bus));
  }
  return hidden_die(other, shown);
}

Result<Device> open_amd_package(ComputeDevice opened, const std::string& name) {
  if (opened.sensor == nullptr) return tl::unexpected(no_power(opened));
  const std::string why =
      package_obstacle(opened.host->facts(), opened.amd ? &*opened.amd : nullptr);
  if (!why.empty()) {
    return fail(ErrorCode::unsupported, "the ways between its dies cannot be measured: " + why,
                name);
  }
  nlohmann::json notes{{"device_id", opened.amd->device_id},
                       {"driver", opened.host->driver_version()},
                       {"sensor", opened.sensor->facts().name}};
  if (opened.amd->other_die) {
    const std::string other = to_string(opened.amd->other_die->pci);
    notes["parts"] = {opened.host->facts().pci_bus, other};
    opened.host.reset();
    WW_ASSIGN(pair, open_host_pair(name, other));
    opened.host = std::move(pair);
  }
  Device device;
  device.name = name;
  device.is_virtual = opened.is_virtual;
  device.chip.name = opened.host->device_name();
  device.chip.target = opened.target;
  device.traffic = device.is_virtual ? Traffic::one_launch : Traffic::every_launch;
  notes["traffic"] = {{"source", to_string(device.traffic)}};
  device.notes = notes.dump();
  attach_logged(device, std::move(opened.sensor), std::move(opened.host));
  return device;
}

}  // namespace ww::microbench
