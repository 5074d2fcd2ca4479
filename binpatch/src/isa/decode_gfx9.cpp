// Vector instructions as gfx8, gfx9 and gfx1030 lay them out: VOP3 with ten bits of opcode, VOP3P,
// and the second words of SDWA and DPP. Vega ISA, chapter "Microcode formats".
#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t whole_register = 6;  // SDWA's select of all 32 bits

// Sources that SDWA extends by their sign where other forms would negate them.
unsigned sdwa_integers(const TableEntry& entry) {
  switch (entry.opcode) {
    case Opcode::v_cndmask_b32: return 3;
    case Opcode::v_ldexp_f16: return 2;
    default: return ~entry.modifiers & 3U;
  }
}

}  // namespace

// Keeps as words an instruction that the table lacks, or that sets a field which it does not have:
// the patcher needs no more of it, and the emulator refuses it.
void Decoder::since_gfx8_or_unlisted() {
  switch (out_.encoding) {
    case Encoding::vop2:
    case Encoding::vop1:
    case Encoding::vopc: vop_short_gfx9(); break;
    case Encoding::vop3a: vop3_gfx9(); break;
    case Encoding::vop3p: vop3p(); break;
    case Encoding::vopd: dual(); break;
    default: is_listed_rdna(generation_) ? memory_rdna() : memory_gfx9(); break;
  }
  or_unlisted();
}

void Decoder::or_unlisted() {
  if (!error_ || error_->code != ErrorCode::unsupported) return;
  error_.reset();
  const Encoding encoding = out_.encoding == Encoding::vop3b ? Encoding::vop3a : out_.encoding;
  out_ = Instruction{};
  out_.encoding = encoding;
  generation_ >= Generation::gfx10 ? unlisted_rdna() : unlisted();
}

void Decoder::vop_short_gfx9() {
  const std::uint32_t source0 = bits(word_, 0, 9);
  if (source0 != kEncodedSdwa && source0 != kEncodedDpp) {
    vop_short();
    take_upper_halves();
    return;
  }
  const std::uint32_t number = out_.encoding == Encoding::vop2   ? bits(word_, 25, 6)
                               : out_.encoding == Encoding::vop1 ? bits(word_, 9, 8)
                                                                 : bits(word_, 17, 8);
  if (!enter(number, 2)) {
    return;
  }
  if (entry_->form == Form::accumulator_move || entry_->form == Form::swap) {
    return unsupported("no such form of the instruction");
  }
  out_.modifiers.extra_dword = second_;
  if (source0 == kEncodedSdwa) {
    sdwa();
  } else {
    dpp();
    take_upper_halves();
  }
}

// The operands of VOP1, VOP2 and VOPC that the first word names.
void Decoder::short_results() {
  const TableEntry& entry = *entry_;
  if (out_.encoding == Encoding::vopc) {
    if (!writes_exec_alone()) vcc_mask(out_.dst[0]);
  } else if (entry.result == 0) {
    unsupported("no such form of the instruction");
  } else {
    set(out_.dst[0], vector_register(generation_, bits(word_, 17, 8), entry.result),
        "reserved vector result");
  }
  carry_masks();
}

