// The operand encodings that all scalar and vector instructions share.
#pragma once

#include <optional>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

inline constexpr std::uint32_t kEncodedLiteral = 255;
inline constexpr std::uint32_t kEncodedSdwa = 249;  // gfx8 and gfx9, first source only
inline constexpr std::uint32_t kEncodedDpp = 250;
inline constexpr std::uint32_t kEncodedDpp8 = 233;  // gfx10 and later; 234 fetches inactive lanes

[[nodiscard]] constexpr bool is_gfx9(Generation generation) {
  return generation >= Generation::gfx9 && generation < Generation::gfx10;
}
[[nodiscard]] constexpr bool is_gfx10(Generation generation) {
  return generation == Generation::gfx10 || generation == Generation::gfx1030;
}
// Whether the generation's vector and memory instructions have tables.
[[nodiscard]] constexpr bool is_listed_rdna(Generation generation) {
  return generation == Generation::gfx1030 || generation == Generation::gfx1100;
}
// Whether it is gfx8 or gfx9, which lay their instructions out equally.
[[nodiscard]] constexpr bool is_gfx8_or_gfx9(Generation generation) {
  return generation == Generation::gfx8 || is_gfx9(generation);
}
// Every tuple of vector registers begins at an even one, and memory instructions can name
// accumulation registers.
[[nodiscard]] constexpr bool has_even_tuples(Generation generation) {
  return generation == Generation::gfx90a || generation == Generation::gfx940;
}

[[nodiscard]] constexpr std::uint16_t index_of(SpecialRegister reg) {
  return static_cast<std::uint16_t>(reg);
}

// `count` vector registers from `first`; nothing when they pass v255, or when a GPU that wants
// every tuple to begin at an even register is given an odd one.
[[nodiscard]] std::optional<Operand> vector_register(Generation generation, std::uint32_t first,
                                                     unsigned count);

// A 7-bit scalar register field. Nothing when the number names no register of the generation, or
// one that cannot be the first of `count` (misaligned, or passing the end).
[[nodiscard]] std::optional<Operand> scalar_register(Generation generation, std::uint32_t encoded,
                                                     unsigned count);

// An 8- or 9-bit source field: scalar register, inline constant or vector register. A literal
// (255) comes back with value 0, which the decoder fills in. Nothing for reserved numbers.
[[nodiscard]] std::optional<Operand> source_operand(Generation generation, std::uint32_t encoded,
                                                    unsigned count);

}  // namespace ww::binpatch::isa
