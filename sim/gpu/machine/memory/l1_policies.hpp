// The kinds of vector L1s, to choose from.
#pragma once

#include "machine/compute_unit/l1_policy.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// Returns the L1s of a chip in functional mode: lines of 64 bytes, or of 128 that each request is
// for.
[[nodiscard]] const L1Policy& l1_of_chip(const Architecture& architecture);
// Timing mode: lines of 64 bytes; of 128 of which a miss brings both halves; coherent ones.
[[nodiscard]] const L1Policy& l1_of_lines();
[[nodiscard]] const L1Policy& l1_of_wide_lines();
[[nodiscard]] const L1Policy& coherent_l1();

}  // namespace ww::sim::gpu::exec
