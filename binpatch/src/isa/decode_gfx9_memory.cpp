// Memory instructions of gfx9. Vega ISA and Instinct MI200 ISA, chapter "Microcode formats".
#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t kNoScalarAddress = 0x7f;

}  // namespace

// The bit for data in accumulation registers, of the word that has it.
void Decoder::accumulators(bool chosen) {
  if (!chosen) {
    return;
  }
  if (!has_even_tuples(generation_)) {
    return unsupported("accumulation registers on a GPU without them");
  }
  accumulators_ = true;
}

// Registers that memory data come from and go to.
void Decoder::data_registers(Operand& operand, std::uint32_t first, unsigned count) {
  set(operand, vector_register(generation_, first, count), "reserved vector data");
  if (accumulators_) {
    operand.kind = OperandKind::agpr;
  }
}

// The clocks and the caches.
void Decoder::smem_without_address() {
  reserved(bits(word_, 0, 6) | bits(word_, 13, 5) | second_, "an address where there is none");
  if (entry_->result == 0) {
    return reserved(bits(word_, 6, 7), "a result where the instruction has none");
  }
  set(out_.dst[0], scalar_register(generation_, bits(word_, 6, 7), entry_->result),
      "reserved scalar result");
}

void Decoder::smem() {
  if (!enter(bits(word_, 18, 8), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  Modifiers& m = out_.modifiers;
  if (entry.form == Form::plain) {
    return smem_without_address();
  }
  Operand& data = entry.form == Form::store ? out_.src[2] : out_.dst[0];
  set(data, scalar_register(generation_, bits(word_, 6, 7), entry.result),
      "reserved scalar register");
  set(out_.src[0], scalar_register(generation_, 2 * bits(word_, 0, 6), entry.source[0]),
      "reserved base register");
  m.glc = bit(word_, 16);
  const bool register_beside = bit(word_, 14);
  m.scalar_offset_is_immediate = bit(word_, 17);
  reserved(bits(word_, 13, 1) | bits(word_, 15, 1) | bits(second_, 21, 4), "reserved bits");
  if (generation_ == Generation::gfx8) {  // 20 bits without sign, or a register
    reserved(bit(word_, 14) ? 1U : 0U, "reserved bits");
    reserved(bits(second_, 20, 12), "reserved bits");
  }
  if (m.scalar_offset_is_immediate) {
    m.offset = sign_extended(bits(second_, 0, 21), 21);
  } else if (register_beside) {
    // The register beside alone: what compilers choose, though assemblers write the older form.
    reserved(bits(second_, 0, 21), "an offset beside a register where there is none");
  } else {
    reserved(bits(second_, 7, 14), "reserved bits");
    set(out_.src[1], scalar_register(generation_, bits(second_, 0, 7), 1),
        "reserved offset register");
  }
  if (!register_beside) {
    return reserved(bits(second_, 25, 7), "reserved bits");
  }
  set(out_.src[1], scalar_register(generation_, bits(second_, 25, 7), 1),
      "reserved offset register");
}

void Decoder::memory_gfx9() {
  switch (out_.encoding) {
    case Encoding::smem: smem(); break;
    case Encoding::ds: ds_gfx9(); break;
    case Encoding::mubuf: buffer_gfx9(); break;
    case Encoding::flat: flat_gfx9(); break;
    default: unsupported("the encoding is not decoded for this generation"); break;
  }
}

void Decoder::ds_gfx9() {
  if (!enter(bits(word_, 17, 8), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  out_.modifiers.offset = bits(word_, 0, 16);
  out_.modifiers.gds = bit(word_, 16);
  accumulators(bit(word_, 25));
  if (entry.form == Form::ds_gds && !out_.modifiers.gds) {
    unsupported("the instruction exists for the global data share only");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t encoded = bits(second_, static_cast<unsigned>(8 * i), 8);
    if (entry.source[i] == 0) {
      reserved(encoded, "a source where the instruction has none");
    } else if (i == 0) {
      set(out_.src[0], vector_register(generation_, encoded, 1), "reserved vector address");
    } else {
      data_registers(out_.src[i], encoded, entry.source[i]);
    }
  }
  if (entry.result == 0) {
    reserved(bits(second_, 24, 8), "a result where the instruction has none");
  } else {
    data_registers(out_.dst[0], bits(second_, 24, 8), entry.result);
  }
  if (accumulators_ && entry.result == 0 && entry.source[1] == 0) {
    unsupported("accumulation registers where the instruction has no data");
  }
}

void Decoder::buffer_gfx9() {
  if (!enter(bits(word_, 18, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  if (entry.form == Form::buffer_control) {
    // LLVM's compiler sets bits 14 and 15 of a write-back of the L2; its assembler does not.
    const std::uint32_t ignored = entry.opcode == Opcode::buffer_wbl2 ? 0xc000U : 0U;
    reserved((bits(word_, 0, 18) & ~ignored) | bits(word_, 25, 1) | second_,
             "operands where the instruction has none");
    return;
  }
  Modifiers& m = out_.modifiers;
  const bool has_sc1 = generation_ == Generation::gfx940;
  if (entry.form == Form::buffer_scope) {
    m.glc = bit(word_, 14);
    m.sc1 = bit(word_, 15);
    return reserved((bits(word_, 0, 18) & ~0xc000U) | bits(word_, 25, 1) | second_,
                    "operands where the instruction has none");
  }
  m.sc1 = has_sc1 && bit(word_, 15);
  m.offset = bits(word_, 0, 12);
  m.offen = bit(word_, 12);
  m.idxen = bit(word_, 13);
  m.glc = bit(word_, 14);
  m.lds = bit(word_, 16);
  m.slc = bit(word_, 17);
  reserved((has_sc1 ? 0 : bits(word_, 15, 1)) | bits(word_, 25, 1) | bits(second_, 21, 2),
           "reserved bits");
  if (has_even_tuples(generation_)) {
    accumulators(bit(second_, 23));
  } else {
    m.tfe = bit(second_, 23);
  }
  buffer_data();
}

void Decoder::buffer_data() {
  const TableEntry& entry = *entry_;
  const Modifiers& m = out_.modifiers;
  const bool is_load = entry.form == Form::load;
  if ((m.lds && (!is_load || entry.result != 1 || accumulators_)) ||
      (m.tfe && (!is_load || m.lds))) {
    unsupported("a modifier that the instruction does not take");
  }
  const unsigned address = unsigned{m.offen} + unsigned{m.idxen};
  const std::uint32_t scalar_offset = buffer_operands(address);
  if (scalar_offset >= 235 && scalar_offset != 240 && scalar_offset - 240 > 8) {
    unsupported("reserved scalar offset");
  }
  const std::uint32_t data = bits(second_, 8, 8);
  if (m.lds) {
    return reserved(data, "data registers of a load to the local data share");
  }
  const unsigned width = entry.result + unsigned{m.tfe};
  if (is_load) {
    return data_registers(out_.dst[0], data, width);
  }
  data_registers(out_.src[3], data, width);
  if (entry.form == Form::atomic_silent) {
    return reserved(std::uint32_t{m.glc}, "a result where the instruction has none");
  }
  if (entry.form != Form::store && m.glc) {
    data_registers(out_.dst[0], data, entry.form == Form::atomic_compare ? width / 2 : width);
  }
}

void Decoder::flat_gfx9() {
  const std::uint32_t segment = bits(word_, 14, 2);  // flat, scratch, global
  if (segment == 3 || (generation_ == Generation::gfx8 && bits(word_, 0, 16) != 0)) {
    return unsupported("reserved segment or offset");
  }
  if (!enter(bits(word_, 18, 7) + segment * kFlatSegment, 2)) {
    return;
  }
  Modifiers& m = out_.modifiers;
  m.glc = bit(word_, 16);
  m.slc = bit(word_, 17);
  const bool newest = generation_ == Generation::gfx940;
  // gfx940's scratch says in bit 13 whether there is a vector address.
  const bool chooses = newest && segment == 1;
  m.sc1 = newest && bit(word_, 25);
  reserved((chooses ? 0 : bits(word_, 13, 1)) | (newest ? 0 : bits(word_, 25, 1)), "reserved bits");
  accumulators(bit(second_, 23));
  m.offset = segment == 0 ? bits(word_, 0, 13) : sign_extended(bits(word_, 0, 13), 13);
  const std::uint32_t scalar = bits(second_, 16, 7);
  const std::uint32_t vector = bits(second_, 0, 8);
  const bool has_scalar = segment != 0 && scalar != kNoScalarAddress;
  if (segment == 0) {
    reserved(scalar, "a scalar address of a flat access");
    reserved(bits(word_, 12, 1), "a negative offset of a flat access");
  } else if (has_scalar) {
    set(out_.src[2], scalar_register(generation_, scalar, segment == 1 ? 1 : 2),
        "reserved scalar address");
  }
  if (segment == 1 && (chooses ? !bit(word_, 13) : has_scalar)) {
    reserved(vector, "an address where the instruction has none");
  } else {
    set(out_.src[0], vector_register(generation_, vector, segment == 1 || has_scalar ? 1 : 2),
        "reserved vector address");
  }
  flat_data();
}

void Decoder::flat_data() {
  const TableEntry& entry = *entry_;
  const Modifiers& m = out_.modifiers;
  const std::uint32_t data = bits(second_, 8, 8);
  const std::uint32_t destination = bits(second_, 24, 8);
  const bool is_load = entry.form == Form::load;
  const bool is_atomic = entry.form == Form::atomic || entry.form == Form::atomic_compare;
  if (entry.form == Form::atomic_silent) {
    reserved(std::uint32_t{m.glc}, "a result where the instruction has none");
  }
  const bool to_share = entry.form == Form::load_to_share;
  if (to_share && accumulators_) {
    unsupported("accumulation registers where the instruction has no data");
  }
  if (is_load || to_share) {
    reserved(data, "data where the instruction has none");
  } else {
    data_registers(out_.src[1], data, entry.result);
  }
  if (is_load || (is_atomic && m.glc)) {
    data_registers(out_.dst[0], destination,
                   entry.form == Form::atomic_compare ? entry.result / 2U : unsigned{entry.result});
  } else {
    reserved(destination, "a result where the instruction has none");
  }
}

}  // namespace ww::binpatch::isa
