// Two instructions in one, each of which host code can be made of: pairs of floats (packed
// instructions of gfx90a and gfx942) and the dual issue of gfx11.
#pragma once

#include <array>
#include <optional>

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

// Whether parts_of() is to be asked.
[[nodiscard]] bool has_parts(const MicroOp& op);

// Single instructions that do the same one after the other. Nothing where each reads what the other
// one writes, or where a part would be none of a whole register. `flush`: the mode of 32-bit
// floats.
[[nodiscard]] std::optional<std::array<MicroOp, 2>> parts_of(const MicroOp& op, bool flush);

}  // namespace ww::sim::gpu::exec::translate
