// Switched capacitance of what a launch did, by place, as the chip's true wires have it.
#pragma once

#include <memory>

#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

// The accounting that follows the chip's sealed truth. It refers to data that all copies of a chip
// share: one copy must outlive it.
[[nodiscard]] std::unique_ptr<ActivityObserver> make_energy_ledger(const Chip& chip);

}  // namespace ww::sim::gpu
