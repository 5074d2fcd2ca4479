#include "sensor/cray/cards.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "sensor/cray/cray_counters.hpp"

namespace ww::measure {
namespace {

// The die of a package of two that its accelerator is counted by.
PciAddress address_of_package(const AmdGpu& gpu) {
  if (!gpu.other_die) return gpu.pci;
  const auto text = std::min(to_string(gpu.pci), to_string(gpu.other_die->pci));
  return parse_pci_address(text).value_or(gpu.pci);
}

}  // namespace

Result<std::size_t> cray_accelerator_of(const TelemetryGpu& gpu, const std::string& folder,
                                        const std::string& sysfs) {
  // Most machines have no such meters: nothing is listed there.
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return cray_accelerator(folder, {}, gpu.pci);
  std::vector<PciAddress> cards;
  const auto add = [&cards](const PciAddress& card) {
    if (std::ranges::find(cards, card) == cards.end()) cards.push_back(card);
  };
  if (gpu.amd) {
    for (const AmdGpu& one : list_amd_gpus(sysfs)) {
      if (!one.integrated) add(address_of_package(one));
    }
    return cray_accelerator(folder, std::move(cards), address_of_package(*gpu.amd));
  }
  const auto listed = list_nvidia_gpus();
  if (!listed) return tl::unexpected(listed.error());
  for (const NvidiaGpu& one : *listed) add(one.pci);
  return cray_accelerator(folder, std::move(cards), gpu.pci);
}

}  // namespace ww::measure
