// Random legal instructions of a table's rows, as words.
#pragma once

#include <random>

#include "isa/table.hpp"
#include "object_builder.hpp"

namespace ww::binpatch::testing {

using isa::Encoding;
using isa::Form;
using isa::Generation;
using isa::Opcode;
using isa::TableEntry;

// Makes instructions that both the hardware and LLVM's assembler, which is narrower, allow: one
// scalar register or literal at most in a vector instruction, aligned registers, no literal that
// an inline constant could hold.
class WordMaker {
 public:
  WordMaker(Generation generation, std::uint64_t seed) : generation_(generation), random_(seed) {}

  Bytes make(const TableEntry& entry);

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }
  std::uint32_t vector(std::uint32_t count) { return below(vector_limit_ - count); }
  // A scalar register number, special ones included, aligned for `count`.
  std::uint32_t scalar(std::uint32_t count) {
    const std::uint32_t general = generation_ <= Generation::gfx7   ? 104
                                  : generation_ < Generation::gfx10 ? 100
                                                                    : 104;
    if (count >= 4) return 4 * below((general - count) / 4 + 1);
    if (chance(4)) {
      // vcc, trap registers, m0 (single), exec; flat_scratch has a place of its own.
      static constexpr std::uint32_t pairs[] = {106, 112, 116, 122, 126};
      static constexpr std::uint32_t singles[] = {106, 107, 112, 123, 124, 126, 127};
      if (chance(5) && generation_ >= Generation::gfx7) {
        return generation_ == Generation::gfx7 ? 104 : 102;
      }
      return count == 2 ? pairs[below(5)] : singles[below(7)];
    }
    return count * below(general / count);
  }
  std::uint32_t constant() {
    return !short_integers_ && chance(3) ? 240 + below(8) : 128 + below(81);
  }
  std::uint32_t scalar_source(std::uint32_t count, bool literal_allowed) {
    if (literal_allowed && chance(5)) {
      uses_literal_ = true;
      return 255;
    }
    if (count == 1 && chance(12)) {
      return generation_ >= Generation::gfx11 ? 253 : 251 + below(3);
    }
    return chance(3) ? constant() : scalar(count);
  }
  // A 9-bit source. One scalar register or literal at most per vector instruction.
  std::uint32_t vector_source(std::uint32_t count, bool literal_allowed) {
    if (vectors_only_) return 256 + vector(count);
    if (!scalar_taken_ && chance(3)) {
      scalar_taken_ = true;
      if (literal_allowed && chance(3)) {
        uses_literal_ = true;
        return 255;
      }
      return scalar(count);
    }
    return chance(3) ? constant() : 256 + vector(count);
  }
  std::uint32_t random_bits(unsigned count) { return below(1U << count); }

  void put(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) {
      bytes_.push_back(static_cast<std::byte>(word >> (8 * i)));
    }
  }
  void put_literal() {
    // A value that an inline constant could hold would be assembled as that constant.
    if (uses_literal_)
      put(short_literal_ ? 0x4234U : 0x40000000U | 0x1234U | (random_bits(16) << 13));
  }
  void scalar_alu(const TableEntry& entry);
  void vector_short(const TableEntry& entry);
  void vector_long(const TableEntry& entry);
  void memory(const TableEntry& entry);
  void buffer(const TableEntry& entry);
  void flat(const TableEntry& entry);
  void image(const TableEntry& entry);

  // gfx900 and gfx90a (word_maker_gfx9.cpp).
  std::uint32_t tuple(std::uint32_t count);
  std::uint32_t source_gfx9(std::uint32_t count);
  std::uint32_t scalar_pair();
  void gfx9(const TableEntry& entry);
  void vector_second_word(const TableEntry& entry, bool sdwa);
  void vector_short_gfx9(const TableEntry& entry);
  void vector_long_gfx9(const TableEntry& entry);
  void matrix_product(const TableEntry& e);
  void vector_packed(const TableEntry& entry);
  void scalar_memory_gfx9(const TableEntry& entry);
  void share_gfx9(const TableEntry& entry);
  void buffer_gfx9(const TableEntry& entry);
  void flat_gfx9(const TableEntry& entry);

  Generation generation_;
  std::mt19937_64 random_;
  Bytes bytes_;
  bool uses_literal_{};
  bool short_integers_{};  // the assembler makes literals of their float constants
  bool short_literal_{};   // 16-bit operands take literals of 16 bits
  bool scalar_taken_{};
  bool vectors_only_{};
  std::uint32_t vector_limit_{257};
};

}  // namespace ww::binpatch::testing
