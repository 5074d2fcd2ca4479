// The decoder's working state; its steps are spread over decode_*.cpp by kind of encoding.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "isa/operand.hpp"
#include "isa/table.hpp"

namespace ww::binpatch::isa {

// Fields of an instruction word.
constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return (word >> low) & ((1U << count) - 1U);
}
constexpr bool bit(std::uint32_t word, unsigned index) {
  return ((word >> index) & 1U) != 0;
}

constexpr std::uint32_t sign_extended(std::uint32_t value, unsigned width) {
  const std::uint32_t sign = 1U << (width - 1);
  return (value ^ sign) - sign;
}

inline std::uint32_t load_word(std::span<const std::byte> code, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::to_integer<std::uint32_t>(code[offset + i]) << (8 * i);
  }
  return word;
}

// Decodes one instruction. The first problem is kept in error_ and ends the decoding.
class Decoder {
 public:
  Decoder(Generation generation, const Table& table, std::span<const std::byte> code, WaveSize wave)
      : generation_(generation), table_(table), code_(code), mask_words_(mask_words(wave)) {}

  Result<Instruction> run();

 private:
  [[nodiscard]] std::uint8_t mask_words(WaveSize wave) const {
    if (wave == WaveSize::usual) return generation_ >= Generation::gfx10 ? 1 : 2;
    return wave == WaveSize::lanes32 ? 1 : 2;
  }
  void dispatch();
  void scalar_result();
  void carry_masks();
  void sop2();
  void sopk();
  void sop1();
  void sopc();
  void sopp();
  void smrd();
  void vop_short();
  void vop_short_operands();
  void vop3();
  void vop3_sources();
  void ds();
  void buffer();
  // Address, descriptor and scalar offset of a buffer instruction; the offset's encoding.
  std::uint32_t buffer_operands(unsigned address_registers);
  void flat();
  void since_gfx8_or_unlisted();
  void vop_short_gfx9();
  // VOPC of gfx10 and later that writes exec and no scalar register.
  [[nodiscard]] bool writes_exec_alone() const;
  void short_results();
  void sdwa();
  [[nodiscard]] bool has_dpp(std::uint32_t word) const;
  void dpp();
  void vop3_dpp();
  void vop3_gfx9();
  void vop3p();
  void matrix();
  void smem();
  void smem_without_address();
  void memory_gfx9();
  void ds_gfx9();
  void buffer_gfx9();
  void flat_gfx9();
  // Data and result, as gfx9 and gfx1030 lay them out.
  void buffer_data();
  void flat_data();
  void image();
  void image_data();
  void dual();
  void take_upper_halves();
  [[nodiscard]] unsigned selectable_halves() const;
  // Decode memory instructions of gfx1030 and gfx1100.
  void memory_rdna();
  void smem_rdna();
  void buffer_rdna();
  void flat_gfx1030();
  void flat_gfx1100();
  bool enter_flat(std::uint32_t segment);
  void flat_addresses(std::uint32_t segment, unsigned offset_bits, bool has_scalar,
                      bool has_vector);
  void image_rdna();
  void accumulators(bool chosen);
  void data_registers(Operand& operand, std::uint32_t first, unsigned count);
  void unlisted();
  // The instruction as its words, in place of an error that says that it is not supported.
  void or_unlisted();
  void unlisted_rdna();
  bool unlisted_scalar(std::uint32_t number);
  // Returns how many words follow the encoding's own in a vector instruction of gfx10 or gfx11.
  unsigned trailing_words();

  // Finds the table entry, or records the instruction as unsupported.
  bool enter(std::uint32_t number, unsigned words);
  bool room_for(std::size_t size_bytes);
  bool second_word();
  // `at` bytes into the instruction.
  void take_literal(std::size_t at = 4);
  void set(Operand& operand, std::optional<Operand> value, std::string_view what);
  void source(std::size_t index, std::uint32_t encoded, unsigned count);
  // Fields that the instruction does not use must be zero: a word that sets them is none of ours.
  void reserved(std::uint32_t value, std::string_view what);
  void unsupported(std::string_view what);
  void vcc_mask(Operand& operand);

  Generation generation_;
  const Table& table_;
  std::span<const std::byte> code_;
  std::uint32_t word_{};
  std::uint32_t second_{};
  const TableEntry* entry_{};
  std::uint8_t mask_words_{};  // scalar registers of a mask of lanes
  bool accumulators_{};
  Instruction out_;
  std::optional<Error> error_;
};

}  // namespace ww::binpatch::isa
