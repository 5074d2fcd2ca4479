#include <algorithm>
#include <bit>

#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

void Decoder::ds() {
  if (!enter(bits(word_, 18, 8), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  out_.modifiers.offset = bits(word_, 0, 16);
  out_.modifiers.gds = bit(word_, 17);
  reserved(bits(word_, 16, 1), "reserved bits");
  if (entry.form == Form::ds_gds && !out_.modifiers.gds) {
    unsupported("the instruction exists for the global data share only");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t encoded = bits(second_, static_cast<unsigned>(8 * i), 8);
    if (entry.source[i] == 0) {
      reserved(encoded, "a source where the instruction has none");
    } else {
      set(out_.src[i], vector_register(generation_, encoded, entry.source[i]),
          "reserved vector source");
    }
  }
  const std::uint32_t destination = bits(second_, 24, 8);
  if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], vector_register(generation_, destination, entry.result),
        "reserved vector result");
  }
}

std::uint32_t Decoder::buffer_operands(unsigned address_registers) {
  if (address_registers == 0) {
    reserved(bits(second_, 0, 8), "an address where the instruction has none");
  } else {
    set(out_.src[0], vector_register(generation_, bits(second_, 0, 8), address_registers),
        "reserved vector address");
  }
  set(out_.src[1], scalar_register(generation_, 4 * bits(second_, 16, 5), 4),
      "reserved buffer descriptor");
  const std::uint32_t scalar_offset = bits(second_, 24, 8);
  source(2, scalar_offset, 1);
  return scalar_offset;
}

