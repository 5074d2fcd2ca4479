// Legal random words of gfx9's vector and memory encodings.
#include "isa/operand.hpp"
#include "word_maker.hpp"

namespace ww::binpatch::testing {

using isa::has_even_tuples;
using isa::kFlatSegment;
using isa::kModifierClamp;
using isa::kModifierDpp;
using isa::kModifierHalves;
using isa::kModifierScale;
using isa::kModifierSdwa;

std::uint32_t WordMaker::tuple(std::uint32_t count) {
  const std::uint32_t first = vector(count);
  return has_even_tuples(generation_) && count > 1 ? first & ~1U : first;
}

std::uint32_t WordMaker::source_gfx9(std::uint32_t count) {
  if (vectors_only_) return 256 + tuple(count);
  const std::uint32_t encoded = vector_source(count, false);
  return encoded >= 256 ? 256 + tuple(count) : encoded;
}

// The words of VOP1, VOP2 and VOPC with an SDWA or DPP word behind them.
void WordMaker::vector_second_word(const TableEntry& e, bool sdwa) {
  const std::uint32_t number = e.number;
  const bool one = e.encoding == Encoding::vop1;
  const bool compare = e.encoding == Encoding::vopc;
  const bool wide = e.result == 2 || e.source[0] == 2 || e.source[1] == 2;
  const bool select = e.opcode == isa::Opcode::v_cndmask_b32;
  std::uint32_t second = tuple(e.source[0]);
  std::uint32_t other = one ? 0 : tuple(e.source[1]);
  std::uint32_t floats = select ? 0 : e.modifiers & 3U;
  if (sdwa) {
    if (e.opcode == isa::Opcode::v_ldexp_f16) floats = 1;
    const bool gfx8 = generation_ == Generation::gfx8;
    const bool scalar = !gfx8 && !scalar_taken_ && e.form == Form::plain && chance(4);
    if (scalar) second = below(100) | 1U << 23;
    if (!gfx8 && !scalar && !one && e.form == Form::plain && chance(4)) {
      other = below(100);
      second |= 1U << 31;
    }
    second |= below(7) << 16;
    if (e.form == Form::part_source) floats = 0;
    if (!one) second |= below(7) << 24;
    const std::uint32_t present = one ? 1 : 3;
    const std::uint32_t neg = random_bits(2) & floats & present;
    const std::uint32_t abs = random_bits(2) & floats & present;
    // LLVM's versions differ on whether v_cndmask_b32 extends or negates its parts.
    const bool takes_sext = e.form != Form::part_source && !select;
    const std::uint32_t sext = takes_sext ? random_bits(2) & ~floats & present : 0;
    second |= (neg & 1) << 20 | (neg >> 1) << 28 | (abs & 1) << 21 | (abs >> 1) << 29 |
              (sext & 1) << 19 | (sext >> 1) << 27;
    if (compare && gfx8) {
      if ((e.modifiers & kModifierClamp) != 0) second |= random_bits(1) << 13;
    } else if (compare) {
      if (chance(2)) second |= scalar_pair() << 8 | 1U << 15;
    } else if (e.form == Form::part_source) {
      second |= 6U << 8;
    } else {
      second |= below(7) << 8 | below(3) << 11;
      if ((e.modifiers & kModifierClamp) != 0) second |= random_bits(1) << 13;
    }
  } else {
    static constexpr std::uint32_t controls[] = {0x00,  0x1b,  0xe4,  0x101, 0x10f,
                                                 0x112, 0x127, 0x130, 0x134, 0x138,
                                                 0x13c, 0x140, 0x141, 0x142, 0x143};
    second |= (wide ? 0x150 + below(16) : controls[below(15)]) << 8 | random_bits(8) << 24;
    if (!wide) second |= random_bits(1) << 19;
    const std::uint32_t present = one ? 1 : 3;
    const std::uint32_t neg = random_bits(2) & floats & present;
    const std::uint32_t abs = random_bits(2) & floats & present;
    second |= (neg & 1) << 20 | (neg >> 1) << 22 | (abs & 1) << 21 | (abs >> 1) << 23;
  }
  const std::uint32_t result = e.result == 0 ? 0 : tuple(e.result);
  const std::uint32_t source = sdwa ? 249 : 250;
  if (one) {
    put(0x7e000000U | result << 17 | number << 9 | source);
  } else if (compare) {
    put(0x7c000000U | number << 17 | other << 9 | source);
  } else {
    put(number << 25 | result << 17 | other << 9 | source);
  }
  put(second);
}

std::uint32_t WordMaker::scalar_pair() {
  return 2 * below(50);
}

void WordMaker::vector_short_gfx9(const TableEntry& e) {
  scalar_taken_ = scalar_taken_ || e.form == Form::select || e.form == Form::carry_in_out;
  if ((e.modifiers & kModifierSdwa) != 0 && chance(3)) return vector_second_word(e, true);
  if ((e.modifiers & kModifierDpp) != 0 && chance(3)) return vector_second_word(e, false);
  if (e.form == Form::swap || e.form == Form::accumulator_move) {
    return put(0x7e000000U | vector(1) << 17 | std::uint32_t{e.number} << 9 | (256 + vector(1)));
  }
  const bool literal = e.form == Form::multiply_literal || e.form == Form::add_literal;
  scalar_taken_ = scalar_taken_ || literal;
  uses_literal_ = literal;
  std::uint32_t s0 = 0;
  if (e.form == Form::scalar_result) {
    s0 = 256 + vector(1);
  } else if (e.source[0] != 0) {
    s0 = vector_source(e.source[0], e.source[0] == 1);
    if (s0 >= 256) s0 = 256 + tuple(e.source[0]);
  }
  const std::uint32_t result = e.result == 0                   ? 0
                               : e.form == Form::scalar_result ? below(100)
                                                               : tuple(e.result);
  const std::uint32_t s1 = e.encoding == Encoding::vop1 ? 0 : tuple(e.source[1]);
  const std::uint32_t number = e.number;
  switch (e.encoding) {
    case Encoding::vop1: put(0x7e000000U | result << 17 | number << 9 | s0); break;
    case Encoding::vopc: put(0x7c000000U | number << 17 | s1 << 9 | s0); break;
    default: put(number << 25 | result << 17 | s1 << 9 | s0); break;
  }
  put_literal();
}

void WordMaker::vector_long_gfx9(const TableEntry& e) {
  const bool compare = e.number < 0x100;
  const bool carry = e.form == Form::carry_out || e.form == Form::carry_in_out;
  const bool lane = e.form == Form::read_lane || e.form == Form::write_lane;
  const std::string_view name = isa::mnemonic(e.opcode);
  const bool apart = name.find("qsad_") != std::string_view::npos;
  std::uint32_t first = 0xd0000000U | std::uint32_t{e.number} << 16;
  const std::uint32_t shift = apart ? 200 : 0;
  vector_limit_ = 257 - shift;
  first |= compare                     ? scalar(2)
           : e.result == 0             ? 0
           : e.form == Form::read_lane ? below(100)
                                       : shift + tuple(e.result);
  vector_limit_ = apart ? shift : 257;
  vectors_only_ = vectors_only_ || apart;
  std::uint32_t second = 0;
  if (e.form == Form::select || e.form == Form::carry_in_out) {
    second |= scalar_pair() << 18;
    scalar_taken_ = true;
  }
  if (lane) {
    const std::uint32_t from = e.form == Form::read_lane ? 256 + vector(1) : below(100);
    second |= from | (128 + below(64)) << 9;
  } else {
    for (unsigned i = 0; i < 3; ++i) {
      if (e.source[i] != 0) second |= source_gfx9(e.source[i]) << (9 * i);
    }
  }
  const std::uint32_t signs = e.modifiers & 7U;
  second |= (random_bits(3) & signs) << 29;
  if ((e.modifiers & kModifierScale) != 0) second |= random_bits(2) << 27;
  if ((e.modifiers & kModifierClamp) != 0) first |= random_bits(1) << 15;
  if (carry) {
    first |= scalar_pair() << 8;
  } else {
    first |= (random_bits(3) & signs) << 8;
  }
  if ((e.modifiers & kModifierHalves) != 0) {
    first |= (random_bits(4) & (e.source[2] != 0 || e.form == Form::byte_result ? 15U : 11U)) << 11;
  }
  put(first);
  put(second);
}

// The result takes the place of the sum that it continues, or continues a constant.
void WordMaker::matrix_product(const TableEntry& e) {
  const std::uint32_t result = tuple(e.result);
  const bool accumulators = generation_ != Generation::gfx908 && chance(2);
  put(0xd3800000U | std::uint32_t{e.number} << 16 | std::uint32_t{accumulators} << 15 |
      (e.modifiers == 1 ? random_bits(2) << 8 | random_bits(2) << 11 : 0) | result);
  const bool sparse = e.form == Form::sparse_matrix;
  const std::uint32_t sum = sparse                                           ? 256 + vector(1)
                            : generation_ != Generation::gfx908 && chance(3) ? 128 + below(65)
                                                                             : 256 + result;
  put((256 + tuple(e.source[0])) | (256 + tuple(e.source[1])) << 9 | sum << 18 |
      random_bits(2) << 27 | (e.modifiers != 0 && !sparse ? random_bits(3) << 29 : 0));
}

void WordMaker::vector_packed(const TableEntry& e) {
  if (e.form == Form::matrix || e.form == Form::sparse_matrix) return matrix_product(e);
  std::uint32_t first = 0xd3800000U | std::uint32_t{e.number} << 16 | tuple(e.result);
  if (e.form == Form::accumulator_read || e.form == Form::accumulator_write) {
    put(first | 1U << 14);
    scalar_taken_ = scalar_taken_ || generation_ == Generation::gfx908;
    return put((e.form == Form::accumulator_read ? 256 + vector(1) : source_gfx9(1)) | 3U << 27);
  }
  const std::uint32_t present = e.source[2] != 0 ? 7 : 3;
  std::uint32_t second = 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] == 0) continue;
    // Constants have rules of their own for each kind of packed source.
    second |= (!scalar_taken_ && chance(4) ? (scalar_taken_ = true, scalar(e.source[i]))
                                           : 256 + tuple(e.source[i]))
              << (9 * i);
  }
  const bool whole =
      generation_ == Generation::gfx940 && isa::mnemonic(e.opcode).starts_with("v_dot");
  const std::uint32_t high = whole ? 7U : (random_bits(3) & present) | (~present & 7U);
  first |= (whole ? 0 : random_bits(3) & present) << 11 | (high >> 2) << 14;
  first |= (random_bits(3) & present & e.modifiers) << 8;
  second |= (high & 3U) << 27 | (random_bits(3) & present & e.modifiers) << 29;
  if ((e.modifiers & kModifierClamp) != 0) first |= random_bits(1) << 15;
  put(first);
  put(second);
}

