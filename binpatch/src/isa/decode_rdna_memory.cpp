// Memory instructions and images of gfx1030 and gfx1100. RDNA 2 and RDNA3 ISA, chapter "Microcode
// formats".
#include <bit>

#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t kNoAddress = 0x7f;  // gfx1030's scratch without a register

// Address registers of an image without a level of detail, by the instruction's DIM.
constexpr unsigned kImageCoordinates[] = {1, 2, 3, 3, 2, 3, 3, 4};

// Returns the number that an operand has where there is no register.
std::uint32_t absent_register(Generation generation) {
  return generation == Generation::gfx1030 ? 0x7d : 0x7c;
}

}  // namespace

void Decoder::memory_rdna() {
  switch (out_.encoding) {
    case Encoding::smem: smem_rdna(); break;
    case Encoding::ds: ds(); break;
    case Encoding::mubuf: buffer_rdna(); break;
    case Encoding::mimg: image_rdna(); break;
    case Encoding::flat:
      generation_ == Generation::gfx1030 ? flat_gfx1030() : flat_gfx1100();
      break;
    default: unsupported("the encoding is not decoded for this generation"); break;
  }
}

void Decoder::smem_rdna() {
  if (!enter(bits(word_, 18, 8), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  if (entry.form == Form::plain) {
    return smem_without_address();
  }
  const bool gfx10 = generation_ == Generation::gfx1030;
  const unsigned dlc = gfx10 ? 14 : 13;
  const unsigned glc = gfx10 ? 16 : 14;
  m.dlc = bit(word_, dlc);
  m.glc = bit(word_, glc);
  reserved(bits(word_, 13, 5) & ~(1U << (dlc - 13)) & ~(1U << (glc - 13)), "reserved bits");
  set(out_.dst[0], scalar_register(generation_, bits(word_, 6, 7), entry.result),
      "reserved scalar register");
  set(out_.src[0], scalar_register(generation_, 2 * bits(word_, 0, 6), entry.source[0]),
      "reserved base register");
  reserved(bits(second_, 21, 4), "reserved bits");
  const std::uint32_t scalar = bits(second_, 25, 7);
  const bool has_register = scalar != absent_register(generation_);
  m.offset = sign_extended(bits(second_, 0, 21), 21);
  m.scalar_offset_is_immediate = !has_register || m.offset != 0;
  if (has_register) {
    set(out_.src[1], scalar_register(generation_, scalar, 1), "reserved offset register");
  }
}

void Decoder::buffer_rdna() {
  if (!enter(bits(word_, 18, 8), 2)) {
    return;
  }
  if (entry_->form == Form::buffer_control) {
    return reserved(bits(word_, 0, 18) | second_, "operands where the instruction has none");
  }
  Modifiers& m = out_.modifiers;
  m.offset = bits(word_, 0, 12);
  m.glc = bit(word_, 14);
  if (generation_ == Generation::gfx1030) {
    m.offen = bit(word_, 12);
    m.idxen = bit(word_, 13);
    m.dlc = bit(word_, 15);
    m.lds = bit(word_, 16);
    m.slc = bit(second_, 22);
    m.tfe = bit(second_, 23);
    reserved(bits(word_, 17, 1) | bits(second_, 21, 1), "reserved bits");
  } else {
    m.slc = bit(word_, 12);
    m.dlc = bit(word_, 13);
    m.tfe = bit(second_, 21);
    m.offen = bit(second_, 22);
    m.idxen = bit(second_, 23);
    reserved(bits(word_, 15, 3), "reserved bits");
  }
  buffer_data();
}

void Decoder::flat_gfx1030() {
  const std::uint32_t segment = bits(word_, 14, 2);  // flat, scratch, global
  if (!enter_flat(segment)) {
    return;
  }
  Modifiers& m = out_.modifiers;
  m.dlc = bit(word_, 12);
  m.lds = bit(word_, 13);
  m.glc = bit(word_, 16);
  m.slc = bit(word_, 17);
  reserved(bits(second_, 23, 1), "reserved bits");
  if (m.lds) {
    unsupported("a load to the local data share");
  }
  const std::uint32_t scalar = bits(second_, 16, 7);
  const bool absent = scalar == absent_register(generation_);
  const bool scratch = segment == 1;
  if (!scratch && scalar == kNoAddress) {
    return unsupported("a scalar address that the instruction does not take");
  }
  flat_addresses(segment, 12, !absent && scalar != kNoAddress, !scratch || absent);
}

void Decoder::flat_gfx1100() {
  const std::uint32_t segment = bits(word_, 16, 2);  // flat, scratch, global
  if (!enter_flat(segment)) {
    return;
  }
  Modifiers& m = out_.modifiers;
  m.dlc = bit(word_, 13);
  m.glc = bit(word_, 14);
  m.slc = bit(word_, 15);
  const bool scratch = segment == 1;
  // In a scratch instruction a bit says whether there is a vector address.
  const bool chosen = bit(second_, 23);
  reserved(std::uint32_t{!scratch && chosen}, "reserved bits");
  flat_addresses(segment, 13, bits(second_, 16, 7) != absent_register(generation_),
                 !scratch || chosen);
}

bool Decoder::enter_flat(std::uint32_t segment) {
  if (segment == 3) {
    unsupported("reserved segment");
    return false;
  }
  if (!enter(bits(word_, 18, 7) + segment * kFlatSegment, 2)) {
    return false;
  }
  reserved(bits(word_, 25, 1), "reserved bits");
  return true;
}

// Offset, addresses and data. The lowest `offset_bits` are the offset, which flat takes without a
// sign.
void Decoder::flat_addresses(std::uint32_t segment, unsigned offset_bits, bool has_scalar,
                             bool has_vector) {
  Modifiers& m = out_.modifiers;
  const bool scratch = segment == 1;
  m.offset = bits(word_, 0, offset_bits);
  if (segment == 0) {
    reserved(bits(word_, offset_bits - 1, 1), "a negative offset of a flat access");
    reserved(std::uint32_t{has_scalar}, "a scalar address of a flat access");
  } else {
    m.offset = sign_extended(m.offset, offset_bits);
  }
  if (has_scalar) {
    set(out_.src[2], scalar_register(generation_, bits(second_, 16, 7), scratch ? 1 : 2),
        "reserved scalar address");
  }
  const std::uint32_t vector = bits(second_, 0, 8);
  if (has_vector) {
    set(out_.src[0], vector_register(generation_, vector, scratch || has_scalar ? 1 : 2),
        "reserved vector address");
  } else {
    reserved(vector, "an address where the instruction has none");
  }
  flat_data();
}

// The addresses lie in consecutive registers, or each where a byte of the third word says (NSA).
void Decoder::image_rdna() {
  const bool gfx10 = generation_ == Generation::gfx1030;
  const std::uint32_t number =
      gfx10 ? bits(word_, 18, 7) | bits(word_, 0, 1) << 7 : bits(word_, 18, 8);
  if (!enter(number, 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  m.more_dwords = {word_, second_, 0};
  m.dmask = static_cast<std::uint8_t>(bits(word_, 8, 4));
  const std::uint32_t separate = gfx10 ? bits(word_, 1, 2) : bits(word_, 0, 1);
  std::uint32_t sampler = 0;
  if (gfx10) {
    m.dim = static_cast<std::uint8_t>(bits(word_, 3, 3));
    m.dlc = bit(word_, 7);
    m.unorm = bit(word_, 12);
    m.glc = bit(word_, 13);
    m.slc = bit(word_, 25);
    m.a16 = bit(second_, 30);
    m.d16 = bit(second_, 31);
    sampler = bits(second_, 21, 5);
    // Descriptors of four words, residency, warnings of the level of detail.
    reserved(bits(word_, 6, 1) | bits(word_, 14, 4) | bits(second_, 26, 4), "a modifier of images");
  } else {
    m.dim = static_cast<std::uint8_t>(bits(word_, 2, 3));
    m.unorm = bit(word_, 7);
    m.slc = bit(word_, 12);
    m.dlc = bit(word_, 13);
    m.glc = bit(word_, 14);
    m.a16 = bit(word_, 16);
    m.d16 = bit(word_, 17);
    sampler = bits(second_, 26, 5);
    reserved(bits(word_, 1, 1) | bits(word_, 5, 2) | bits(word_, 15, 1) | bits(second_, 21, 5) |
                 bits(second_, 31, 1),
             "a modifier of images");
  }
  if (m.dmask == 0) {
    return unsupported("an image instruction without data");
  }
  const bool has_level = entry.source[0] == 4;
  const unsigned components = kImageCoordinates[m.dim] + unsigned{has_level};
  const unsigned addresses = m.a16 ? (components + 1) / 2 : components;
  if (separate > 1 || (separate == 1 && addresses == 1)) {
    return unsupported("more words of addresses than there are");
  }
  set(out_.src[0], vector_register(generation_, bits(second_, 0, 8), separate == 0 ? addresses : 1),
      "reserved vector address");
  if (separate == 1) {
    if (!room_for(12)) return;
    out_.size_bytes = 12;
    m.separate_addresses = static_cast<std::uint8_t>(addresses - 1);
    m.extra_dword = load_word(code_, 8);
    if (addresses < 5) reserved(m.extra_dword >> 8 * (addresses - 1), "an address too many");
  }
  set(out_.src[1], scalar_register(generation_, 4 * bits(second_, 16, 5), 8),
      "reserved image descriptor");
  if (entry.source[1] == 0) {
    reserved(sampler, "a sampler where the instruction has none");
  } else {
    set(out_.src[2], scalar_register(generation_, 4 * sampler, 4), "reserved sampler descriptor");
  }
  image_data();
}

}  // namespace ww::binpatch::isa
