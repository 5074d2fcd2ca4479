// Lowering of arithmetic. Each function fills `op` and returns true, or returns false where the
// emulator has no semantics for the instruction.
#pragma once

#include "machine/isa/launch_state.hpp"
#include "machine/isa/micro_op.hpp"
#include "machine/isa/operands.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

bool lower_scalar(const binpatch::isa::Instruction& instruction, MicroOp& op);
bool lower_vector(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool,
                  Isa isa);
// Sets an instruction on doubles to take `divisor` times as long as one on floats. Reciprocals and
// roots take at least as long as those of floats.
void set_rate_of_doubles(MicroOp& op, int divisor);
// VOPD of gfx11.
bool lower_dual(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool,
                Isa isa);
// Indexed vector registers of gfx9.
bool lower_index_mode(const binpatch::isa::Instruction& instruction, MicroOp& op);

}  // namespace ww::sim::gpu::exec