void WordMaker::scalar_memory_gfx9(const TableEntry& e) {
  std::uint32_t first = 0xc0000000U | std::uint32_t{e.number} << 18;
  const auto data = [&] { return e.result >= 4 ? 4 * below(20) : e.result * below(45); };
  if (e.form == Form::plain) {
    if (e.result != 0) first |= data() << 6;
    put(first);
    return put(0);
  }
  first |= data() << 6 | (e.source[0] == 4 ? 4 * below(24) : 2 * below(48)) / 2;
  first |= random_bits(1) << 16;
  std::uint32_t second = below(100);
  if (chance(2)) {
    first |= 1U << 17;
    // Negative offsets and a register beside the immediate exist for plain addresses only.
    const bool unsigned_only = e.source[0] == 4 || generation_ == Generation::gfx8;
    second = unsigned_only ? random_bits(20) : random_bits(21);
    if (!unsigned_only && chance(3)) {
      first |= 1U << 14;
      second = random_bits(20) | below(100) << 25;
    }
  }
  put(first);
  put(second);
}

void WordMaker::share_gfx9(const TableEntry& e) {
  const std::string_view name = isa::mnemonic(e.opcode);
  const bool with_data = e.result != 0 || e.source[1] != 0;
  const bool gws = name.starts_with("ds_gws_");
  const bool accumulators = has_even_tuples(generation_) && with_data && !gws && chance(3);
  const bool never_gds =
      name.find("permute") != std::string_view::npos || (has_even_tuples(generation_) && !gws);
  const bool gds =
      e.form == Form::ds_gds || (!never_gds && chance(4) && e.opcode != isa::Opcode::ds_nop);
  const std::uint32_t offset = e.opcode == isa::Opcode::ds_nop ? 0 : random_bits(16);
  put(0xd8000000U | std::uint32_t{e.number} << 17 | std::uint32_t{gds} << 16 |
      std::uint32_t{accumulators} << 25 | offset);
  std::uint32_t second = e.result == 0 ? 0 : tuple(e.result) << 24;
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] != 0) second |= tuple(gws ? 2 : e.source[i]) << (8 * i);
  }
  put(second);
}

