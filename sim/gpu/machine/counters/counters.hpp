// A launch's counters: their names, and how they follow from what the emulator counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kCounters = 65;  // the most that a chip has
using CounterValues = std::array<double, kCounters>;

// Under AMD's names for the chip's generation, and monitors, which no card has.
[[nodiscard]] const std::vector<std::string>& counter_names(const Architecture& architecture);

// Returns the values in the order of counter_names(). `cus`: of all compute units together; `busy`:
// of each; `cycles`: of the launch; `io_dies`: of a chip that has them.
[[nodiscard]] CounterValues counter_values(const Architecture& architecture, std::int64_t cycles,
                                           const CuCounters& cus, std::span<const CuActivity> busy,
                                           const MemoryCounters& memory,
                                           const LaunchActivity& activity,
                                           const IoDieActivity* io_dies);

}  // namespace ww::sim::gpu::exec
