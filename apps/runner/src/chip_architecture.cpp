#include "ww/runner/chip_architecture.hpp"

#include "ww/core/device_name.hpp"
#include "ww/microbench/virtual_chips.hpp"
#include "ww/sim/gpu/data_sheet.hpp"

namespace ww::runner {

Result<sim::gpu::Architecture> chip_architecture(const microbench::DeviceRequest& device) {
  WW_ASSIGN(text, microbench::virtual_data_sheet(device));
  WW_ASSIGN(sheet, sim::gpu::parse_data_sheet(text, "data sheet of " + device.name));
  return std::move(sheet.architecture);
}

std::string chip_generation(const microbench::DeviceRequest& device) {
  constexpr const char* kOfDrawnChips = "gfx701";
  if (DeviceName(device.name).is_random_chip()) {
    return kOfDrawnChips;  // without the seconds that a draw may take
  }
  const auto architecture = chip_architecture(device);
  return architecture ? architecture->gfx_target : kOfDrawnChips;
}

}  // namespace ww::runner
