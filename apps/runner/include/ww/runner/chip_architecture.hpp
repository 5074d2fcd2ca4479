// The public architecture of a virtual chip.
#pragma once

#include <string>

#include "ww/core/result.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::runner {

// Returns what the chip's driver publishes about it. An empty name means virtual:w9100. Errors:
// those of microbench::virtual_data_sheet(), and unsupported for a device that is not virtual.
[[nodiscard]] Result<sim::gpu::Architecture> chip_architecture(
    const microbench::DeviceRequest& device);

// The generation of a virtual chip ("gfx90a"), by which its counters are read; gfx701 where its
// driver does not say it.
[[nodiscard]] std::string chip_generation(const microbench::DeviceRequest& device);

// The generation of the cards that a virtual chip is of the class of, by which their data sheets
// are found. It differs from chip_generation() where the emulator executes a near relative's
// instructions: virtual:mi100 and virtual:vega20.
[[nodiscard]] std::string card_generation(const microbench::DeviceRequest& device);

}  // namespace ww::runner