void Decoder::sdwa() {
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  m.sdwa = true;
  if ((entry.modifiers & kModifierSdwa) == 0) {
    return unsupported("the instruction has no SDWA form");
  }
  short_results();
  const bool gfx8 = generation_ == Generation::gfx8;
  if (gfx8 && (bit(second_, 23) || bit(second_, 31))) {
    return unsupported("a scalar source of SDWA");
  }
  const bool two_sources = out_.encoding != Encoding::vop1;
  const auto source_of = [&](std::uint32_t encoded, bool scalar) {
    return scalar ? source_operand(generation_, encoded, 1)
                  : vector_register(generation_, encoded, 1);
  };
  set(out_.src[0], source_of(bits(second_, 0, 8), bit(second_, 23)), "reserved source operand");
  if (two_sources) {
    set(out_.src[1], source_of(bits(word_, 9, 8), bit(second_, 31)), "reserved source operand");
  } else {
    reserved(bits(second_, 27, 5), "a second source where the instruction has none");
  }
  for (const Operand& operand : out_.src) {
    if (operand.kind == OperandKind::literal) {
      unsupported("a literal in SDWA");
    }
  }
  const std::uint32_t second_select = bits(second_, 24, 3);
  if (bits(second_, 16, 3) > whole_register || second_select > whole_register) {
    unsupported("reserved select");
  }
  m.neg = static_cast<std::uint8_t>(bits(second_, 20, 1) | bits(second_, 28, 1) << 1);
  m.abs = static_cast<std::uint8_t>(bits(second_, 21, 1) | bits(second_, 29, 1) << 1);
  const unsigned integers = sdwa_integers(entry);
  const unsigned extended = bits(second_, 19, 1) | bits(second_, 27, 1) << 1;
  if (((m.neg | m.abs) & integers) != 0 || (extended & ~integers) != 0 ||
      (extended != 0 && entry.form == Form::part_source)) {
    unsupported("a modifier that the instruction does not take");
  }
  reserved(bits(second_, 22, 1) | bits(second_, 30, 1), "reserved bits");
  if (out_.encoding == Encoding::vopc && gfx8) {
    m.clamp = bit(second_, 13);
    reserved(bits(second_, 8, 5) | bits(second_, 14, 2), "reserved bits");
    if (m.clamp && (entry.modifiers & kModifierClamp) == 0) {
      unsupported("a modifier that the instruction does not take");
    }
    return;
  }
  if (out_.encoding == Encoding::vopc) {
    if (bit(second_, 15) && !writes_exec_alone()) {
      set(out_.dst[0], scalar_register(generation_, bits(second_, 8, 7), mask_words_),
          "reserved compare result");
    } else {
      reserved(bits(second_, 8, 8), "reserved bits");
    }
    return;
  }
  if (bits(second_, 8, 3) > whole_register || bits(second_, 11, 2) == 3) {
    unsupported("reserved select");
  }
  if (entry.form == Form::part_source && bits(second_, 8, 8) != whole_register) {
    return unsupported("a part of the result");
  }
  m.clamp = bit(second_, 13);
  m.omod = static_cast<std::uint8_t>(bits(second_, 14, 2));
  if (m.omod != 0 && (gfx8 || (entry.modifiers & kModifierScale) == 0)) {
    unsupported("a modifier that the instruction does not take");
  }
}

// Whether the instruction has the form of DPP whose second word this is.
bool Decoder::has_dpp(std::uint32_t word) const {
  const TableEntry& entry = *entry_;
  const std::uint32_t control = bits(word, 8, 9);
  const bool broadcast_in_row = control >= 0x150 && control <= 0x15f;
  const bool shift = control > 0x100 && control < 0x130 && control % 16 != 0;
  const bool mirror = control == 0x140 || control == 0x141;
  const bool whole_wave = control == 0x130 || control == 0x134 || control == 0x138 ||
                          control == 0x13c || control == 0x142 || control == 0x143;
  // gfx10 fetches from all lanes of a row, in two ways, and not past rows.
  const bool gfx10 = generation_ >= Generation::gfx10;
  const bool exchange_in_row = control >= 0x160 && control <= 0x16f;
  const bool known = control < 0x100 || shift || mirror || (whole_wave && !gfx10) ||
                     (broadcast_in_row && (gfx10 || has_even_tuples(generation_))) ||
                     (exchange_in_row && gfx10);
  const bool wide = entry.result == 2 || entry.source[0] == 2 || entry.source[1] == 2;
  return (entry.modifiers & kModifierDpp) != 0 && known && (!wide || broadcast_in_row);
}

void Decoder::dpp() {
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  m.dpp = true;
  if (!has_dpp(second_)) return unsupported("the instruction has no such DPP form");
  short_results();
  set(out_.src[0], vector_register(generation_, bits(second_, 0, 8), entry.source[0]),
      "reserved vector source");
  if (out_.encoding != Encoding::vop1) {
    set(out_.src[1], vector_register(generation_, bits(word_, 9, 8), entry.source[1]),
        "reserved vector source");
  }
  m.neg = static_cast<std::uint8_t>(bits(second_, 20, 1) | bits(second_, 22, 1) << 1);
  m.abs = static_cast<std::uint8_t>(bits(second_, 21, 1) | bits(second_, 23, 1) << 1);
  const bool signless = entry.opcode == Opcode::v_cndmask_b32 && generation_ != Generation::gfx1100;
  const unsigned floats = signless ? 0U : entry.modifiers & 3U;
  if (((m.neg | m.abs) & ~floats) != 0) {
    unsupported("a modifier that the instruction does not take");
  }
  // Bit 18: from disabled lanes too.
  reserved(bits(second_, 17, generation_ >= Generation::gfx10 ? 1 : 2), "reserved bits");
}

