// The accounting of a chip of several compute dies: a ledger for each, and the I/O dies' rails.
#pragma once

#include <memory>

#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu {

// Energy [J] of lines of 64 bytes behind the L2s, as the truth's constants have it, and the rails
// that meter it.
[[nodiscard]] LaunchActivity::Ways io_die_energy(const IoDieActivity& activity, const Chip& chip);
[[nodiscard]] LaunchActivity::Rails energy_of_rails(const LaunchActivity::Ways& ways);

// Engines and channels of transfers are those of all dies, in order of the dies; all dies' zones
// are added up as if they were one die's.
[[nodiscard]] std::unique_ptr<ActivityObserver> make_dies_ledger(const Chip& chip);

}  // namespace ww::sim::gpu
