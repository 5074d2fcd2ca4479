// Vector registers whose lanes follow one another: lane i holds first + i * step. Work-item ids,
// addresses and what all lanes share are of this kind, and arithmetic keeps them so. A wave works
// on the two numbers alone and writes the lanes only for an instruction that needs those.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/isa/micro_op.hpp"
#include "machine/isa/wave.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::int64_t kLastLane = kLanes - 1;

// How an instruction acts on forms, but for comparisons and choices.
enum class FormRule : std::uint8_t {
  move,
  add,
  subtract,
  subtract_reversed,
  add_carry_out,
  subtract_carry_out,
  subtract_reversed_carry_out,
  add_carry,
  add_carry_in,  // whose own carry nothing reads
  shift_left,
  shift_left_reversed,
  shift_right,
  shift_right_reversed,
  multiply,
  multiply_24,
  multiply_24_add,
  shift_left_add,
  add_shift_left,
  add_three,
  shift_pair,  // of 64 bits
  shift_pair_reversed,
  multiply_add_pair,
  shift_left_add_pair,
  count,
};

// Mask of those of `count` registers whose forms a wave may keep.
[[nodiscard]] inline std::uint64_t formable(std::size_t first, std::size_t count) {
  if (first >= kForms) return 0;
  const std::uint64_t some = count >= kForms ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return some << first;
}

// Sets MicroOp::reads and writes.
void find_registers(const binpatch::isa::Instruction& instruction, MicroOp& op);
// Sets MicroOp::form and form_at of a vector instruction without modifiers on parts of registers or
// lanes. The function asks that all lanes be enabled and that the registers read have forms; it
// leaves exec alone.
void set_form_function(MicroOp& op);

// Names the rule of MicroOp::form; none without a function, and for comparisons and choices.
[[nodiscard]] std::optional<FormRule> form_rule(const MicroOp& op);

// Takes the functions away from instructions whose results are used lane by lane.
void choose_forms(std::vector<MicroOp>& code);

// The form of 64 words, where they have one.
[[nodiscard]] std::optional<LaneForm> form_of(const std::uint32_t* words);

inline void set_form(Wave& wave, std::size_t index, LaneForm form) {
  wave.form[index] = form;
  wave.formed |= std::uint64_t{1} << index;
  wave.unwritten |= std::uint64_t{1} << index;
}

// Writes the lanes of these registers, which are among Wave::unwritten.
void write_lanes(Wave& wave, std::uint64_t registers);

// The registers are to be written, all lanes of them where `all`.
inline void overwrite(Wave& wave, std::uint64_t registers, bool all) {
  if (!all && (wave.unwritten & registers) != 0) write_lanes(wave, wave.unwritten & registers);
  wave.formed &= ~registers;
  wave.unwritten &= ~registers;
}

// An instruction is to be executed lane by lane.
inline void use_lanes(Wave& wave, const MicroOp& op, bool all) {
  if ((wave.formed & (op.reads | op.writes)) == 0) return;
  if (const std::uint64_t needed = wave.unwritten & op.reads; needed != 0)
    write_lanes(wave, needed);
  overwrite(wave, op.writes, all);
}

// Whether the registers are known to hold addresses that lie `stride` apart, without wrapping
// around, and then lane 0's; of `words` 2 or, for an offset alone, 1.
[[nodiscard]] inline bool has_contiguous_base(const Wave& wave, std::size_t low, unsigned words,
                                              std::uint32_t stride, std::uint64_t* base) {
  if (low + words > kForms) return false;
  const std::uint64_t needed = (std::uint64_t{1} << words) - 1;
  if ((~wave.formed >> low & needed) != 0) return false;
  const LaneForm form = wave.form[low];
  const LaneForm high = words == 2 ? wave.form[low + 1] : LaneForm{};
  if (form.step != stride || high.step != 0) return false;
  *base = std::uint64_t{high.first} << 32 | form.first;
  return (form.first + (kLanes - 1) * std::uint64_t{stride}) >> 32 == 0;
}

}  // namespace ww::sim::gpu::exec