// DPP of VOP3: a third word names the first source and the lanes that it is of. RDNA3 ISA, "DPP16".
void Decoder::vop3_dpp() {
  if (!room_for(12)) return;
  const std::uint32_t word = load_word(code_, 8);
  out_.size_bytes = 12;
  out_.modifiers.dpp = true;
  out_.modifiers.extra_dword = word;
  if (!has_dpp(word)) return unsupported("the instruction has no such DPP form");
  set(out_.src[0], vector_register(generation_, bits(word, 0, 8), entry_->source[0]),
      "reserved vector source");
  if (entry_->source[1] != 0 && bits(second_, 9, 9) < 256) {
    unsupported("the second source of DPP is a vector register only");
  }
  // The signs are those of VOP3.
  reserved(bits(word, 17, 1) | bits(word, 20, 4), "reserved bits");
}

// The bits of VOP3's op_sel that the instruction has: bit i source i, bit 3 the result.
unsigned Decoder::selectable_halves() const {
  const TableEntry& entry = *entry_;
  if ((entry.modifiers & kModifierHalves) != 0) {
    const bool byte_of_result = entry.form == Form::byte_result;
    return entry.source[2] == 0 && !byte_of_result ? 11U : 15U;
  }
  if (generation_ != Generation::gfx1100) return 0;
  unsigned present = entry.result != 0 ? 8U : 0U;
  for (unsigned i = 0; i < 3; ++i) present |= entry.source[i] != 0 ? 1U << i : 0U;
  return halves_of(entry.opcode) & present;
}

