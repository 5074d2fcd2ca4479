// Describes a vector instruction's operation, as far as host code can be made of it.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

enum class Action : std::uint8_t {
  none,  // left to the interpreter
  move,
  bit_not,
  bit_and,
  bit_or,
  bit_xor,
  bit_xnor,
  or_three,
  and_or,
  bit_select,
  shift_left,
  shift_right,
  shift_right_signed,
  shift_left_add,
  shift_left_or,
  add_shift_left,
  align_bits,
  extract,
  extract_signed,
  add,
  subtract,
  add_three,
  add_carry_out,
  subtract_carry_out,
  add_carry,
  multiply,
  multiply_high,
  multiply_24,
  multiply_24_signed,
  multiply_24_add,
  multiply_24_signed_add,
  least,
  most,
  least_signed,
  most_signed,
  median,
  median_signed,
  choose,
  compare,
  compare_signed,
  compare_float,
  compare_class,
  float_add,
  float_subtract,
  float_multiply,
  float_multiply_add,  // not fused
  float_fused,
  float_least,
  float_most,
  float_least_of_three,
  float_most_of_three,
  float_median,
  float_round,
  float_fraction,
  float_reciprocal,
  float_reciprocal_root,
  float_root,
  float_scale,
  divide_scale,
  divide_fused,
  divide_fix,
  float_of_signed,
  float_of_unsigned,
  float_of_byte,
  signed_of_float,
  unsigned_of_float,
  double_add,
  double_multiply,
  double_fused,
  double_reciprocal,
  double_reciprocal_root,
  double_root,
};

enum Predicate : std::uint8_t {  // of vpcmp
  kEqual = 0,
  kLess = 1,
  kLessOrEqual = 2,
  kNotEqual = 4,
  kGreaterOrEqual = 5,
  kGreater = 6,
};

struct Operation {
  Action action{Action::none};
  std::uint8_t immediate{};  // of the host's instruction: a predicate, a way to round; or a byte
  bool reversed{};           // the first two sources change places
};

// Returns an instruction's operation without regard to its operands and modifiers.
[[nodiscard]] Operation operation_of(Opcode opcode);

// Whether the functions of the lanes that the instruction would call are its opcode's plain ones,
// and its operands and modifiers are such that host code can be made of it. `flush`: the mode of
// 32-bit floats.
[[nodiscard]] bool can_translate(const MicroOp& op, bool flush);

// Whether it has a hopeful way (slice_code.hpp).
[[nodiscard]] bool can_hope(const MicroOp& op, Operation operation);

[[nodiscard]] inline bool writes_mask(const MicroOp& op) {
  return op.result == Destination::mask || op.vector.carry_out;
}
[[nodiscard]] inline bool writes_lanes(const MicroOp& op) {
  return op.result != Destination::mask && op.result != Destination::none;
}

// Returns the word that lanes have in register `word` of source i, which is a constant.
[[nodiscard]] std::uint32_t constant_of(const MicroOp& op, std::size_t i, unsigned word = 0);
// Sources of an instruction that can_translate().
[[nodiscard]] unsigned sources_of(const MicroOp& op);
// Registers of source i.
[[nodiscard]] inline unsigned words_of(const MicroOp& op, std::size_t i) {
  return (op.vector.wide >> i & 1U) != 0 ? 2 : 1;
}
// Vector registers that it writes.
[[nodiscard]] inline unsigned results_of(const MicroOp& op) {
  return writes_lanes(op) ? register_count(op.result) : 0;
}
[[nodiscard]] inline bool is_double(Action action) {
  return action >= Action::double_add;
}
// Denormals are zeros in every mode.
[[nodiscard]] inline bool flushes_always(Action action) {
  return action == Action::float_multiply_add || action == Action::float_reciprocal ||
         action == Action::float_reciprocal_root || action == Action::float_root;
}
[[nodiscard]] inline bool is_least_or_most(Action action) {
  return action >= Action::float_least && action <= Action::float_median;
}

// A product or a sum of two NaNs is one of them. Which one was the choice of the compiler that made
// the lanes' function; host code makes the same one.
struct NanOrder {
  bool second_factor{};  // of a product, the second source's comes through
  bool addend{};         // of a sum with a product, or of two sources, the last source's
};
// Asks the function, of doubles for doubles; nothing where it answers otherwise than a host's
// instructions could.
[[nodiscard]] std::optional<NanOrder> nan_order_of(const MicroOp& op, Action action, bool flush);

}  // namespace ww::sim::gpu::exec::translate
