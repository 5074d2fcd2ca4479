#include "word_maker.hpp"

#include <bit>

#include "isa/operand.hpp"

namespace ww::binpatch::testing {

using isa::kModifierClamp;
using isa::kModifierScale;

namespace {

// The assembler's own rules, narrower than the encoding's.
bool needs_register(Opcode opcode) {
  return opcode == Opcode::s_movrels_b32 || opcode == Opcode::s_movrels_b64;
}
bool vector_sources_only(Opcode opcode) {
  const std::string_view name = isa::mnemonic(opcode);
  return name.starts_with("v_movrel") || name.find("qsad_") != std::string_view::npos ||
         opcode == Opcode::v_cvt_f32_f16;
}
bool result_may_not_overlap(Opcode opcode) {
  return isa::mnemonic(opcode).find("qsad_") != std::string_view::npos;
}
bool reads_vcc(Opcode opcode) {
  return opcode == Opcode::v_div_fmas_f32 || opcode == Opcode::v_div_fmas_f64;
}

}  // namespace

void WordMaker::scalar_alu(const TableEntry& e) {
  const std::uint32_t number = e.number;
  std::uint32_t result = e.result != 0 ? scalar(e.result) : 0;
  if (e.encoding == Encoding::smrd && result >= 124) result = 0;  // loads take neither m0 nor exec
  const auto source = [&](std::size_t i, bool literal) {
    if (e.source[i] == 0) return 0U;
    if (needs_register(e.opcode) || e.opcode == Opcode::s_setpc_b64 ||
        e.opcode == Opcode::s_rfe_b64 || e.opcode == Opcode::s_cbranch_join) {
      return scalar(e.source[i]);
    }
    return scalar_source(e.source[i], literal);
  };
  switch (e.encoding) {
    case Encoding::sop2: {
      const bool literal = e.opcode != Opcode::s_cbranch_g_fork;
      const std::uint32_t s0 = source(0, literal);
      put(0x80000000U | number << 23 | result << 16 | source(1, literal && s0 != 255) << 8 | s0);
      return put_literal();
    }
    case Encoding::sop1:
      put(0xbe800000U | result << 16 | number << 8 | source(0, true));
      return put_literal();
    case Encoding::sopc: {
      const std::uint32_t s0 = source(0, true);
      const std::uint32_t s1 = e.form == Form::index_mode ? random_bits(4) : source(1, s0 != 255);
      put(0xbf000000U | number << 16 | s1 << 8 | s0);
      return put_literal();
    }
    case Encoding::sopk: {
      std::uint32_t immediate = random_bits(16);
      if (e.opcode == Opcode::s_getreg_b32 || e.form == Form::sopk_literal ||
          e.opcode == Opcode::s_setreg_b32) {
        immediate = (immediate & 0xffc0U) | (1 + below(7));  // registers that all have
      }
      put(0xb0000000U | number << 23 | (e.form == Form::sopk_literal ? 0 : result) << 16 |
          immediate);
      uses_literal_ = e.form == Form::sopk_literal;
      return put_literal();
    }
    case Encoding::sopp:
      return put(0xbf800000U | number << 16 |
                 (e.opcode == Opcode::s_set_gpr_idx_mode ? random_bits(4)
                  : e.form == Form::sopp_immediate       ? random_bits(16)
                                                         : 0));
    default: break;
  }
  // SMRD
  std::uint32_t low = 0;
  if (e.source[0] != 0) {
    const std::uint32_t base = e.source[0] == 4 ? scalar(4) : scalar(2);
    low = (base / 2) << 9;
    if (chance(3)) {
      low |= 0x100U | random_bits(8);
    } else if (chance(2) && generation_ >= Generation::gfx7) {
      low |= 255;
      uses_literal_ = true;
    } else {
      low |= scalar(1);
    }
  }
  put(0xc0000000U | number << 22 | result << 15 | low);
  put_literal();
}

void WordMaker::vector_short(const TableEntry& e) {
  const std::uint32_t number = e.number;
  // vcc read as carry or mask is the one scalar operand.
  const bool has_literal = e.form == Form::multiply_literal || e.form == Form::add_literal;
  scalar_taken_ =
      scalar_taken_ || e.form == Form::select || e.form == Form::carry_in_out || has_literal;
  std::uint32_t s0 = 0;
  if (e.form == Form::read_lane || e.form == Form::scalar_result) {
    s0 = 256 + vector(1);
  } else if (e.form == Form::write_lane) {
    s0 = chance(2) ? constant() : below(104);
    scalar_taken_ = s0 < 128;
  } else if (e.source[0] != 0) {
    s0 = vector_source(e.source[0], true);
  }
  uses_literal_ = uses_literal_ || has_literal;
  const bool scalar_result = e.form == Form::read_lane || e.form == Form::scalar_result;
  const std::uint32_t result = e.result == 0 ? 0 : scalar_result ? below(104) : vector(e.result);
  if (e.encoding == Encoding::vop1) {
    put(0x7e000000U | result << 17 | number << 9 | s0);
    return put_literal();
  }
  std::uint32_t s1 = e.form == Form::read_lane || e.form == Form::write_lane
                         ? (scalar_taken_ || chance(2) ? 128 + below(64) : below(104))
                         : vector(e.source[1]);
  if (e.encoding == Encoding::vopc) {
    put(0x7c000000U | number << 17 | s1 << 9 | s0);
  } else {
    put(number << 25 | result << 17 | s1 << 9 | s0);
  }
  put_literal();
}

void WordMaker::vector_long(const TableEntry& e) {
  const bool compare = e.number < 0x100;
  const bool carry = e.form == Form::carry_out || e.form == Form::carry_in_out;
  std::uint32_t first = 0xd0000000U | std::uint32_t{e.number} << 17;
  const std::uint32_t shift = result_may_not_overlap(e.opcode) ? 200 : 0;
  vector_limit_ = 257 - shift;
  first |= compare ? scalar(2) : e.result == 0 ? 0 : shift + vector(e.result);
  vector_limit_ = shift == 0 ? 257 : shift;
  std::uint32_t second = 0;
  if (e.form == Form::select || e.form == Form::carry_in_out) {
    second |= scalar(2) << 18;
    scalar_taken_ = true;
  }
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] != 0) second |= vector_source(e.source[i], false) << (9 * i);
  }
  const std::uint32_t signs = e.modifiers & 7U;
  second |= (random_bits(3) & signs) << 29;
  if ((e.modifiers & kModifierScale) != 0) second |= random_bits(2) << 27;
  if (carry) {
    first |= scalar(2) << 8;
  } else {
    first |= (random_bits(3) & signs) << 8;
    if ((e.modifiers & kModifierClamp) != 0) first |= random_bits(1) << 11;
  }
  put(first);
  put(second);
}

