// What gfx1030 lays out otherwise than gfx9. RDNA 2 ISA, chapter "Microcode formats".
#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t null_register = 0x7d;
constexpr std::uint32_t no_address = 0x7f;  // scratch without a register

}  // namespace

void Decoder::memory_gfx1030() {
  switch (out_.encoding) {
    case Encoding::smem: smem_gfx1030(); break;
    case Encoding::ds: ds(); break;
    case Encoding::mubuf: buffer_gfx1030(); break;
    case Encoding::flat: flat_gfx1030(); break;
    default: unsupported("the encoding is not decoded for this generation"); break;
  }
}

void Decoder::smem_gfx1030() {
  if (!enter(bits(word_, 18, 8), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  if (entry.form == Form::plain) {  // the clocks and the caches: no address
    reserved(bits(word_, 0, 6) | bits(word_, 13, 5) | second_, "an address where there is none");
    if (entry.result == 0) {
      return reserved(bits(word_, 6, 7), "a result where the instruction has none");
    }
    return set(out_.dst[0], scalar_register(generation_, bits(word_, 6, 7), entry.result),
               "reserved scalar result");
  }
  m.dlc = bit(word_, 14);
  m.glc = bit(word_, 16);
  reserved(bits(word_, 13, 1) | bits(word_, 15, 1) | bits(word_, 17, 1), "reserved bits");
  smem_operands(null_register);
}

void Decoder::smem_operands(std::uint32_t absent) {
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  set(out_.dst[0], scalar_register(generation_, bits(word_, 6, 7), entry.result),
      "reserved scalar register");
  set(out_.src[0], scalar_register(generation_, 2 * bits(word_, 0, 6), entry.source[0]),
      "reserved base register");
  reserved(bits(second_, 21, 4), "reserved bits");
  const std::uint32_t scalar = bits(second_, 25, 7);
  m.offset = sign_extended(bits(second_, 0, 21), 21);
  m.scalar_offset_is_immediate = scalar == absent || m.offset != 0;
  if (scalar != absent) {
    set(out_.src[1], scalar_register(generation_, scalar, 1), "reserved offset register");
  }
}

void Decoder::buffer_gfx1030() {
  if (!enter(bits(word_, 18, 7) | bits(word_, 25, 1) << 7, 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  if (entry.form == Form::buffer_control) {
    return reserved(bits(word_, 0, 18) | second_, "operands where the instruction has none");
  }
  Modifiers& m = out_.modifiers;
  m.offset = bits(word_, 0, 12);
  m.offen = bit(word_, 12);
  m.idxen = bit(word_, 13);
  m.glc = bit(word_, 14);
  m.dlc = bit(word_, 15);
  m.lds = bit(word_, 16);
  m.slc = bit(second_, 22);
  m.tfe = bit(second_, 23);
  reserved(bits(word_, 17, 1) | bits(second_, 21, 1), "reserved bits");
  buffer_data();
}

void Decoder::flat_gfx1030() {
  const std::uint32_t segment = bits(word_, 14, 2);  // flat, scratch, global
  if (segment == 3) {
    return unsupported("reserved segment");
  }
  if (!enter(bits(word_, 18, 7) + segment * flat_segment, 2)) {
    return;
  }
  Modifiers& m = out_.modifiers;
  m.dlc = bit(word_, 12);
  m.lds = bit(word_, 13);
  m.glc = bit(word_, 16);
  m.slc = bit(word_, 17);
  reserved(bits(word_, 25, 1) | bits(second_, 23, 1), "reserved bits");
  if (m.lds) {
    unsupported("a load to the local data share");
  }
  m.offset = segment == 0 ? bits(word_, 0, 12) : sign_extended(bits(word_, 0, 12), 12);
  const std::uint32_t scalar = bits(second_, 16, 7);
  const std::uint32_t vector = bits(second_, 0, 8);
  const bool scratch = segment == 1;
  const bool has_scalar = scalar != null_register && scalar != no_address;
  if (segment == 0) {
    reserved(bits(word_, 11, 1), "a negative offset of a flat access");
  }
  if ((segment == 0 && has_scalar) || (!scratch && scalar == no_address)) {
    return unsupported("a scalar address that the instruction does not take");
  }
  if (has_scalar) {
    set(out_.src[2], scalar_register(generation_, scalar, scratch ? 1 : 2),
        "reserved scalar address");
  }
  if (scratch && scalar != null_register) {
    reserved(vector, "an address where the instruction has none");
  } else {
    set(out_.src[0], vector_register(generation_, vector, scratch || has_scalar ? 1 : 2),
        "reserved vector address");
  }
  flat_data();
}

}  // namespace ww::binpatch::isa
