#include "ww/runner/chip_architecture.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ww/core/device_name.hpp"
#include "ww/microbench/virtual_chips.hpp"
#include "ww/sim/gpu/data_sheet.hpp"

namespace ww::runner {
namespace {

constexpr const char* kOfDrawnChips = "gfx701";

struct CardOfChip {
  std::string_view chip;
  std::string_view generation;
};
// Sources: the head comments of mi100.toml and vega20.toml in sim/gpu/chips.
constexpr std::array kEmulatedAsRelatives{CardOfChip{"mi100", "gfx908"},
                                          CardOfChip{"vega20", "gfx906"}};

}  // namespace

Result<sim::gpu::Architecture> chip_architecture(const microbench::DeviceRequest& device) {
  WW_ASSIGN(text, microbench::virtual_data_sheet(device));
  WW_ASSIGN(sheet, sim::gpu::parse_data_sheet(text, "data sheet of " + device.name));
  return std::move(sheet.architecture);
}

std::string chip_generation(const microbench::DeviceRequest& device) {
  if (DeviceName(device.name).is_random_chip()) {
    return kOfDrawnChips;  // without the seconds that a draw may take
  }
  const auto architecture = chip_architecture(device);
  return architecture ? architecture->gfx_target : kOfDrawnChips;
}

std::string card_generation(const microbench::DeviceRequest& device) {
  const std::string chip = DeviceName(device.name).chip();
  const auto* found = std::ranges::find(kEmulatedAsRelatives, chip, &CardOfChip::chip);
  return found != kEmulatedAsRelatives.end() ? std::string(found->generation)
                                             : chip_generation(device);
}

}  // namespace ww::runner
