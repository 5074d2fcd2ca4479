#include <array>
#include <cstdint>

#include "isa/operand.hpp"
#include "isa/table.hpp"
#include "isa/text.hpp"

namespace ww::binpatch::isa {

namespace {

bool is_register(const Operand& operand) {
  return operand.kind == OperandKind::sgpr || operand.kind == OperandKind::vgpr ||
         operand.kind == OperandKind::special;
}

std::string with_modifiers(const Operand& operand, std::string_view half, bool abs, bool neg) {
  std::string text = fmt::format("{}{}", operand_text(operand), half);
  if (abs) {
    text = fmt::format("|{}|", text);
  }
  if (neg) {
    // "-1.0" would be another constant, so a negated constant is spelled as a function.
    text = abs || is_register(operand) ? fmt::format("-{}", text) : fmt::format("neg({})", text);
  }
  return text;
}

// Lane reads, moves of two registers and the literal multiply-adds have one encoding only.
bool has_one_form(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_readlane_b32:
    case Opcode::v_writelane_b32:
    case Opcode::v_readfirstlane_b32:
    case Opcode::v_madmk_f32:
    case Opcode::v_madak_f32:
    case Opcode::v_madmk_f16:
    case Opcode::v_madak_f16:
    case Opcode::v_fmamk_f32:
    case Opcode::v_fmaak_f32:
    case Opcode::v_fmamk_f16:
    case Opcode::v_fmaak_f16:
    case Opcode::v_pk_fmac_f16:
    case Opcode::v_pipeflush:
    case Opcode::v_swaprel_b32:
    case Opcode::v_swap_b16:
    case Opcode::v_swap_b32:
    case Opcode::v_accvgpr_mov_b32: return true;
    default: return false;
  }
}

std::string_view vop_suffix(const Instruction& in, Generation generation) {
  if (in.modifiers.sdwa) {
    return "_sdwa";
  }
  if (has_one_form(in.opcode) || in.encoding == Encoding::vop3p) {
    return "";
  }
  const bool is_long = in.encoding == Encoding::vop3a || in.encoding == Encoding::vop3b;
  if (in.modifiers.dpp) {
    return is_long ? "_e64_dpp" : "_dpp";
  }
  if (!is_long) {
    return "_e32";
  }
  // Names of gfx8 and gfx9 carry a suffix only where there is a short form to differ from, as LLVM
  // writes them.
  const Table* table = table_of(generation);
  const bool has_short =
      table != nullptr && table->find_opcode(Encoding::vop3a, in.opcode) == nullptr;
  const bool bare = is_gfx8_or_gfx9(generation) || is_listed_rdna(generation);
  return bare && !has_short ? "" : "_e64";
}

// gfx940 counts the blocks of a matrix product in its name.
std::string_view spelling_of_gfx940(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_mfma_f32_32x32x1f32: return "v_mfma_f32_32x32x1_2b_f32";
    case Opcode::v_mfma_f32_16x16x1f32: return "v_mfma_f32_16x16x1_4b_f32";
    case Opcode::v_mfma_f32_4x4x1f32: return "v_mfma_f32_4x4x1_16b_f32";
    case Opcode::v_mfma_f32_32x32x2f32: return "v_mfma_f32_32x32x2_f32";
    case Opcode::v_mfma_f32_16x16x4f32: return "v_mfma_f32_16x16x4_f32";
    case Opcode::v_mfma_f32_32x32x4f16: return "v_mfma_f32_32x32x4_2b_f16";
    case Opcode::v_mfma_f32_16x16x4f16: return "v_mfma_f32_16x16x4_4b_f16";
    case Opcode::v_mfma_f32_4x4x4f16: return "v_mfma_f32_4x4x4_16b_f16";
    case Opcode::v_mfma_f32_32x32x8f16: return "v_mfma_f32_32x32x8_f16";
    case Opcode::v_mfma_f32_16x16x16f16: return "v_mfma_f32_16x16x16_f16";
    case Opcode::v_mfma_i32_32x32x4i8: return "v_mfma_i32_32x32x4_2b_i8";
    case Opcode::v_mfma_i32_16x16x4i8: return "v_mfma_i32_16x16x4_4b_i8";
    case Opcode::v_mfma_i32_4x4x4i8: return "v_mfma_i32_4x4x4_16b_i8";
    case Opcode::v_mfma_f32_32x32x4bf16_1k: return "v_mfma_f32_32x32x4_2b_bf16";
    case Opcode::v_mfma_f32_16x16x4bf16_1k: return "v_mfma_f32_16x16x4_4b_bf16";
    case Opcode::v_mfma_f32_4x4x4bf16_1k: return "v_mfma_f32_4x4x4_16b_bf16";
    case Opcode::v_mfma_f32_32x32x8bf16_1k: return "v_mfma_f32_32x32x8_bf16";
    case Opcode::v_mfma_f32_16x16x16bf16_1k: return "v_mfma_f32_16x16x16_bf16";
    case Opcode::v_mfma_f64_16x16x4f64: return "v_mfma_f64_16x16x4_f64";
    case Opcode::v_mfma_f64_4x4x4f64: return "v_mfma_f64_4x4x4_4b_f64";
    default: return mnemonic(opcode);
  }
}

