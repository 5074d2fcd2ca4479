// Chips drawn from a seed; ranges and their sources: docs/virtual-gpu.md.
#pragma once

#include "file/chip_file.hpp"

namespace ww::sim::gpu {

// Draws a chip. A seed and class give the same chip everywhere.
[[nodiscard]] Result<Chip> draw_chip(const ChipRequest& request);

}  // namespace ww::sim::gpu
