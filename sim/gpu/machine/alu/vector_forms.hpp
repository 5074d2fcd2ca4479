// Vector instructions whose operands are parts of registers or of other lanes: SDWA, DPP, VOP3 with
// halves, VOP3P; and 16-bit floats and saturating integers with modifiers.
#pragma once

#include "machine/isa/lane_table.hpp"
#include "machine/isa/launch_state.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {

// Operands of an opcode that are 16 bits wide, by its name.
struct Widths {
  std::uint8_t narrow{};  // bit i: source i
  bool narrow_result{};
  bool preserves{};       // the result leaves the register's other half as it is
  bool integer_result{};  // of a conversion
};
[[nodiscard]] Widths widths_of(Opcode opcode);

// Whether the instruction needs more than registers, constants and 32- or 64-bit modifiers.
[[nodiscard]] bool needs_form(const binpatch::isa::Instruction& instruction,
                              const VectorEntry& entry, Isa isa);
// Completes an op that lower_vector has filled; false where there are no semantics.
[[nodiscard]] bool lower_form(const binpatch::isa::Instruction& instruction,
                              const VectorEntry& entry, MicroOp& op, Isa isa);

// False for dot products of bytes that choose halves: what they mean there is not documented. A
// constant among the sources of two halves is 32 bits, as LLVM's getInlineEncodingV216 has it: an
// integer with its sign in the high half, a float as a half below zeros, or for integers as a
// float.
[[nodiscard]] bool can_select(const binpatch::isa::Instruction& instruction);

// The mask of lanes that the instruction gives: a pair of scalar registers, or one.
inline void write_mask(Wave& wave, const MicroOp& op, std::uint64_t mask) {
  if (op.vector.short_mask) {
    wave.sr[op.destination2] = static_cast<std::uint32_t>(mask);
  } else {
    wave.set_pair(op.destination2, mask);
  }
}

// v_swap_b16: halves as op_sel in `immediate` says.
void swap_halves(Wave& wave, const MicroOp& op);
// v_swap_b32.
void swap_registers(Wave& wave, const MicroOp& op);

// Source i without its modifiers, in `buffer` (128 words) unless it lies in memory already
// (vector_alu.cpp).
[[nodiscard]] const std::uint32_t* unmodified_source(Wave& wave, const MicroOp& op, std::size_t i,
                                                     std::uint32_t* buffer);

}  // namespace ww::sim::gpu::exec
