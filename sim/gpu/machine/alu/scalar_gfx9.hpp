// Scalar instructions that gfx9 adds.
#pragma once

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

// Null where gfx9 adds no such instruction.
[[nodiscard]] Handler semantics_gfx9(Opcode opcode);

// Makes vector source i of a lowered op the register of that number (vector_alu.cpp).
void set_vector_source(MicroOp& op, std::size_t i, std::uint32_t index);

}  // namespace ww::sim::gpu::exec
