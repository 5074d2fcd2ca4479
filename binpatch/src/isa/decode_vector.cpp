#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

// VCC as a mask or a carry that the instruction takes or gives without naming it.
void Decoder::carry_masks() {
  switch (entry_->form) {
    case Form::select: vcc_mask(out_.src[2]); break;
    case Form::carry_out: vcc_mask(out_.dst[1]); break;
    case Form::carry_in_out:
      vcc_mask(out_.dst[1]);
      vcc_mask(out_.src[2]);
      break;
    default: break;
  }
}

bool Decoder::writes_exec_alone() const {
  return generation_ >= Generation::gfx10 && mnemonic(entry_->opcode).starts_with("v_cmpx");
}

void Decoder::vop_short() {
  const std::uint32_t number = out_.encoding == Encoding::vop2   ? bits(word_, 25, 6)
                               : out_.encoding == Encoding::vop1 ? bits(word_, 9, 8)
                                                                 : bits(word_, 17, 8);
  if (!enter(number, 1)) {
    return;
  }
  vop_short_operands();
  take_literal();
}

void Decoder::vop_short_operands() {
  const std::uint32_t destination = bits(word_, 17, 8);
  const std::uint32_t source0 = bits(word_, 0, 9);
  const std::uint32_t source1 = bits(word_, 9, 8);
  const TableEntry& entry = *entry_;

  if (out_.encoding == Encoding::vopc) {
    if (!writes_exec_alone()) vcc_mask(out_.dst[0]);
  } else if (entry.form == Form::read_lane || entry.form == Form::scalar_result) {
    set(out_.dst[0], scalar_register(generation_, destination, 1), "reserved scalar result");
  } else if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], vector_register(generation_, destination, entry.result),
        "reserved vector result");
  }

  if (entry.source[0] == 0) {
    reserved(source0, "a source where the instruction has none");
  } else {
    source(0, source0, entry.source[0]);
  }
  if (out_.encoding == Encoding::vop1) {
    const bool from_vector = out_.src[0].kind == OperandKind::vgpr;
    if ((entry.form == Form::scalar_result || entry.form == Form::swap ||
         entry.form == Form::accumulator_move || entry.form == Form::vector_source) &&
        !from_vector) {
      unsupported("the source is a vector register only");
    }
    if (entry.form == Form::accumulator_move) {
      out_.src[0].kind = out_.dst[0].kind = OperandKind::agpr;
    }
    return;
  }

  if (entry.form == Form::read_lane || entry.form == Form::write_lane) {
    source(1, source1, 1);
    if (source1 == kEncodedLiteral || source0 == kEncodedLiteral ||
        (entry.form == Form::read_lane) != (out_.src[0].kind == OperandKind::vgpr)) {
      unsupported("reserved lane operand");
    }
    return;
  }
  set(out_.src[1], vector_register(generation_, source1, entry.source[1]),
      "reserved vector source");
  carry_masks();
  switch (entry.form) {
    case Form::add_literal: source(2, kEncodedLiteral, 1); break;
    case Form::multiply_literal:
      out_.src[2] = out_.src[1];
      source(1, kEncodedLiteral, 1);
      break;
    default: break;
  }
}

void Decoder::vop3() {
  if (!enter(bits(word_, 17, 9), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  const bool has_carry = entry.form == Form::carry_out || entry.form == Form::carry_in_out;
  const bool is_compare = entry.number < 0x100;  // VOPC's numbers come first
  if (has_carry) {
    out_.encoding = Encoding::vop3b;
    set(out_.dst[1], scalar_register(generation_, bits(word_, 8, 7), 2), "reserved carry result");
    reserved(bits(word_, 15, 2), "reserved bits");
  } else {
    out_.modifiers.abs = static_cast<std::uint8_t>(bits(word_, 8, 3));
    out_.modifiers.clamp = bit(word_, 11);
    reserved(bits(word_, 12, 5), "reserved bits");
  }
  out_.modifiers.neg = static_cast<std::uint8_t>(bits(second_, 29, 3));
  out_.modifiers.omod = static_cast<std::uint8_t>(bits(second_, 27, 2));

  const std::uint32_t destination = bits(word_, 0, 8);
  if (is_compare) {
    set(out_.dst[0], scalar_register(generation_, destination, 2), "reserved compare result");
  } else if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], vector_register(generation_, destination, entry.result),
        "reserved vector result");
  }
  vop3_sources();
}

void Decoder::vop3_sources() {
  const TableEntry& entry = *entry_;
  auto counts = entry.source;
  const bool third_is_mask = entry.form == Form::select || entry.form == Form::carry_in_out;
  if (third_is_mask) {
    counts[2] = mask_words_;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t encoded = bits(second_, static_cast<unsigned>(9 * i), 9);
    if (i == 0 && encoded == kEncodedDpp && generation_ == Generation::gfx1100) {
      vop3_dpp();
    } else if (counts[i] == 0) {
      reserved(encoded, "a source where the instruction has none");
    } else if (encoded == kEncodedLiteral &&
               (generation_ < Generation::gfx10 || out_.modifiers.dpp)) {
      unsupported("a literal in VOP3");
    } else if (third_is_mask && i == 2) {
      set(out_.src[2],
          encoded < 128 ? scalar_register(generation_, encoded, mask_words_) : std::nullopt,
          "reserved mask register");
    } else {
      source(i, encoded, counts[i]);
    }
  }
  const std::uint32_t allowed = entry.modifiers;
  const Modifiers& m = out_.modifiers;
  if (((m.abs | m.neg) & ~allowed & 7U) != 0 || (m.clamp && (allowed & kModifierClamp) == 0) ||
      (m.omod != 0 && (allowed & kModifierScale) == 0)) {
    unsupported("a modifier that the instruction does not take");
  }
}

}  // namespace ww::binpatch::isa