void WordMaker::buffer_gfx9(const TableEntry& e) {
  const std::uint32_t base = 0xe0000000U | std::uint32_t{e.number} << 18;
  if (e.form == Form::buffer_control) {
    put(base);
    return put(0);
  }
  if (e.form == Form::buffer_scope) {
    put(base | random_bits(2) << 14);
    return put(0);
  }
  const bool newer = has_even_tuples(generation_);
  const std::string_view name = isa::mnemonic(e.opcode);
  const bool halves = name.find("d16") != std::string_view::npos;
  const std::uint32_t mode = below(4);
  const bool glc = e.form != Form::atomic_silent && chance(2);
  std::uint32_t first = base | random_bits(12) | mode << 12 | std::uint32_t{glc} << 14;
  const bool lds = e.form == Form::load && e.result == 1 && !halves && chance(4);
  if (generation_ == Generation::gfx940) first |= random_bits(1) << 15;
  first |= std::uint32_t{lds} << 16 | random_bits(1) << 17;
  const std::uint32_t address_count = mode == 0 ? 0 : mode < 3 ? 1 : 2;
  std::uint32_t second = address_count == 0 ? 0 : tuple(address_count);
  const bool tfe = !newer && e.form == Form::load && !lds && !halves && chance(5);
  const bool accumulators = newer && !lds && chance(3);
  if (!lds) second |= tuple(e.result + std::uint32_t{tfe}) << 8;
  second |= (scalar(4) / 4) << 16 | std::uint32_t{tfe || accumulators} << 23;
  second |= (chance(3) ? constant() : scalar(1)) << 24;
  put(first);
  put(second);
}

