// Instructions of encodings without a table: their size, their words, and the sources that might
// name SCC, which is what the patcher must know of them.
#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

// v_madmk, v_madak, v_fmamk and v_fmaak, of f32 and f16, have a literal always.
bool has_fixed_literal(Generation generation, std::uint32_t vop2_number) {
  switch (vop2_number) {
    case 0x17:
    case 0x18:
    case 0x24:
    case 0x25: return generation < Generation::gfx10;
    case 0x20:
    case 0x21: return is_gfx10(generation);
    case 0x2c:
    case 0x2d:
    case 0x37:
    case 0x38: return generation >= Generation::gfx10;
    default: return false;
  }
}

bool is_short_vector(Encoding encoding) {
  return encoding == Encoding::vop1 || encoding == Encoding::vop2 || encoding == Encoding::vopc;
}

}  // namespace

// gfx6 to gfx9. Vega ISA, chapter "Microcode formats".
void Decoder::unlisted() {
  const auto& encoding = out_.encoding;
  out_.opcode = Opcode::unlisted;
  out_.size_bytes = 8;
  out_.modifiers.offset = word_;
  if (encoding == Encoding::vintrp) {
    out_.size_bytes = 4;
    return;
  }
  if (is_short_vector(encoding)) {
    const std::uint32_t source0 = bits(word_, 0, 9);
    out_.modifiers.sdwa = source0 == kEncodedSdwa;
    out_.modifiers.dpp = source0 == kEncodedDpp;
    const bool extended = out_.modifiers.sdwa || out_.modifiers.dpp;
    if (!extended) {
      source(0, source0, 1);
    }
    const bool literal_form =
        encoding == Encoding::vop2 && has_fixed_literal(generation_, bits(word_, 25, 6));
    if (!extended && source0 != kEncodedLiteral && !literal_form) {
      out_.size_bytes = 4;
      return;
    }
  }
  if (!second_word()) {
    return;
  }
  out_.modifiers.extra_dword = second_;
  if (encoding == Encoding::vop3a || encoding == Encoding::vop3p) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t encoded = bits(second_, static_cast<unsigned>(9 * i), 9);
      source(i, encoded, 1);
      if (encoded == kEncodedLiteral) {
        unsupported("a literal in VOP3");
      }
    }
  } else if (out_.src[0].kind == OperandKind::literal) {
    out_.src[0].value = second_;
  }
}

unsigned Decoder::trailing_words() {
  const bool gfx10 = is_gfx10(generation_);
  bool literal = false;
  bool lanes = false;
  const auto take = [&](std::size_t index, std::uint32_t encoded) {
    const bool dpp =
        encoded == kEncodedDpp || encoded == kEncodedDpp8 || encoded == kEncodedDpp8 + 1;
    const bool sdwa = encoded == kEncodedSdwa && gfx10 && is_short_vector(out_.encoding);
    // gfx11 has the data-parallel forms of VOP3 too.
    if (index == 0 && (sdwa || (dpp && (is_short_vector(out_.encoding) ||
                                        (!gfx10 && out_.encoding != Encoding::vopd))))) {
      lanes = true;
      out_.modifiers.sdwa = sdwa;
      out_.modifiers.dpp = dpp;
      return;
    }
    source(index, encoded, 1);
    literal = literal || encoded == kEncodedLiteral;
  };
  switch (out_.encoding) {
    case Encoding::vop2: literal = has_fixed_literal(generation_, bits(word_, 25, 6)); break;
    case Encoding::vopd:
      // Numbers 1 and 2 of both halves are v_dual_fmaak_f32 and v_dual_fmamk_f32.
      for (const std::uint32_t number : {bits(word_, 22, 4), bits(word_, 17, 5)}) {
        literal = literal || number == 1 || number == 2;
      }
      take(1, bits(second_, 0, 9));
      break;
    default: break;
  }
  if (out_.encoding == Encoding::vop3a || out_.encoding == Encoding::vop3p) {
    for (std::size_t i = 0; i < 3; ++i) {
      take(i, bits(second_, static_cast<unsigned>(9 * i), 9));
    }
  } else {
    take(0, bits(word_, 0, 9));
  }
  if (literal && lanes) {
    unsupported("a literal beside a data-parallel form");
  }
  return literal || lanes ? 1 : 0;
}