// gfx10 says of every sum whether it has a carry.
std::string_view spelling_of_gfx1030(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_add_u32: return "v_add_nc_u32";
    case Opcode::v_sub_u32: return "v_sub_nc_u32";
    case Opcode::v_subrev_u32: return "v_subrev_nc_u32";
    case Opcode::v_add_u16: return "v_add_nc_u16";
    case Opcode::v_sub_u16: return "v_sub_nc_u16";
    case Opcode::v_add_i16: return "v_add_nc_i16";
    case Opcode::v_sub_i16: return "v_sub_nc_i16";
    case Opcode::v_addc_co_u32: return "v_add_co_ci_u32";
    case Opcode::v_subb_co_u32: return "v_sub_co_ci_u32";
    case Opcode::v_subbrev_co_u32: return "v_subrev_co_ci_u32";
    default: return mnemonic(opcode);
  }
}

// gfx9's v_add_i32 has no carry, and is another opcode than gfx7's. gfx9's v_add_co_u32 and
// v_mad_legacy_f16 had their names from gfx8 without these words.
std::string_view spelling(Opcode opcode, Generation generation) {
  if (generation == Generation::gfx1030) {
    return spelling_of_gfx1030(opcode);
  }
  if (generation == Generation::gfx1100) {
    return spelling_of_gfx1100(opcode);
  }
  switch (opcode) {
    case Opcode::v_add_nc_i32: return "v_add_i32";
    case Opcode::v_sub_nc_i32: return "v_sub_i32";
    default: break;
  }
  if (generation == Generation::gfx940) {
    return spelling_of_gfx940(opcode);
  }
  if (generation != Generation::gfx8) {
    return mnemonic(opcode);
  }
  switch (opcode) {
    case Opcode::v_add_co_u32: return "v_add_u32";
    case Opcode::v_sub_co_u32: return "v_sub_u32";
    case Opcode::v_subrev_co_u32: return "v_subrev_u32";
    case Opcode::v_addc_co_u32: return "v_addc_u32";
    case Opcode::v_subb_co_u32: return "v_subb_u32";
    case Opcode::v_subbrev_co_u32: return "v_subbrev_u32";
    case Opcode::v_mad_legacy_f16: return "v_mad_f16";
    case Opcode::v_mad_legacy_u16: return "v_mad_u16";
    case Opcode::v_mad_legacy_i16: return "v_mad_i16";
    case Opcode::v_fma_legacy_f16: return "v_fma_f16";
    case Opcode::v_div_fixup_legacy_f16: return "v_div_fixup_f16";
    default: return mnemonic(opcode);
  }
}

constexpr std::uint32_t field(std::uint32_t word, unsigned low, unsigned count) {
  return (word >> low) & ((1U << count) - 1U);
}

void sdwa_words(const Instruction& in, Line& line, bool part_of_result) {
  constexpr std::array<std::string_view, 8> selects{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                    "WORD_0", "WORD_1", "DWORD",  "?"};
  constexpr std::array<std::string_view, 4> unused{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE",
                                                   "?"};
  const std::uint32_t word = in.modifiers.extra_dword;
  if (in.encoding != Encoding::vopc && part_of_result) {
    line.word(fmt::format("dst_sel:{}", selects[field(word, 8, 3)]));
    line.word(fmt::format("dst_unused:{}", unused[field(word, 11, 2)]));
  }
  line.word(fmt::format("src0_sel:{}", selects[field(word, 16, 3)]));
  if (in.src[1].kind != OperandKind::none) {
    line.word(fmt::format("src1_sel:{}", selects[field(word, 24, 3)]));
  }
}

