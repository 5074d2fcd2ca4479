#include "fast/translate/parts.hpp"

#include <utility>

#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using U32 = std::uint32_t;

constexpr std::uintptr_t kRegisterBytes = kLanes * sizeof(U32);

// Returns the single form of a packed opcode; invalid where no parts are made of it.
Opcode single_of(Opcode packed) {
  switch (packed) {
    case Opcode::v_pk_fma_f32: return Opcode::v_fma_f32;
    case Opcode::v_pk_add_f32: return Opcode::v_add_f32;
    case Opcode::v_pk_mul_f32: return Opcode::v_mul_f32;
    case Opcode::v_pk_mov_b32: return Opcode::v_mov_b32;
    default: return Opcode::invalid;
  }
}

// Source `from` of the packed instruction, its first or second register, becomes source `to`.
void take_source(const MicroOp& packed, std::size_t from, bool second, MicroOp& part,
                 std::size_t to) {
  part.kind[to] = packed.kind[from];
  part.source[to] = packed.source[from];
  part.vector.at[to] = packed.vector.at[from];
  if (!second) return;
  const bool scalar = packed.kind[from] == Source::scalar;
  if (packed.kind[from] != Source::constant) ++part.source[to];
  part.vector.at[to] += scalar ? sizeof(U32) : kRegisterBytes;
}

MicroOp part_of(const MicroOp& packed, bool second) {
  MicroOp part;
  part.opcode = single_of(packed.opcode);
  const VectorEntry& entry = lanes().vector[static_cast<std::size_t>(part.opcode)];
  part.unit = Unit::valu;
  part.straight = true;
  part.whole = true;
  part.result = Destination::vgpr;
  part.destination = static_cast<std::uint16_t>(packed.destination + (second ? 1 : 0));
  part.vector = VectorFields{};
  part.vector.function[0] = entry.function[0];
  part.vector.function[1] = entry.function[1];
  part.vector.float_bits = entry.float_bits;
  const VectorFields& f = packed.vector;
  // Packed instructions keep the signs of the first results' sources in neg, the second's in abs.
  if (packed.opcode == Opcode::v_pk_mov_b32) {  // each result has a source of its own
    const std::size_t from = second ? 1 : 0;
    part.vector.neg = static_cast<std::uint8_t>((second ? f.abs : f.neg) >> from & 1U);
    take_source(packed, from, (f.halves >> from & 1U) != 0, part, 0);
    return part;
  }
  part.vector.neg = second ? f.abs : f.neg;
  for (std::size_t i = 0; i < entry.sources; ++i) {
    const U32 chosen = second ? f.halves_high : f.halves;
    take_source(packed, i, (chosen >> i & 1U) != 0, part, i);
  }
  return part;
}

// Whether the packed function does in each half what the single one does, perhaps with its first
// two sources exchanged. With two NaNs they may differ: which of them the result is was the choice
// of the compiler that made the function.
bool agree(const MicroOp& packed, const MicroOp& part, bool flush, bool exchanged) {
  struct alignas(64) Pair {
    std::array<U32, 2 * std::size_t{kLanes}> word{};
  };
  static constexpr std::array<U32, 6> kWords{0x3FC00000, 0x7FC00001, 0xFFC00002,
                                             0x7F800003, 0x00000004, 0x7F800000};
  Pair a;
  Pair b;
  Pair c;
  for (std::size_t first = 0; first < kWords.size(); ++first) {
    for (std::size_t i = 0; i < a.word.size(); ++i) {
      a.word[i] = kWords[first];
      b.word[i] = kWords[i % kWords.size()];
      c.word[i] = kWords[i / kWords.size() % kWords.size()];
    }
    Pair both;
    Pair each;
    LaneContext context;
    const std::size_t way = flush ? 1 : 0;
    packed.vector.function[way](both.word.data(), a.word.data(), b.word.data(), c.word.data(),
                                context);
    for (std::size_t at : {std::size_t{0}, std::size_t{kLanes}}) {
      const U32* const x = &(exchanged ? b : a).word[at];
      const U32* const y = &(exchanged ? a : b).word[at];
      part.vector.function[way](&each.word[at], x, y, &c.word[at], context);
    }
    if (both.word != each.word) return false;
  }
  return true;
}

void exchange_sources(MicroOp& part) {
  std::swap(part.kind[0], part.kind[1]);
  std::swap(part.source[0], part.source[1]);
  std::swap(part.vector.at[0], part.vector.at[1]);
  const std::uint8_t neg = part.vector.neg;
  part.vector.neg = static_cast<std::uint8_t>((neg & 4U) | (neg & 1U) << 1 | (neg >> 1 & 1U));
}

}  // namespace

bool has_parts(const MicroOp& op) {
  return op.opcode == Opcode::v_dual || (!op.whole && single_of(op.opcode) != Opcode::invalid);
}

std::optional<std::array<MicroOp, 2>> parts_of(const MicroOp& op, bool flush) {
  std::array<MicroOp, 2> parts;
  if (op.opcode == Opcode::v_dual) {
    parts = dual_of(op);
  } else {
    if (op.vector.clamp) return std::nullopt;
    parts = {part_of(op, false), part_of(op, true)};
    if (op.opcode != Opcode::v_pk_mov_b32 && !agree(op, parts[0], flush, false)) {
      if (!agree(op, parts[0], flush, true)) return std::nullopt;
      for (MicroOp& part : parts) exchange_sources(part);
    }
  }
  if (reads_vector(parts[1], parts[0].destination)) std::swap(parts[0], parts[1]);
  if (reads_vector(parts[1], parts[0].destination)) return std::nullopt;
  return parts;
}

}  // namespace ww::sim::gpu::exec::translate
