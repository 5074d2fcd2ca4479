// The compute units that a mask of bits names, as AMD's driver deals them to a queue.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// Whether a compute unit gets work-groups, at its place in [die][engine][CU] of the whole package.
// Bits go to dies in turn, for a die to shader engines in turn, then to the engines' shader arrays,
// and at last to the next compute unit of each. On RDNA two neighbours go together: either of their
// bits names both. Bits behind the device's compute units are ignored, and missing ones are off.
// Source: Linux, amdkfd, mqd_symmetrically_map_cu_mask(). `cus_in_use`: of each engine, that may
// get work-groups at all; 0: all. Error out_of_range where a die of the device is left without a
// compute unit: work-groups go to all dies in turn.
[[nodiscard]] Result<std::vector<bool>> cus_of_mask(const Architecture& architecture, int device,
                                                    int cus_in_use,
                                                    std::span<const std::uint32_t> mask);

}  // namespace ww::sim::gpu::exec
