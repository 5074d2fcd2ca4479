// Operands of decoded instructions, as numbers of registers and as values.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "machine/isa/micro_op.hpp"
#include "machine/isa/wave.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

// Broadcast constants of a program's vector instructions; addresses stay valid.
class ConstantPool {
 public:
  const std::uint32_t* get(std::uint64_t value);
  // The two instructions that a VOPD is.
  const std::array<MicroOp, 2>* keep(const std::array<MicroOp, 2>& dual);

 private:
  struct alignas(64) Lanes {
    std::array<std::uint32_t, 2 * kLanes> word;
  };
  std::map<std::uint64_t, Lanes> pool_;
  std::deque<std::array<MicroOp, 2>> duals_;
};
// Finds the pair by a VOPD's micro-op, whose first source says where it is.
[[nodiscard]] const std::array<MicroOp, 2>& dual_of(const MicroOp& op);
// Whether a source is the vector register of this number, or begins there.
[[nodiscard]] bool reads_vector(const MicroOp& op, std::uint16_t number);

// Number in the scalar register file of a register operand; nothing for constants.
[[nodiscard]] std::optional<std::uint16_t> scalar_index(const binpatch::isa::Operand& operand);
// Number of a register that is written; nothing for those that cannot be.
[[nodiscard]] std::optional<std::uint16_t> target_index(const binpatch::isa::Operand& operand);
// Number of a vector register operand: accumulation registers follow the 256 others.
[[nodiscard]] std::uint16_t vector_index(const binpatch::isa::Operand& operand);
// Value of an inline constant or literal as a source of `bits` 16, 32 or 64; floats widen to
// doubles, a literal of a 64-bit float is its upper half.
[[nodiscard]] std::uint64_t constant_value(const binpatch::isa::Operand& operand, int bits,
                                           bool is_float);
[[nodiscard]] std::uint32_t read_special(const Wave& wave, std::uint16_t index);
// An aperture's address is the upper half of a pair.
[[nodiscard]] std::uint64_t read_special64(const Wave& wave, std::uint16_t index);

// Scalar source i of an executing micro-op (scalar fields).
inline std::uint32_t read32(const Wave& wave, const MicroOp& op, std::size_t i) {
  if (op.kind[i] == Source::constant) return static_cast<std::uint32_t>(op.scalar.constant[i]);
  if (op.source[i] < kScalarFile) return wave.sr[op.source[i]];
  return read_special(wave, op.source[i]);
}
inline std::uint64_t read64(const Wave& wave, const MicroOp& op, std::size_t i) {
  if (op.kind[i] == Source::constant) return op.scalar.constant[i];
  if (op.source[i] < kScalarFile) return wave.pair(op.source[i]);
  return read_special64(wave, op.source[i]);
}

}  // namespace ww::sim::gpu::exec
