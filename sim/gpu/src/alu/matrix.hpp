// Matrix products (v_mfma_*) of gfx90a.
#pragma once

#include "isa/operands.hpp"

namespace ww::sim::gpu::exec {

// Lowers a matrix instruction; false where this is none.
bool lower_matrix(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool);

}  // namespace ww::sim::gpu::exec
