#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

// SOP1 and SOP2 name it in the same place.
void Decoder::scalar_result() {
  const std::uint32_t destination = bits(word_, 16, 7);
  if (entry_->result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], scalar_register(generation_, destination, entry_->result),
        "reserved scalar result");
  }
}

void Decoder::sop2() {
  if (!enter(bits(word_, 23, 7), 1)) {
    return;
  }
  scalar_result();
  source(0, bits(word_, 0, 8), entry_->source[0]);
  source(1, bits(word_, 8, 8), entry_->source[1]);
  take_literal();
}

void Decoder::sopk() {
  if (!enter(bits(word_, 23, 5), 1)) {
    return;
  }
  out_.modifiers.immediate = static_cast<std::int16_t>(bits(word_, 0, 16));
  const std::uint32_t encoded = bits(word_, 16, 7);
  if (entry_->form == Form::sopk_literal) {
    reserved(encoded, "a register where the instruction has none");
    source(0, kEncodedLiteral, 1);
    take_literal();
    return;
  }
  if (entry_->result == 0) {
    return reserved(encoded, "a register where the instruction has none");
  }
  Operand& operand = entry_->form == Form::sopk_source ? out_.src[0] : out_.dst[0];
  set(operand, scalar_register(generation_, encoded, entry_->result), "reserved scalar register");
}

void Decoder::sop1() {
  if (!enter(bits(word_, 8, 8), 1)) {
    return;
  }
  scalar_result();
  if (entry_->form == Form::index_mode) {
    out_.modifiers.immediate = static_cast<std::int32_t>(bits(word_, 0, 8));
  } else if (entry_->source[0] == 0) {
    reserved(bits(word_, 0, 8), "a source where the instruction has none");
  } else {
    source(0, bits(word_, 0, 8), entry_->source[0]);
  }
  take_literal();
}

void Decoder::sopc() {
  if (!enter(bits(word_, 16, 7), 1)) {
    return;
  }
  source(0, bits(word_, 0, 8), entry_->source[0]);
  if (entry_->form == Form::index_mode) {
    out_.modifiers.immediate = static_cast<std::int32_t>(bits(word_, 8, 8));
  } else {
    source(1, bits(word_, 8, 8), entry_->source[1]);
  }
  take_literal();
}

void Decoder::sopp() {
  if (!enter(bits(word_, 16, 7), 1)) {
    return;
  }
  if (entry_->form == Form::sopp_plain) {
    reserved(bits(word_, 0, 16), "an immediate where the instruction has none");
  }
  out_.modifiers.immediate = static_cast<std::int16_t>(bits(word_, 0, 16));
}

void Decoder::smrd() {
  if (!enter(bits(word_, 22, 5), 1)) {
    return;
  }
  const std::uint32_t destination = bits(word_, 15, 7);
  const std::uint32_t base = bits(word_, 9, 6);
  const std::uint32_t offset = bits(word_, 0, 8);
  if (entry_->result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], scalar_register(generation_, destination, entry_->result),
        "reserved scalar result");
  }
  if (entry_->source[0] == 0) {
    reserved(bits(word_, 0, 15), "an address where the instruction has none");
    return;
  }
  set(out_.src[0], scalar_register(generation_, base * 2, entry_->source[0]),
      "reserved base register");
  out_.modifiers.scalar_offset_is_immediate = bit(word_, 8);
  if (out_.modifiers.scalar_offset_is_immediate) {
    out_.modifiers.offset = offset;
  } else if (offset == kEncodedLiteral && generation_ >= Generation::gfx7) {
    source(1, offset, 1);
    take_literal();
  } else {
    set(out_.src[1], scalar_register(generation_, offset, 1), "reserved offset register");
  }
}

}  // namespace ww::binpatch::isa