std::string dpp_control(std::uint32_t control, bool gfx10) {
  if (control < 0x100) {
    return fmt::format("quad_perm:[{},{},{},{}]", control & 3, control >> 2 & 3, control >> 4 & 3,
                       control >> 6 & 3);
  }
  switch (control) {
    case 0x130: return "wave_shl:1";
    case 0x134: return "wave_rol:1";
    case 0x138: return "wave_shr:1";
    case 0x13c: return "wave_ror:1";
    case 0x140: return "row_mirror";
    case 0x141: return "row_half_mirror";
    case 0x142: return "row_bcast:15";
    case 0x143: return "row_bcast:31";
    default: break;
  }
  constexpr std::array<std::string_view, 7> names{"row_shl", "row_shr",      "row_ror",  "?",
                                                  "?",       "row_newbcast", "row_xmask"};
  const std::uint32_t kind = field(control, 4, 4);
  const std::string_view name = gfx10 && kind == 5 ? "row_share" : names[kind % names.size()];
  return fmt::format("{}:{}", name, control & 15);
}

// Before gfx11 LLVM reads bound_ctrl:0 as the bit that is set.
void dpp_words(const Instruction& in, Line& line, Generation generation) {
  const std::uint32_t word = in.modifiers.extra_dword;
  line.word(dpp_control(field(word, 8, 9), generation >= Generation::gfx10));
  line.word(fmt::format("row_mask:{:#x} bank_mask:{:#x}", field(word, 28, 4), field(word, 24, 4)));
  line.word_if(field(word, 19, 1) != 0,
               generation == Generation::gfx1100 ? "bound_ctrl:1" : "bound_ctrl:0");
  line.word_if(field(word, 18, 1) != 0, "fi:1");
}

// "name:[1,0,1]" for `count` operands.
std::string list(std::string_view name, std::uint32_t bits, unsigned count) {
  std::string text = fmt::format("{}:[", name);
  for (unsigned i = 0; i < count; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ",", bits >> i & 1U);
  }
  return text + "]";
}

unsigned source_count(const Instruction& in) {
  unsigned count = 0;
  while (count < 3 && in.src[count].kind != OperandKind::none) {
    ++count;
  }
  return count;
}

void packed_words(const Instruction& in, Line& line, bool mixed) {
  const Modifiers& m = in.modifiers;
  const unsigned count = source_count(in);
  const unsigned all = (1U << count) - 1U;
  const unsigned high = m.op_sel_hi & all;
  line.word_if((m.op_sel & all) != 0, list("op_sel", m.op_sel, count));
  line.word_if(high != (mixed ? 0U : all), list("op_sel_hi", high, count));
  if (!mixed) {
    line.word_if(m.neg != 0, list("neg_lo", m.neg, count));
    line.word_if(m.abs != 0, list("neg_hi", m.abs, count));
  }
}

void matrix_words(const Instruction& in, Line& line, bool signs) {
  const std::uint32_t word = in.modifiers.extra_dword;
  const std::uint32_t broadcast = field(word, 0, 4);
  const std::uint32_t which = field(word, 4, 4);
  const std::uint32_t pattern = field(word, 8, 4);
  line.word_if(broadcast != 0, fmt::format("cbsz:{}", broadcast));
  line.word_if(which != 0, fmt::format("abid:{}", which));
  line.word_if(pattern != 0, signs ? list("neg", pattern, 3) : fmt::format("blgp:{}", pattern));
}

