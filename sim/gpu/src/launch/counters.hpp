// What a launch's counters are called and how they are kept.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kCounters = 53;  // the most that a chip has
// Under AMD's names for the chip's generation.
[[nodiscard]] const std::vector<std::string>& counter_names(const Architecture& architecture);
using CounterValues = std::array<double, kCounters>;

}  // namespace ww::sim::gpu::exec