void WordMaker::flat_gfx9(const TableEntry& e) {
  const std::uint32_t segment = e.number / kFlatSegment;
  const bool glc = e.form != Form::atomic_silent && chance(2);
  const bool atomic = e.form == Form::atomic || e.form == Form::atomic_compare;
  // LLVM disassembles flat atomics that return into accumulation registers, but assembles none.
  const bool unwritable = segment == 0 && atomic && glc;
  const bool to_share = e.form == Form::load_to_share;
  const bool accumulators = has_even_tuples(generation_) && !unwritable && !to_share && chance(3);
  const bool scalar_address = segment != 0 && chance(2);
  const bool newest = generation_ == Generation::gfx940;
  const bool vector_address = newest && segment == 1 ? chance(2) : segment != 1 || !scalar_address;
  put(0xdc000000U | static_cast<std::uint32_t>(e.number % kFlatSegment) << 18 |
      (newest ? random_bits(1) << 25 : 0) |
      std::uint32_t{newest && segment == 1 && vector_address} << 13 | random_bits(1) << 17 |
      std::uint32_t{glc} << 16 | segment << 14 |
      (generation_ == Generation::gfx8 ? 0
       : segment == 0                  ? random_bits(12)
                                       : random_bits(13)));
  std::uint32_t second = segment == 0 ? 0 : 0x7fU << 16;
  if (scalar_address) {
    second = (segment == 1 ? below(100) : scalar_pair()) << 16;
    if (segment == 2) second |= vector(1);
  }
  if (vector_address && segment == 1) second |= vector(1);
  if (!scalar_address && segment != 1) second |= tuple(2);
  if (e.form != Form::load && !to_share) second |= tuple(e.result) << 8;
  if (e.form == Form::load || (atomic && glc)) second |= tuple(e.result) << 24;
  put(second | std::uint32_t{accumulators} << 23);
}

void WordMaker::gfx9(const TableEntry& e) {
  const std::string_view name = isa::mnemonic(e.opcode);
  short_literal_ = name.ends_with("16") && name != "v_cvt_f16_f32";
  short_integers_ = name.ends_with("i16") || name.ends_with("u16") || name.ends_with("b16") ||
                    name == "v_cvt_f16_i16" || name == "v_cvt_f16_u16";
  switch (e.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc: return vector_short_gfx9(e);
    case Encoding::vop3a: return vector_long_gfx9(e);
    case Encoding::vop3p: return vector_packed(e);
    case Encoding::smem: return scalar_memory_gfx9(e);
    case Encoding::ds: return share_gfx9(e);
    case Encoding::mubuf: return buffer_gfx9(e);
    case Encoding::flat: return flat_gfx9(e);
    case Encoding::mimg: return image(e);
    default: return scalar_alu(e);
  }
}

}  // namespace ww::binpatch::testing