// gfx1100: the operands that name the half that they are, as "v0.h" does; bit i source i, bit 3 the
// result. None where the older spelling, with whole registers, is as good.
unsigned named_halves(const Instruction& in, const TableEntry* entry, Generation generation) {
  if (generation != Generation::gfx1100) return 0;
  const bool only_halves = in.opcode == Opcode::v_mov_b16 || in.opcode == Opcode::v_swap_b16;
  const bool listed = in.encoding == Encoding::vop3a && entry != nullptr &&
                      (entry->modifiers & kModifierHalves) != 0;
  if (in.encoding == Encoding::vop3p || listed || (in.modifiers.op_sel == 0 && !only_halves)) {
    return 0;
  }
  unsigned named = halves_of(in.opcode);
  const auto leave = [&named](const Operand& operand, unsigned bit) {
    if (operand.kind != OperandKind::vgpr) named &= ~(1U << bit);
  };
  for (unsigned i = 0; i < 3; ++i) leave(in.src[i], i);
  leave(in.dst[0], 3);
  return named;
}

// VOP3: the result's half stands behind the sources'.
void halves(const Instruction& in, Line& line, bool byte_of_result) {
  const unsigned op_sel = in.encoding == Encoding::vop3a ? in.modifiers.op_sel : 0;
  const unsigned count = byte_of_result ? 3 : source_count(in);
  line.word_if(op_sel != 0,
               list("op_sel", (op_sel & ((1U << count) - 1U)) | op_sel >> 3 << count, count + 1));
}

}  // namespace

// "v_dual_add_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4"
std::string dual_text(const Instruction& in) {
  std::string text;
  for (const Instruction& half : dual_halves(in)) {
    Line line(fmt::format("v_dual_{}", spelling_of_gfx1100(half.opcode).substr(2)));
    line.operand(half.dst[0]);
    const bool select = half.opcode == Opcode::v_cndmask_b32;
    for (std::size_t i = 0; i < (select ? 2U : 3U); ++i) line.present(half.src[i]);
    text += text.empty() ? "" : " :: ";
    text += std::move(line).take();
  }
  return text;
}

std::string vector_text(const Instruction& in, Generation generation) {
  const Table* table = table_of(generation);
  const TableEntry* entry = table == nullptr ? nullptr : table->find_opcode(in.encoding, in.opcode);
  Line line(spelling(in.opcode, generation), vop_suffix(in, generation));
  const Modifiers& m = in.modifiers;
  const unsigned named = named_halves(in, entry, generation);
  const auto half = [&](unsigned bit) -> std::string_view {
    return (named >> bit & 1U) == 0 ? "" : (m.op_sel >> bit & 1U) != 0 ? ".h" : ".l";
  };
  if (in.dst[0].kind != OperandKind::none) line.operand(operand_text(in.dst[0]).append(half(3)));
  line.present(in.dst[1]);
  const bool is_packed = in.encoding == Encoding::vop3p;
  const bool is_mixed = mnemonic(in.opcode).find("_mix") != std::string_view::npos;
  const bool signs = !is_packed || is_mixed;
  const std::uint32_t extended =
      m.sdwa ? field(m.extra_dword, 19, 1) | field(m.extra_dword, 27, 1) << 1 : 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (in.src[i].kind == OperandKind::none) {
      continue;
    }
    const bool abs = signs && ((m.abs >> i) & 1) != 0;
    const bool neg = signs && ((m.neg >> i) & 1) != 0;
    const std::string text = with_modifiers(in.src[i], half(static_cast<unsigned>(i)), abs, neg);
    line.operand(((extended >> i) & 1) != 0 ? fmt::format("sext({})", text) : text);
  }
  const bool is_accumulator = mnemonic(in.opcode).starts_with("v_accvgpr_");
  if (entry != nullptr && (entry->form == Form::matrix || entry->form == Form::sparse_matrix)) {
    matrix_words(in, line, entry->modifiers == 2);
  } else if (is_packed && !is_accumulator) {
    packed_words(in, line, is_mixed);
  } else if (!is_packed) {
    halves(in, line, entry != nullptr && entry->form == Form::byte_result);
  }
  line.word_if(m.clamp, "clamp");
  constexpr std::array<std::string_view, 4> scales{"", "mul:2", "mul:4", "div:2"};
  line.word_if(m.omod != 0, scales[m.omod & 3U]);
  if (m.sdwa) {
    sdwa_words(in, line, entry == nullptr || entry->form != Form::part_source);
  } else if (m.dpp) {
    dpp_words(in, line, generation);
  }
  return std::move(line).take();
}

}  // namespace ww::binpatch::isa
