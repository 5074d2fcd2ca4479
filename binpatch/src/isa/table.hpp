// A generation's instruction set as data: which number in which encoding is which opcode, and how
// wide its operands are. One decoder reads every generation's table.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

// How the fields of an encoding are used where opcodes of one encoding differ.
enum class Form : std::uint8_t {
  plain,
  index_mode,    // the last source is a plain number (s_set_gpr_idx_on, s_sendmsg_rtn)
  sopk_source,   // the register field is read, not written
  sopk_literal,  // no register; a literal follows
  sopp_plain,    // no immediate
  sopp_immediate,
  select,            // a third source: vcc, or an SGPR pair in VOP3
  carry_out,         // a second result: vcc, or an SGPR pair in VOP3
  carry_in_out,      // both of these
  multiply_literal,  // D = S0 * literal + S1
  add_literal,       // D = S0 * S1 + literal
  read_lane,         // the result is an SGPR, source 1 scalar
  write_lane,        // both sources are scalar
  scalar_result,     // the result is an SGPR
  ds_two_offsets,
  ds_gds,  // always the global data share
  load,
  store,
  atomic,
  atomic_compare,    // data and comparand, the result half as wide
  atomic_silent,     // without a result
  load_to_share,     // to the local data share: no data register
  buffer_control,    // no operands
  buffer_scope,      // no operands, but the bits that say whose caches
  swap,              // both operands are read and written
  part_source,       // VOP1: SDWA chooses the part of the source alone
  byte_result,       // VOP3: op_sel's upper two bits choose the byte of the result
  vector_source,     // VOP1: a vector register, though others have any source
  packed,            // VOP3P: two values in a register or register pair
  mixed,             // VOP3P: each source a float or half a register
  accumulator_read,  // from an accumulation register
  accumulator_write,
  accumulator_move,
  matrix,         // VOP3P: products of matrices, in vector or accumulation registers
  sparse_matrix,  // these with indices in a vector register, added to the result
  short_only,     // VOP2 without a form in VOP3
};

inline constexpr std::uint8_t kModifierClamp = 0x08;
inline constexpr std::uint8_t kModifierScale = 0x10;
inline constexpr std::uint8_t kModifierHalves = 0x20;  // op_sel
inline constexpr std::uint8_t kModifierSdwa = 0x40;
inline constexpr std::uint8_t kModifierDpp = 0x80;

// Numbers from here on stand for an instruction that the generation does not have.
inline constexpr std::uint16_t kNo = 0x8000;

// FLAT's three kinds share its encoding: the number is the opcode field with the segment above it.
inline constexpr std::uint16_t kFlatSegment = 0x80;

struct TableEntry {
  Encoding encoding{};
  Form form{};
  std::uint16_t number{};
  Opcode opcode{};
  std::uint8_t result{};  // widths in 32-bit registers, 0 for none
  std::array<std::uint8_t, 3> source{};
  std::uint8_t modifiers{};  // bit i: source i takes neg and abs; modifier_*
};

// VOP3 holds the short encodings' opcodes at these offsets.
struct LongFormBases {
  std::uint16_t vopc{};
  std::uint16_t vop2{};
  std::uint16_t vop1{};
};

class Table {
 public:
  Table(std::span<const TableEntry> entries, LongFormBases bases);

  // The entry for `number` in `encoding`; VOP3 numbers are looked up as vop3a. Null when the
  // generation has none.
  [[nodiscard]] const TableEntry* find(Encoding encoding, std::uint32_t number) const;
  // The entry of `opcode` in the encoding where it stands first in the table; null if none.
  [[nodiscard]] const TableEntry* find_opcode(Encoding encoding, Opcode opcode) const;
  // All entries, the long forms of VOP1, VOP2 and VOPC included (as vop3a).
  [[nodiscard]] std::span<const TableEntry> entries() const { return entries_; }

 private:
  static constexpr std::size_t encoding_count = 32;
  std::vector<TableEntry> entries_;
  std::array<std::vector<std::uint16_t>, encoding_count> index_;  // number -> 1 + position
  std::array<std::uint16_t, kOpcodeCount> by_opcode_{};           // 1 + position
};

// Tables stay until the process is gone: programs launch kernels from its exit handlers, too.
[[nodiscard]] const Table& gfx6_table();
[[nodiscard]] const Table& gfx7_table();
[[nodiscard]] const Table& gfx8_table();
[[nodiscard]] const Table& gfx900_table();
[[nodiscard]] const Table& gfx904_table();
[[nodiscard]] const Table& gfx906_table();
[[nodiscard]] const Table& gfx908_table();
[[nodiscard]] const Table& gfx90a_table();
[[nodiscard]] const Table& gfx940_table();
// Other gfx9 and gfx10, gfx11 and gfx12 have tables of their scalar ALU and control alone; the
// decoder knows the sizes of their other encodings and gives those instructions the opcode
// `unlisted`. It does so too with what the tables of gfx8 to gfx940, gfx1030 and gfx1100 do not
// name: graphics, most of what images have.
[[nodiscard]] const Table& gfx9_table();
[[nodiscard]] const Table& gfx10_table();
[[nodiscard]] const Table& gfx1030_table();
[[nodiscard]] const Table& gfx11_table();
[[nodiscard]] const Table& gfx1100_table();
[[nodiscard]] const Table& gfx12_table();

// Null for generations without a table.
[[nodiscard]] const Table* table_of(Generation generation);

}  // namespace ww::binpatch::isa
