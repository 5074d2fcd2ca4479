// Decodes gfx1100's vector instructions that gfx1030 lacks: two instructions in one, and halves of
// registers. RDNA3 ISA, chapter "Microcode formats".
#include "isa/decoder.hpp"
#include "isa/text.hpp"

namespace ww::binpatch::isa {

namespace {

// Halves of VOPD by their numbers. RDNA3 ISA, "VOPD"; from 16 on the second half's alone.
struct Half {
  Opcode opcode;
  Form form;
};
constexpr std::array kDualOpcodes{
    Half{Opcode::v_fmac_f32, Form::plain},
    Half{Opcode::v_fmaak_f32, Form::add_literal},
    Half{Opcode::v_fmamk_f32, Form::multiply_literal},
    Half{Opcode::v_mul_f32, Form::plain},
    Half{Opcode::v_add_f32, Form::plain},
    Half{Opcode::v_sub_f32, Form::plain},
    Half{Opcode::v_subrev_f32, Form::plain},
    Half{Opcode::v_mul_legacy_f32, Form::plain},
    Half{Opcode::v_mov_b32, Form::vector_source},
    Half{Opcode::v_cndmask_b32, Form::select},
    Half{Opcode::v_max_f32, Form::plain},
    Half{Opcode::v_min_f32, Form::plain},
    Half{Opcode::v_dot2c_f32_f16, Form::plain},
    Half{Opcode::invalid, Form::plain},
    Half{Opcode::invalid, Form::plain},
    Half{Opcode::invalid, Form::plain},
    Half{Opcode::v_add_u32, Form::plain},
    Half{Opcode::v_lshlrev_b32, Form::plain},
    Half{Opcode::v_and_b32, Form::plain},
};
constexpr std::uint32_t kFirstHalves = 13;

bool has_fixed_literal(const Half& half) {
  return half.form == Form::add_literal || half.form == Form::multiply_literal;
}

bool is_upper(const Operand& operand) {
  return operand.kind == OperandKind::vgpr && operand.index >= 128;
}

}  // namespace

unsigned halves_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::v_cvt_f32_f16:
    case Opcode::v_cvt_i32_i16:
    case Opcode::v_cvt_u32_u16: return 1;
    case Opcode::v_pack_b32_f16:
    case Opcode::v_cvt_pknorm_i16_f16:
    case Opcode::v_cvt_pknorm_u16_f16:
    case Opcode::v_mad_u32_u16:
    case Opcode::v_mad_i32_i16: return 3;
    case Opcode::v_cvt_f16_f32:
    case Opcode::v_sat_pk_u8_i16: return 8;  // of floats, and of two halves
    case Opcode::v_sad_u16: return 0;        // of two halves
    default: break;
  }
  const std::string_view name = mnemonic(opcode);
  const bool narrow = name.ends_with("_f16") || name.ends_with("_i16") || name.ends_with("_u16") ||
                      name.ends_with("_b16");
  const bool packed = name.starts_with("v_pk_") || name.starts_with("v_dot") ||
                      name.find("_mix") != std::string_view::npos;
  if (!narrow || packed) return 0;
  return name.starts_with("v_cmp") ? 3 : 15;
}

// The short forms name halves of the first 128 registers where an operand has 16 bits: the upper
// ones by numbers from 128 on.
void Decoder::take_upper_halves() {
  if (generation_ != Generation::gfx1100 || error_) return;
  const unsigned halves = halves_of(out_.opcode);
  const auto take = [&](Operand& operand, unsigned bit) {
    if ((halves >> bit & 1U) == 0 || !is_upper(operand)) return;
    operand.index = static_cast<std::uint16_t>(operand.index - 128U);
    out_.modifiers.op_sel = static_cast<std::uint8_t>(out_.modifiers.op_sel | 1U << bit);
  };
  for (unsigned i = 0; i < 3; ++i) take(out_.src[i], i);
  take(out_.dst[0], 3);
}

void Decoder::dual() {
  out_.size_bytes = 8;
  if (!second_word()) return;
  const std::uint32_t first = bits(word_, 22, 4);
  const std::uint32_t second = bits(word_, 17, 5);
  if (first >= kFirstHalves || second >= kDualOpcodes.size() ||
      kDualOpcodes[second].opcode == Opcode::invalid || mask_words_ != 1) {
    return unsupported("no such pair of instructions");
  }
  out_.opcode = Opcode::v_dual;
  out_.modifiers.immediate = static_cast<std::int32_t>(first | second << 8);
  const std::uint32_t result = bits(second_, 24, 8);
  const std::uint32_t other = bits(second_, 17, 7) << 1 | (~result & 1U);  // never both even
  set(out_.dst[0], vector_register(generation_, result, 1), "reserved vector result");
  set(out_.dst[1], vector_register(generation_, other, 1), "reserved vector result");
  const auto sources = [this](std::size_t at, const Half& half, std::uint32_t word) {
    const std::uint32_t vector = bits(word, 9, 8);
    source(at, bits(word, 0, 9), 1);
    if (half.opcode == Opcode::v_mov_b32) {
      return reserved(vector, "a source where the instruction has none");
    }
    set(out_.src[at + 1], vector_register(generation_, vector, 1), "reserved vector source");
  };
  sources(0, kDualOpcodes[first], word_);
  sources(2, kDualOpcodes[second], second_);
  take_literal(8);
  const bool fixed =
      has_fixed_literal(kDualOpcodes[first]) || has_fixed_literal(kDualOpcodes[second]);
  if (error_ || !fixed || !room_for(12)) return;
  out_.size_bytes = 12;
  out_.modifiers.extra_dword = load_word(code_, 8);
}

std::array<Instruction, 2> dual_halves(const Instruction& instruction) {
  std::array<Instruction, 2> both;
  const auto numbers = static_cast<std::uint32_t>(instruction.modifiers.immediate);
  for (std::size_t i = 0; i < 2; ++i) {
    const Half& half = kDualOpcodes[numbers >> (8 * i) & 31U];
    Instruction& out = both[i];
    out.opcode = half.opcode;
    out.encoding = half.opcode == Opcode::v_mov_b32 ? Encoding::vop1 : Encoding::vop2;
    out.size_bytes = instruction.size_bytes;
    out.dst[0] = instruction.dst[i];
    out.src[0] = instruction.src[2 * i];
    out.src[1] = instruction.src[2 * i + 1];
    const Operand literal{.kind = OperandKind::literal, .value = instruction.modifiers.extra_dword};
    switch (half.form) {
      case Form::select:
        out.src[2] = {
            .kind = OperandKind::special, .count = 1, .index = index_of(SpecialRegister::vcc_lo)};
        break;
      case Form::add_literal: out.src[2] = literal; break;
      case Form::multiply_literal:
        out.src[2] = out.src[1];
        out.src[1] = literal;
        break;
      default: break;
    }
  }
  return both;
}

std::string_view spelling_of_gfx1100(Opcode opcode) {
  switch (opcode) {
#define NAMED(opcode, name) \
  case Opcode::opcode:      \
    return #name;
#include "isa/tables/gfx1100_names.def"
#undef NAMED
    default: return mnemonic(opcode);
  }
}

}  // namespace ww::binpatch::isa