void WordMaker::memory(const TableEntry& e) {
  const bool gds = e.form == Form::ds_gds || (chance(4) && e.opcode != Opcode::ds_nop);
  const std::uint32_t offset = e.opcode == Opcode::ds_nop ? 0 : random_bits(16);
  put(0xd8000000U | std::uint32_t{e.number} << 18 | std::uint32_t{gds} << 17 | offset);
  std::uint32_t second = e.result == 0 ? 0 : vector(e.result) << 24;
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] != 0) second |= vector(e.source[i]) << (8 * i);
  }
  put(second);
}

void WordMaker::buffer(const TableEntry& e) {
  const bool typed = e.encoding == Encoding::mtbuf;
  const std::uint32_t base = typed ? 0xe8000000U | std::uint32_t{e.number} << 16
                                   : 0xe0000000U | std::uint32_t{e.number} << 18;
  if (e.form == Form::buffer_control) {
    put(base);
    return put(0);
  }
  std::uint32_t first = base | random_bits(12);
  const std::uint32_t mode = below(5);  // none, offen, idxen, both, addr64
  first |= mode == 4 ? 1U << 15 : mode << 12;
  first |= random_bits(1) << 14;
  if (typed) first |= random_bits(7) << 19;
  const bool lds = !typed && e.form == Form::load && e.result == 1 && chance(4);
  first |= std::uint32_t{lds} << 16;
  const std::uint32_t address_count = mode == 0 ? 0 : mode < 3 ? 1 : 2;
  std::uint32_t second = address_count == 0 ? 0 : vector(address_count);
  const bool tfe = e.form == Form::load && !lds && chance(5);
  if (!lds) second |= vector(e.result + std::uint32_t{tfe}) << 8;
  second |= (scalar(4) / 4) << 16 | random_bits(1) << 22 | std::uint32_t{tfe} << 23;
  second |= (chance(3) ? constant() : scalar(1)) << 24;
  put(first);
  put(second);
}

void WordMaker::flat(const TableEntry& e) {
  const bool glc = chance(2);
  const bool atomic = e.form == Form::atomic || e.form == Form::atomic_compare;
  put(0xdc000000U | std::uint32_t{e.number} << 18 | random_bits(1) << 17 |
      std::uint32_t{glc} << 16);
  std::uint32_t second = vector(2);
  if (e.form != Form::load) second |= vector(e.result) << 8;
  if (e.form == Form::load || (atomic && glc)) second |= vector(e.result) << 24;
  put(second);
}

void WordMaker::image(const TableEntry& e) {
  const bool newer = isa::has_even_tuples(generation_);
  const bool halves = isa::is_gfx9(generation_) && chance(3);
  const bool gathers =
      e.opcode == isa::Opcode::image_gather4 || e.opcode == isa::Opcode::image_gather4_lz;
  const std::uint32_t channels = gathers ? 1U << below(4) : 1 + below(15);
  const auto count = gathers ? 4U : static_cast<std::uint32_t>(std::popcount(channels));
  const std::uint32_t words = halves ? (count + 1) / 2 : count;
  const auto registers = [&](std::uint32_t of) {
    return newer && of > 1 ? below((256 - of) / 2) * 2 : below(257 - of);
  };
  put(0xf0000000U | std::uint32_t{e.number} << 18 | channels << 8 | random_bits(3) << 12 |
      std::uint32_t{newer && chance(3)} << 16 | random_bits(1) << 25);
  std::uint32_t second = registers(e.source[0]) | registers(words) << 8 | below(24) << 16 |
                         std::uint32_t{halves} << 31;
  if (e.source[1] != 0) second |= below(24) << 21;
  put(second);
}

Bytes WordMaker::make(const TableEntry& e) {
  bytes_.clear();
  uses_literal_ = false;
  scalar_taken_ = reads_vcc(e.opcode);
  vectors_only_ = vector_sources_only(e.opcode);
  vector_limit_ = 257;
  if (generation_ >= Generation::gfx8 && generation_ < Generation::gfx10) {
    vectors_only_ = e.form == Form::vector_source;
    gfx9(e);
    return bytes_;
  }
  switch (e.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc: vector_short(e); break;
    case Encoding::vop3a: vector_long(e); break;
    case Encoding::ds: memory(e); break;
    case Encoding::mubuf:
    case Encoding::mtbuf: buffer(e); break;
    case Encoding::flat: flat(e); break;
    case Encoding::mimg: image(e); break;
    default: scalar_alu(e); break;
  }
  return bytes_;
}

}  // namespace ww::binpatch::testing
