#include "ww/microbench/calibrate.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>

#include "device/amd_package.hpp"
#include "experiment/experiments.hpp"
#include "ww/core/device_name.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/microbench/virtual_chips.hpp"

namespace ww::microbench {
namespace {

// Facts that can be seen of a device from outside.
struct Seen {
  bool is_virtual{};
  bool many_dies{};  // from a virtual package's data sheet
  HostFacts host;    // from a real device
  std::optional<measure::AmdGpu> amd;
};

Result<Seen> look_at(const DeviceRequest& device) {
  Seen seen;
  seen.is_virtual = DeviceName(device.name).is_virtual();
  if (seen.is_virtual) {
    WW_ASSIGN(sheet, virtual_data_sheet(device));
    std::istringstream lines(sheet);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("dies = ")) seen.many_dies = line != "dies = 1";
    }
    return seen;
  }
  WW_ASSIGN(host, open_host(device.name));
  seen.host = host->facts();
  const auto address = measure::parse_pci_address(seen.host.pci_bus);
  for (const measure::AmdGpu& gpu : measure::list_amd_gpus(measure::sysfs_of({}))) {
    if (address && gpu.pci == *address) seen.amd = gpu;
  }
  return seen;
}

struct Row {
  bool (*suits)(const Seen& seen);
  CalibrationCampaign campaign;
};

// The first row that suits the device; the last one suits all.
constexpr std::array kCampaigns{
    // Parts without a public floorplan that have PTX.
    Row{[](const Seen& seen) { return seen.host.target.starts_with("sm_"); },
        {"crossings between the sides of the L2", "crossing of its L2 is",
         [](const CampaignRequest& request, const HalfWidthFunction&,
            const ProgressFunction& progress) { return run_crossing(request, progress); }}},
    // A virtual package of several compute dies, a card of gfx942, or, through HIP, an MI250 or
    // MI250X.
    Row{[](const Seen& seen) {
          return seen.is_virtual ? seen.many_dies
                                 : is_amd_package(seen.host, seen.amd ? &*seen.amd : nullptr);
        },
        {"every compute die against the I/O dies' caches and memory", "ways between dies are",
         [](const CampaignRequest& request, const HalfWidthFunction&,
            const ProgressFunction& progress) { return run_chiplet(request, progress); }}},
    Row{[](const Seen&) { return true; },
        {"every shader engine against every quadrant of the L2", "", run_campaign}}};

}  // namespace

Result<const CalibrationCampaign*> campaign_for(DeviceRequest& device) {
  WW_ASSIGN(name, resolve_device_name(device));
  device.name = name;
  WW_ASSIGN(seen, look_at(device));
  const auto row =
      std::ranges::find_if(kCampaigns, [&](const Row& one) { return one.suits(seen); });
  return &row->campaign;
}

}  // namespace ww::microbench
