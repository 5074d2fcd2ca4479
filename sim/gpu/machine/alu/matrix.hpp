// Matrix products (v_mfma_*) of CDNA 2 and 3.
#pragma once

#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {

// Lowers a matrix instruction; false where this is none.
bool lower_matrix(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool);
// Makes a matrix product, which lower_matrix() lowered as gfx90a's, gfx942's: with the denormals of
// halves, and in CDNA 3's cycles (LLVM's SISchedule.td, passes of four cycles). Does nothing to
// another instruction.
void multiply_as_cdna3(MicroOp& op);

}  // namespace ww::sim::gpu::exec
