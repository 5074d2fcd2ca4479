// Turns decoded instructions into micro-ops.
#pragma once

#include "machine/isa/launch_state.hpp"
#include "machine/isa/micro_op.hpp"
#include "machine/isa/operands.hpp"
#include "ww/binpatch/isa/instruction.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::gpu::exec {

// Fills `op`. An instruction that no room has semantics for fails when it is executed, with the
// mnemonic or the encoding and the address.
void lower(const ww::Result<binpatch::isa::Instruction>& decoded, MicroOp& op, ConstantPool& pool,
           Isa isa);

// False for an op that fails so.
[[nodiscard]] bool has_semantics(const MicroOp& op);

}  // namespace ww::sim::gpu::exec