// gfx10 to gfx12. RDNA 2, RDNA3 and RDNA4 ISA, chapter "Microcode formats": VOP3 may have a
// literal.
void Decoder::unlisted_rdna() {
  const bool gfx10 = is_gfx10(generation_);
  const bool gfx12 = generation_ == Generation::gfx12;
  const bool is_short = is_short_vector(out_.encoding);
  out_.opcode = Opcode::unlisted;
  out_.modifiers.offset = word_;
  // LDSDIR, at 0xce, is short as gfx10's interpolation is; VINTERP is not.
  const bool one_word =
      is_short || (out_.encoding == Encoding::vintrp && (gfx10 || word_ >> 24 == 0xce));
  unsigned count = one_word ? 1 : 2;
  if (!one_word && !second_word()) {
    return;
  }
  switch (out_.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::vop3a:
    case Encoding::vop3p:
    case Encoding::vopd: count += trailing_words(); break;
    // Addresses of images that are not in consecutive registers; gfx12's have room for them always.
    case Encoding::mimg: count += gfx12 ? 1 : gfx10 ? bits(word_, 1, 2) : bits(word_, 0, 1); break;
    case Encoding::flat:
    case Encoding::mubuf: count += gfx12 ? 1 : 0; break;
    default: break;
  }
  if (error_ || !room_for(4 * std::size_t{count})) {
    return;
  }
  out_.size_bytes = static_cast<std::uint8_t>(4 * count);
  const std::uint32_t last = load_word(code_, 4 * (std::size_t{count} - 1));
  for (Operand& operand : out_.src) {
    if (operand.kind == OperandKind::literal) {
      operand.value = last;
    }
  }
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint32_t word = load_word(code_, 4 * i);
    (i == 1 ? out_.modifiers.extra_dword : out_.modifiers.more_dwords[i - 2]) = word;
  }
}

// Scalar instructions that the tables do not name. Scalar float and conversions came with gfx11.5,
// and its hint s_singleuse_vdst; gfx12 has more of them, 64-bit sums, barriers in parts and a wait
// for each counter. RDNA3.5 and RDNA4 ISA, chapters "Scalar ALU operations" and "SOPP"; numbers as
// LLVM assembles them for gfx1150 and gfx1200. gfx11.0 has none of them, and code for it names
// none. False: not one of these.
bool Decoder::unlisted_scalar(std::uint32_t number) {
  constexpr std::uint32_t s_fmaak_f32 = 0x45;
  constexpr std::uint32_t s_fmamk_f32 = 0x46;
  constexpr std::uint32_t s_singleuse_vdst = 0x13;
  const bool gfx12 = generation_ == Generation::gfx12;
  if (generation_ != Generation::gfx11 && !gfx12) return false;
  const auto within = [number](std::uint32_t first, std::uint32_t last) {
    return number >= first && number <= last;
  };
  bool literal_form = false;
  switch (out_.encoding) {
    case Encoding::sop2:
      if (!within(0x40, gfx12 ? 0x55 : 0x4e)) return false;
      literal_form = number == s_fmaak_f32 || number == s_fmamk_f32;
      source(0, bits(word_, 0, 8), 1);
      source(1, bits(word_, 8, 8), 1);
      break;
    case Encoding::sop1:
      // gfx12: barriers, s_wakeup_barrier and s_sleep_var.
      if (!within(0x60, 0x6e) && !(gfx12 && (within(0x4e, 0x52) || within(0x57, 0x58)))) {
        return false;
      }
      source(0, bits(word_, 0, 8), 1);
      break;
    case Encoding::sopc:
      if (!within(0x41, 0x4e) && !within(0x51, 0x5e)) return false;
      source(0, bits(word_, 0, 8), 1);
      source(1, bits(word_, 8, 8), 1);
      break;
    case Encoding::sopp:
      // gfx12: s_barrier_wait, s_barrier_leave, and waits for a counter or two.
      if (number != s_singleuse_vdst &&
          !(gfx12 && (within(0x14, 0x15) || within(0x40, 0x44) || within(0x46, 0x49)))) {
        return false;
      }
      break;
    default: return false;
  }
  out_.opcode = Opcode::unlisted;
  out_.modifiers.offset = word_;
  if (literal_form && !error_ && second_word()) out_.size_bytes = 8;
  take_literal();
  if (out_.size_bytes == 8) out_.modifiers.extra_dword = load_word(code_, 4);
  return true;
}

}  // namespace ww::binpatch::isa
