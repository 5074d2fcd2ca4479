#include "device/amd_package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "device/launch_log.hpp"
#include "host/module_driver.hpp"

namespace ww::microbench {
namespace {

// Parts of gfx942 and gfx950 by their PCI ids (the PCI ID Repository, vendor 1002), and why their
// ways between dies cannot be measured; empty for eight compute dies on four I/O dies.
struct Package {
  std::string_view device_id, name, why;
};
constexpr std::string_view kOfAVirtualFunction =
    "a virtual function does not show the energies of the package's parts (pm_metrics), without "
    "which nothing can be identified";
constexpr std::string_view kOfTwoIoDies =
    "its eight compute dies lie on two I/O dies, and the campaign knows packages of four";
constexpr std::array kPackages{
    Package{"0x74a1", "MI300X", {}},
    Package{"0x74a5", "MI325X", {}},
    Package{"0x74a0", "MI300A",
            "its four I/O dies carry six compute dies and three processor dies, and the campaign "
            "needs two compute dies on each"},
    Package{"0x74a2", "MI308X", "which of its I/O dies have two compute dies is not known"},
    Package{"0x74b5", "MI300X VF", kOfAVirtualFunction},
    Package{"0x74b9", "MI325X VF", kOfAVirtualFunction},
    Package{"0x75a0", "MI350X", kOfTwoIoDies},
    Package{"0x75a3", "MI355X", kOfTwoIoDies},
};

// Names the commands that work all the same.
constexpr std::string_view kInstead =
    "; 'wirewatt doctor', 'topology', 'selftest' and 'estimate' work on it";

}  // namespace

bool is_amd_package(const HostFacts& host, const measure::AmdGpu* amd) {
  if (host.target.starts_with("gfx942") || host.target.starts_with("gfx950")) return true;
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
  const auto* part = std::ranges::find(kPackages, device_id, &Package::device_id);
  if (part == kPackages.end()) {
    return host.device.ends_with(" VF")
               ? fmt::format("{}: {}{}", host.device, kOfAVirtualFunction, kInstead)
               : fmt::format(
                     "how many dies the package with PCI id {} has is not known; MI300X and MI325X "
                     "are{}",
                     device_id.empty() ? "unknown" : device_id, kInstead);
  }
  if (!part->why.empty()) return fmt::format("{}: {}{}", part->name, part->why, kInstead);
  if (!partition.empty() && partition != "SPX") {
    return fmt::format(
        "the package is divided ({}), and a device of some dies does not reach the others' homes "
        "at the rate of all; 'amd-smi set --compute-partition SPX' undoes it",
        partition);
  }
  std::error_code ec;
  if (amd != nullptr && !amd->folder.empty() && amd->hsmp.empty() &&
      !std::filesystem::exists(amd->folder + "/pm_metrics", ec)) {
    return fmt::format(
        "{}: its driver does not show the energies of the package's parts (pm_metrics), without "
        "which nothing can be identified; a newer amdgpu does, and a virtual machine may hide "
        "them{}",
        part->name, kInstead);
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

std::string hidden_sibling(const measure::AmdGpu& amd) {
  if (!measure::is_die_of_two(amd) || amd.other_die) return {};
  return "the power of its package is that of both dies, and the other die is hidden from this "
         "process (by a container or the batch system), so that nothing shows whether it rests; "
         "ask for the whole package";
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