void Decoder::buffer() {
  const bool typed = out_.encoding == Encoding::mtbuf;
  if (!enter(typed ? bits(word_, 16, 3) : bits(word_, 18, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  if (entry.form == Form::buffer_control) {
    reserved(bits(word_, 0, 18), "operands where the instruction has none");
    reserved(second_, "operands where the instruction has none");
    return;
  }
  Modifiers& m = out_.modifiers;
  m.offset = bits(word_, 0, 12);
  m.offen = bit(word_, 12);
  m.idxen = bit(word_, 13);
  m.glc = bit(word_, 14);
  m.addr64 = bit(word_, 15);
  m.slc = bit(second_, 22);
  m.tfe = bit(second_, 23);
  reserved(bit(second_, 21), "reserved bits");
  if (typed) {
    m.immediate = static_cast<std::int32_t>(bits(word_, 19, 7));
  } else {
    m.lds = bit(word_, 16);
    reserved(bits(word_, 17, 1) | bits(word_, 25, 1), "reserved bits");
  }
  const bool is_load = entry.form == Form::load;
  if ((m.lds && !(is_load && entry.result == 1)) || (m.tfe && (!is_load || m.lds)) ||
      (m.addr64 && (m.offen || m.idxen))) {
    unsupported("a modifier that the instruction does not take");
  }

  const unsigned address = m.addr64 ? 2U : unsigned{m.offen} + unsigned{m.idxen};
  const std::uint32_t scalar_offset = buffer_operands(address);
  if (scalar_offset >= 251) {
    unsupported("reserved scalar offset");
  }

  const std::uint32_t data = bits(second_, 8, 8);
  if (m.lds) {
    reserved(data, "data registers of a load to the local data share");
    return;
  }
  const unsigned width = entry.result + unsigned{m.tfe};
  const auto registers = vector_register(generation_, data, width);
  if (is_load) {
    set(out_.dst[0], registers, "reserved vector result");
    return;
  }
  set(out_.src[3], registers, "reserved vector data");
  if (entry.form != Form::store && m.glc) {
    const unsigned result = entry.form == Form::atomic_compare ? width / 2 : width;
    set(out_.dst[0], vector_register(generation_, data, result), "reserved vector result");
  }
}

// gfx6 to gfx90a. Sea Islands, Vega and Instinct MI200 ISA, MIMG.
void Decoder::image() {
  if (!enter(bits(word_, 18, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  const bool gfx9 = is_gfx9(generation_);
  Modifiers& m = out_.modifiers;
  m.more_dwords = {word_, second_, 0};
  m.dmask = static_cast<std::uint8_t>(bits(word_, 8, 4));
  m.unorm = bit(word_, 12);
  m.glc = bit(word_, 13);
  m.da = bit(word_, 14);
  m.slc = bit(word_, 25);
  m.a16 = gfx9 && bit(word_, 15);
  m.d16 = gfx9 && bit(second_, 31);
  // Descriptors of four words, residency, warnings of the level of detail.
  reserved(bits(word_, 0, 8) | (gfx9 ? 0 : bits(word_, 15, 1)) | bits(word_, 17, 1),
           "a modifier of images");
  reserved(bits(second_, 26, 5) | (gfx9 ? 0 : bits(second_, 31, 1)), "reserved bits");
  if (has_even_tuples(generation_)) {
    accumulators(bit(word_, 16));
  } else {
    reserved(bits(word_, 16, 1), "a modifier of images");
  }
  if (m.dmask == 0) {
    return unsupported("an image instruction without data");
  }

  // A GPU that aligns tuples has a single address where the register is an odd one.
  const std::uint32_t address = bits(second_, 0, 8);
  const bool single = has_even_tuples(generation_) && address % 2 != 0;
  const unsigned words = m.a16 ? (entry.source[0] + 1U) / 2 : entry.source[0];
  const unsigned most = std::min(single ? 1U : words, 256U - address);
  set(out_.src[0], vector_register(generation_, address, most), "reserved vector address");
  set(out_.src[1], scalar_register(generation_, 4 * bits(second_, 16, 5), 8),
      "reserved image descriptor");
  if (entry.source[1] == 0) {
    reserved(bits(second_, 21, 5), "a sampler where the instruction has none");
  } else {
    set(out_.src[2], scalar_register(generation_, 4 * bits(second_, 21, 5), 4),
        "reserved sampler descriptor");
  }
  image_data();
}

// A register for each of the channels, or for two of them. Of gathers the mask names the one
// channel that four texels have.
void Decoder::image_data() {
  const bool gathers =
      entry_->opcode == Opcode::image_gather4 || entry_->opcode == Opcode::image_gather4_lz;
  auto channels = static_cast<unsigned>(std::popcount(out_.modifiers.dmask));
  if (gathers && channels != 1) {
    return unsupported("a gather of several channels");
  }
  if (gathers) channels = 4;
  data_registers(entry_->form == Form::store ? out_.src[3] : out_.dst[0], bits(second_, 8, 8),
                 out_.modifiers.d16 ? (channels + 1) / 2 : channels);
}

void Decoder::flat() {
  if (!enter(bits(word_, 18, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  out_.modifiers.glc = bit(word_, 16);
  out_.modifiers.slc = bit(word_, 17);
  reserved(bits(word_, 0, 16) | bits(word_, 25, 1) | bits(second_, 16, 8), "reserved bits");
  set(out_.src[0], vector_register(generation_, bits(second_, 0, 8), 2), "reserved vector address");

  const std::uint32_t data = bits(second_, 8, 8);
  const std::uint32_t destination = bits(second_, 24, 8);
  const bool is_atomic = entry.form == Form::atomic || entry.form == Form::atomic_compare;
  if (entry.form == Form::load) {
    reserved(data, "data where the instruction has none");
  } else {
    set(out_.src[1], vector_register(generation_, data, entry.result), "reserved vector data");
  }
  if (entry.form == Form::load || (is_atomic && out_.modifiers.glc)) {
    const unsigned width =
        entry.form == Form::atomic_compare ? entry.result / 2U : unsigned{entry.result};
    set(out_.dst[0], vector_register(generation_, destination, width), "reserved vector result");
  } else {
    reserved(destination, "a result where the instruction has none");
  }
}

}  // namespace ww::binpatch::isa