void Decoder::vop3_gfx9() {
  if (!enter(bits(word_, 16, 10), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  const bool has_carry = entry.form == Form::carry_out || entry.form == Form::carry_in_out;
  const bool is_compare = entry.number < 0x100;  // VOPC's numbers come first
  Modifiers& m = out_.modifiers;
  if (has_carry) {
    out_.encoding = Encoding::vop3b;
    set(out_.dst[1], scalar_register(generation_, bits(word_, 8, 7), mask_words_),
        "reserved carry result");
  } else {
    m.abs = static_cast<std::uint8_t>(bits(word_, 8, 3));
    m.op_sel = static_cast<std::uint8_t>(bits(word_, 11, 4));
  }
  m.clamp = bit(word_, 15);
  m.neg = static_cast<std::uint8_t>(bits(second_, 29, 3));
  m.omod = static_cast<std::uint8_t>(bits(second_, 27, 2));
  if ((m.op_sel & ~selectable_halves()) != 0) {
    unsupported("a modifier that the instruction does not take");
  }

  const std::uint32_t destination = bits(word_, 0, 8);
  if (is_compare && writes_exec_alone()) {
    constexpr std::uint32_t exec_number = 0x7e;
    reserved(destination & ~exec_number, "a result where the instruction has none");
  } else if (is_compare) {
    set(out_.dst[0], scalar_register(generation_, destination, mask_words_),
        "reserved compare result");
  } else if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else if (entry.form == Form::read_lane) {
    set(out_.dst[0], scalar_register(generation_, destination, 1), "reserved scalar result");
  } else {
    set(out_.dst[0], vector_register(generation_, destination, entry.result),
        "reserved vector result");
  }
  vop3_sources();
  const bool lane = entry.form == Form::read_lane || entry.form == Form::write_lane;
  const bool from_vector = out_.src[0].kind == OperandKind::vgpr;
  if (lane &&
      (from_vector != (entry.form == Form::read_lane) || out_.src[1].kind == OperandKind::vgpr)) {
    unsupported("reserved lane operand");
  }
  if (entry.form == Form::vector_source && !from_vector) {
    unsupported("the source is a vector register only");
  }
  take_literal(8);
}

void Decoder::vop3p() {
  if (!enter(bits(word_, 16, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  if (entry.form == Form::matrix || entry.form == Form::sparse_matrix) {
    return matrix();
  }
  Modifiers& m = out_.modifiers;
  m.abs = static_cast<std::uint8_t>(bits(word_, 8, 3));
  m.op_sel = static_cast<std::uint8_t>(bits(word_, 11, 3));
  m.op_sel_hi = static_cast<std::uint8_t>(bits(second_, 27, 2) | bits(word_, 14, 1) << 2);
  m.clamp = bit(word_, 15);
  m.neg = static_cast<std::uint8_t>(bits(second_, 29, 3));
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t encoded = bits(second_, 9 * i, 9);
    if (entry.source[i] == 0) {
      reserved(encoded, "a source where the instruction has none");
    } else if (encoded == kEncodedLiteral && generation_ < Generation::gfx10) {
      unsupported("a literal in VOP3P");
    } else {
      source(i, encoded, entry.source[i]);
    }
  }
  take_literal(8);
  set(out_.dst[0], vector_register(generation_, bits(word_, 0, 8), entry.result),
      "reserved vector result");
  const bool accumulator =
      entry.form == Form::accumulator_read || entry.form == Form::accumulator_write;
  const unsigned present = entry.source[2] != 0 ? 7U : accumulator ? 1U : 3U;
  const unsigned unused = ~present & 7U;
  if (((m.abs | m.neg) & ~(entry.modifiers & present)) != 0 || (m.op_sel & unused) != 0 ||
      (m.op_sel_hi & unused) != unused || (m.clamp && (entry.modifiers & kModifierClamp) == 0)) {
    unsupported("a modifier that the instruction does not take");
  }
  // gfx940's dot products take whole registers.
  const bool whole = accumulator || (generation_ == Generation::gfx940 &&
                                     mnemonic(entry.opcode).starts_with("v_dot"));
  if (whole && (m.op_sel != 0 || m.op_sel_hi != 7)) {
    unsupported("a modifier that the instruction does not take");
  }
  if (!accumulator) {
    return;
  }
  if (generation_ == Generation::gfx908 && bits(second_, 0, 9) < 128) {
    unsupported("a scalar register that this GPU does not move to an accumulation register");
  }
  Operand& accumulation = entry.form == Form::accumulator_read ? out_.src[0] : out_.dst[0];
  if (accumulation.kind != OperandKind::vgpr) {
    unsupported("no accumulation register");
  }
  accumulation.kind = OperandKind::agpr;
}

// Instinct MI100 and MI200 ISA, "VOP3P-MAI". gfx908 has sums and results in accumulation registers
// alone, and no bit to choose. The broadcast fields lie in extra_dword: cbsz, abid << 4,
// blgp << 8.
void Decoder::matrix() {
  const TableEntry& entry = *entry_;
  set(out_.dst[0], vector_register(generation_, bits(word_, 0, 8), entry.result),
      "reserved vector result");
  for (unsigned i = 0; i < 3; ++i) {
    const std::uint32_t encoded = bits(second_, 9 * i, 9);
    if (encoded == kEncodedLiteral || encoded < 128) {
      unsupported("a scalar operand of a matrix instruction");
    }
    source(i, encoded, entry.source[i]);
  }
  const auto accumulate = [](Operand& operand, bool asked) {
    if (asked && operand.kind == OperandKind::vgpr) operand.kind = OperandKind::agpr;
  };
  accumulate(out_.src[0], bit(second_, 27));
  accumulate(out_.src[1], bit(second_, 28));
  const bool chosen = bit(word_, 15);
  const bool always = generation_ == Generation::gfx908;
  reserved(std::uint32_t{always && chosen}, "reserved bits");
  const bool sparse = entry.form == Form::sparse_matrix;
  accumulate(out_.src[2], (chosen || always) && !sparse);
  accumulate(out_.dst[0], chosen || always);
  // gfx908 takes none for the sum either: LLVM, "MFMA inline literal bug".
  if (bits(second_, 0, 9) < 256 || bits(second_, 9, 9) < 256 ||
      ((always || sparse) && bits(second_, 18, 9) < 256)) {
    unsupported("a constant where the instruction takes a register");
  }
  const std::uint32_t broadcast = bits(word_, 8, 3);
  const std::uint32_t which = bits(word_, 11, 4);
  const std::uint32_t pattern = bits(second_, 29, 3);
  const bool signs_only = entry.modifiers != 1;
  if ((signs_only && (broadcast | which) != 0) ||
      ((entry.modifiers == 0 || sparse) && pattern != 0)) {
    unsupported("a modifier that the instruction does not take");
  }
  out_.modifiers.extra_dword = broadcast | which << 4 | pattern << 8;
}

}  // namespace ww::binpatch::isa
