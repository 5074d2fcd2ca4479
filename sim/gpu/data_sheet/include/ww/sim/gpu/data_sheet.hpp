// What the data sheet of a virtual chip says, for programs that must not meet its truth. A drawn
// chip's architecture comes out of the same draw as its wires, so the truth has to answer; this is
// the one question that it answers to anybody.
#pragma once

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

// The chip's public architecture. Errors: those of Chip::load.
[[nodiscard]] Result<Architecture> data_sheet(const ChipRequest& request);

}  // namespace ww::sim::gpu
