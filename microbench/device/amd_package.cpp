#include "device/amd_package.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "device/launch_log.hpp"

namespace ww::microbench {
namespace {

// Eight compute dies on four I/O dies: MI300X and MI325X (the PCI ID Repository, vendor 1002).
constexpr std::array<std::string_view, 2> kPackages{"0x74a1", "0x74a5"};

}  // namespace

std::string package_obstacle(const std::string& target, const std::string& device_id,
                             const std::string& partition) {
  if (!target.starts_with("gfx942")) return "it is no package of several compute dies";
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

Result<Device> open_amd_package(ComputeDevice opened, const std::string& name) {
  if (opened.sensor == nullptr) return tl::unexpected(no_power(opened));
  std::string why = opened.host->facts().no_code;
  if (why.empty()) {
    why = package_obstacle(opened.target, opened.amd ? opened.amd->device_id : "",
                           opened.amd ? opened.amd->compute_partition : "");
  }
  if (!why.empty()) {
    return fail(ErrorCode::unsupported, "the ways between its dies cannot be measured: " + why,
                name);
  }
  Device device;
  device.name = name;
  device.is_virtual = opened.is_virtual;
  device.chip.name = opened.host->device_name();
  device.chip.target = opened.target;
  device.traffic = device.is_virtual ? Traffic::one_launch : Traffic::every_launch;
  device.notes = nlohmann::json{{"device_id", opened.amd->device_id},
                                {"driver", opened.host->driver_version()},
                                {"sensor", opened.sensor->facts().name},
                                {"traffic", {{"source", to_string(device.traffic)}}}}
                     .dump();
  attach_logged(device, std::move(opened.sensor), std::move(opened.host));
  return device;
}

}  // namespace ww::microbench
