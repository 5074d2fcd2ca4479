// Finds the vector registers that a wave may read before it writes them: only those need their
// zeros when it begins.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/isa/launch_state.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

// The registers below `vgprs` (the first `given` hold values from the start) that code may read
// before all lanes were written, for a wave that begins at `entry` with all lanes enabled. It looks
// as far as the code runs straight on: where a jump or anything less plain comes first, what is not
// written by then counts as read. A load has written once an s_waitcnt has seen it end.
[[nodiscard]] std::vector<RegisterSpan> read_before_written(const MicroOp* code,
                                                            std::uint32_t code_dwords,
                                                            std::uint32_t entry,
                                                            std::uint32_t given,
                                                            std::uint32_t vgprs);

}  // namespace ww::sim::gpu::exec
