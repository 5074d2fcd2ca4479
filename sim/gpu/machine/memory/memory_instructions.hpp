// Lowering of memory instructions. Each function fills `op` and returns true, or returns false
// where the emulator has no semantics for the instruction.
#pragma once

#include "machine/isa/micro_op.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

bool lower_vector_memory(const binpatch::isa::Instruction& instruction, MicroOp& op);
bool lower_image(const binpatch::isa::Instruction& instruction, MicroOp& op);
bool lower_typed_buffer(const binpatch::isa::Instruction& instruction, MicroOp& op);
bool lower_lds(const binpatch::isa::Instruction& instruction, MicroOp& op);
bool lower_scalar_memory(const binpatch::isa::Instruction& instruction, MicroOp& op);

}  // namespace ww::sim::gpu::exec
