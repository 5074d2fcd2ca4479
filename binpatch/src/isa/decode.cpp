#include <fmt/format.h>

#include <bit>

#include "isa/operand.hpp"
#include "isa/table.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return (word >> low) & ((1U << count) - 1U);
}
constexpr bool bit(std::uint32_t word, unsigned index) {
  return ((word >> index) & 1U) != 0;
}

std::uint32_t load_word(std::span<const std::byte> code, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::to_integer<std::uint32_t>(code[offset + i]) << (8 * i);
  }
  return word;
}

// The encoding of a first word; nothing when the leading bits are reserved.
// Sea Islands ISA, chapter "Microcode formats"; from gfx8 on scalar memory is SMEM.
std::optional<Encoding> encoding_of(Generation generation, std::uint32_t word) {
  if (!bit(word, 31)) {
    switch (word >> 25) {
      case 0x3e: return Encoding::vopc;
      case 0x3f: return Encoding::vop1;
      default: return Encoding::vop2;
    }
  }
  if (word >> 30 == 2) {
    switch (word >> 23) {
      case 0x17d: return Encoding::sop1;
      case 0x17e: return Encoding::sopc;
      case 0x17f: return Encoding::sopp;
      default: return word >> 28 == 0xb ? Encoding::sopk : Encoding::sop2;
    }
  }
  const bool before_gfx8 = generation <= Generation::gfx7;
  if (before_gfx8 && word >> 27 == 0x18) {
    return Encoding::smrd;
  }
  switch (word >> 26) {
    case 0x30: return Encoding::smem;
    case 0x31: return Encoding::exp;
    case 0x32: return before_gfx8 ? std::optional(Encoding::vintrp) : std::nullopt;
    case 0x34:
      return generation >= Generation::gfx9 && word >> 23 == 0x1a7 ? Encoding::vop3p
                                                                   : Encoding::vop3a;
    case 0x35: return before_gfx8 ? std::nullopt : std::optional(Encoding::vintrp);
    case 0x36: return Encoding::ds;
    case 0x37: return Encoding::flat;
    case 0x38: return Encoding::mubuf;
    case 0x3a: return Encoding::mtbuf;
    case 0x3c: return Encoding::mimg;
    case 0x3e: return before_gfx8 ? std::optional(Encoding::exp) : std::nullopt;
    default: return std::nullopt;
  }
}

// Decodes one instruction. The first problem is kept in error_ and ends the decoding.
class Decoder {
 public:
  Decoder(Generation generation, const Table& table, std::span<const std::byte> code)
      : generation_(generation), table_(table), code_(code) {}

  Result<Instruction> run();

 private:
  void dispatch();
  void sop2();
  void sopk();
  void sop1();
  void sopc();
  void sopp();
  void smrd();
  void vop_short();
  void vop_short_operands();
  void vop3();
  void vop3_sources();
  void ds();
  void buffer();
  void flat();
  void unlisted();

  // Finds the table entry, or records the instruction as unsupported.
  bool enter(std::uint32_t number, unsigned words);
  bool second_word();
  void take_literal();
  void set(Operand& operand, std::optional<Operand> value, std::string_view what);
  void source(std::size_t index, std::uint32_t encoded, unsigned count);
  // Fields that the instruction does not use must be zero: a word that sets them is none of ours.
  void reserved(std::uint32_t value, std::string_view what);
  void unsupported(std::string_view what);
  void vcc_pair(Operand& operand);

  Generation generation_;
  const Table& table_;
  std::span<const std::byte> code_;
  std::uint32_t word_{};
  std::uint32_t second_{};
  const TableEntry* entry_{};
  Instruction out_;
  std::optional<Error> error_;
};

void Decoder::unsupported(std::string_view what) {
  if (!error_) {
    error_ = Error{ErrorCode::unsupported,
                   fmt::format("cannot decode the instruction word {:08x}: {}", word_, what),
                   {}};
  }
}

void Decoder::set(Operand& operand, std::optional<Operand> value, std::string_view what) {
  if (value) {
    operand = *value;
  } else {
    unsupported(what);
  }
}

void Decoder::source(std::size_t index, std::uint32_t encoded, unsigned count) {
  set(out_.src[index], source_operand(generation_, encoded, count), "reserved source operand");
}

void Decoder::reserved(std::uint32_t value, std::string_view what) {
  if (value != 0) {
    unsupported(what);
  }
}

bool Decoder::enter(std::uint32_t number, unsigned words) {
  out_.size_bytes = static_cast<std::uint8_t>(4 * words);
  entry_ = table_.find(out_.encoding, number);
  if (entry_ == nullptr) {
    unsupported("no such opcode in this generation's table");
    return false;
  }
  out_.opcode = entry_->opcode;
  return words < 2 || second_word();
}

bool Decoder::second_word() {
  if (code_.size() < 8) {
    error_ = Error{ErrorCode::parse_error,
                   fmt::format("the code ends inside the instruction {:08x}", word_),
                   {}};
    return false;
  }
  second_ = load_word(code_, 4);
  return true;
}

// An instruction has one literal at most; operands that name it share it.
void Decoder::take_literal() {
  if (error_) {
    return;
  }
  bool wanted = false;
  for (const Operand& operand : out_.src) {
    wanted = wanted || operand.kind == OperandKind::literal;
  }
  if (!wanted || !second_word()) {
    return;
  }
  for (Operand& operand : out_.src) {
    if (operand.kind == OperandKind::literal) {
      operand.value = second_;
    }
  }
  out_.size_bytes = 8;
}

void Decoder::vcc_pair(Operand& operand) {
  operand = {.kind = OperandKind::special, .count = 2, .index = index_of(SpecialRegister::vcc_lo)};
}

void Decoder::sop2() {
  if (!enter(bits(word_, 23, 7), 1)) {
    return;
  }
  const std::uint32_t destination = bits(word_, 16, 7);
  if (entry_->result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], scalar_register(generation_, destination, entry_->result),
        "reserved scalar result");
  }
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
    source(0, encoded_literal, 1);
    take_literal();
    return;
  }
  Operand& operand = entry_->form == Form::sopk_source ? out_.src[0] : out_.dst[0];
  set(operand, scalar_register(generation_, encoded, entry_->result), "reserved scalar register");
}

void Decoder::sop1() {
  if (!enter(bits(word_, 8, 8), 1)) {
    return;
  }
  const std::uint32_t destination = bits(word_, 16, 7);
  if (entry_->result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], scalar_register(generation_, destination, entry_->result),
        "reserved scalar result");
  }
  if (entry_->source[0] == 0) {
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
  } else if (offset == encoded_literal && generation_ >= Generation::gfx7) {
    source(1, offset, 1);
    take_literal();
  } else {
    set(out_.src[1], scalar_register(generation_, offset, 1), "reserved offset register");
  }
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
    vcc_pair(out_.dst[0]);
  } else if (entry.form == Form::read_lane || entry.form == Form::scalar_result) {
    set(out_.dst[0], scalar_register(generation_, destination, 1), "reserved scalar result");
  } else if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], vector_register(destination, entry.result), "reserved vector result");
  }

  if (entry.source[0] == 0) {
    reserved(source0, "a source where the instruction has none");
  } else {
    source(0, source0, entry.source[0]);
  }
  if (out_.encoding == Encoding::vop1) {
    if (entry.form == Form::scalar_result && out_.src[0].kind != OperandKind::vgpr) {
      unsupported("a lane is read from a vector register only");
    }
    return;
  }

  if (entry.form == Form::read_lane || entry.form == Form::write_lane) {
    source(1, source1, 1);
    if (source1 == encoded_literal || source0 == encoded_literal ||
        (entry.form == Form::read_lane) != (out_.src[0].kind == OperandKind::vgpr)) {
      unsupported("reserved lane operand");
    }
    return;
  }
  set(out_.src[1], vector_register(source1, entry.source[1]), "reserved vector source");
  switch (entry.form) {
    case Form::select: vcc_pair(out_.src[2]); break;
    case Form::carry_out: vcc_pair(out_.dst[1]); break;
    case Form::carry_in_out:
      vcc_pair(out_.dst[1]);
      vcc_pair(out_.src[2]);
      break;
    case Form::add_literal: source(2, encoded_literal, 1); break;
    case Form::multiply_literal:
      out_.src[2] = out_.src[1];
      source(1, encoded_literal, 1);
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
    set(out_.dst[0], vector_register(destination, entry.result), "reserved vector result");
  }
  vop3_sources();
}

void Decoder::vop3_sources() {
  const TableEntry& entry = *entry_;
  auto counts = entry.source;
  const bool third_is_mask = entry.form == Form::select || entry.form == Form::carry_in_out;
  if (third_is_mask) {
    counts[2] = 2;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t encoded = bits(second_, static_cast<unsigned>(9 * i), 9);
    if (counts[i] == 0) {
      reserved(encoded, "a source where the instruction has none");
    } else if (encoded == encoded_literal) {
      unsupported("a literal in VOP3");
    } else if (third_is_mask && i == 2) {
      set(out_.src[2], encoded < 128 ? scalar_register(generation_, encoded, 2) : std::nullopt,
          "reserved mask register");
    } else {
      source(i, encoded, counts[i]);
    }
  }
  const std::uint32_t allowed = entry.modifiers;
  const Modifiers& m = out_.modifiers;
  if (((m.abs | m.neg) & ~allowed & 7U) != 0 || (m.clamp && (allowed & modifier_clamp) == 0) ||
      (m.omod != 0 && (allowed & modifier_scale) == 0)) {
    unsupported("a modifier that the instruction does not take");
  }
}

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
      set(out_.src[i], vector_register(encoded, entry.source[i]), "reserved vector source");
    }
  }
  const std::uint32_t destination = bits(second_, 24, 8);
  if (entry.result == 0) {
    reserved(destination, "a result where the instruction has none");
  } else {
    set(out_.dst[0], vector_register(destination, entry.result), "reserved vector result");
  }
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
  if (address == 0) {
    reserved(bits(second_, 0, 8), "an address where the instruction has none");
  } else {
    set(out_.src[0], vector_register(bits(second_, 0, 8), address), "reserved vector address");
  }
  set(out_.src[1], scalar_register(generation_, 4 * bits(second_, 16, 5), 4),
      "reserved buffer descriptor");
  const std::uint32_t scalar_offset = bits(second_, 24, 8);
  source(2, scalar_offset, 1);
  if (scalar_offset >= 251) {
    unsupported("reserved scalar offset");
  }

  const std::uint32_t data = bits(second_, 8, 8);
  if (m.lds) {
    reserved(data, "data registers of a load to the local data share");
    return;
  }
  const unsigned width = entry.result + unsigned{m.tfe};
  const auto registers = vector_register(data, width);
  if (is_load) {
    set(out_.dst[0], registers, "reserved vector result");
    return;
  }
  set(out_.src[3], registers, "reserved vector data");
  if (entry.form != Form::store && m.glc) {
    const unsigned result = entry.form == Form::atomic_compare ? width / 2 : width;
    set(out_.dst[0], vector_register(data, result), "reserved vector result");
  }
}

void Decoder::flat() {
  if (!enter(bits(word_, 18, 7), 2)) {
    return;
  }
  const TableEntry& entry = *entry_;
  out_.modifiers.glc = bit(word_, 16);
  out_.modifiers.slc = bit(word_, 17);
  reserved(bits(word_, 0, 16) | bits(word_, 25, 1) | bits(second_, 16, 8), "reserved bits");
  set(out_.src[0], vector_register(bits(second_, 0, 8), 2), "reserved vector address");

  const std::uint32_t data = bits(second_, 8, 8);
  const std::uint32_t destination = bits(second_, 24, 8);
  const bool is_atomic = entry.form == Form::atomic || entry.form == Form::atomic_compare;
  if (entry.form == Form::load) {
    reserved(data, "data where the instruction has none");
  } else {
    set(out_.src[1], vector_register(data, entry.result), "reserved vector data");
  }
  if (entry.form == Form::load || (is_atomic && out_.modifiers.glc)) {
    const unsigned width =
        entry.form == Form::atomic_compare ? entry.result / 2U : unsigned{entry.result};
    set(out_.dst[0], vector_register(destination, width), "reserved vector result");
  } else {
    reserved(destination, "a result where the instruction has none");
  }
}

// An instruction of an encoding without a table: its size, and the sources that might name SCC.
// Vega ISA, chapter "Microcode formats".
void Decoder::unlisted() {
  const auto& encoding = out_.encoding;
  out_.opcode = Opcode::unlisted;
  out_.size_bytes = 8;
  out_.modifiers.offset = word_;
  if (encoding == Encoding::vintrp) {
    out_.size_bytes = 4;
    return;
  }
  if (encoding == Encoding::vop1 || encoding == Encoding::vop2 || encoding == Encoding::vopc) {
    const std::uint32_t source0 = bits(word_, 0, 9);
    out_.modifiers.sdwa = source0 == encoded_sdwa;
    out_.modifiers.dpp = source0 == encoded_dpp;
    const bool extended = out_.modifiers.sdwa || out_.modifiers.dpp;
    if (!extended) {
      source(0, source0, 1);
    }
    // v_madmk and v_madak, of f32 and f16, have a literal always.
    const std::uint32_t number = bits(word_, 25, 6);
    const bool literal_form = encoding == Encoding::vop2 && (number == 0x17 || number == 0x18 ||
                                                             number == 0x24 || number == 0x25);
    if (!extended && source0 != encoded_literal && !literal_form) {
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
      if (encoded == encoded_literal) {
        unsupported("a literal in VOP3");
      }
    }
  } else if (out_.src[0].kind == OperandKind::literal) {
    out_.src[0].value = second_;
  }
}

void Decoder::dispatch() {
  const bool has_table = generation_ <= Generation::gfx7 || out_.encoding <= Encoding::sopp;
  if (!has_table) {
    return unlisted();
  }
  switch (out_.encoding) {
    case Encoding::sop2: return sop2();
    case Encoding::sopk: return sopk();
    case Encoding::sop1: return sop1();
    case Encoding::sopc: return sopc();
    case Encoding::sopp: return sopp();
    case Encoding::smrd: return smrd();
    case Encoding::vop2:
    case Encoding::vop1:
    case Encoding::vopc: return vop_short();
    case Encoding::vop3a: return vop3();
    case Encoding::ds: return ds();
    case Encoding::mubuf:
    case Encoding::mtbuf: return buffer();
    case Encoding::flat: return flat();
    case Encoding::mimg: return unsupported("image instructions are not decoded");
    case Encoding::exp:
    case Encoding::vintrp: return unsupported("graphics instructions are not decoded");
    default: return unsupported("the encoding is not decoded for this generation");
  }
}

Result<Instruction> Decoder::run() {
  if (code_.size() < 4) {
    return fail(ErrorCode::parse_error, "the code ends before an instruction");
  }
  word_ = load_word(code_, 0);
  const auto encoding = encoding_of(generation_, word_);
  if (!encoding) {
    unsupported("reserved encoding");
  } else {
    out_.encoding = *encoding;
    dispatch();
  }
  if (error_) {
    return tl::unexpected<Error>(*error_);
  }
  return out_;
}

}  // namespace

Result<Instruction> decode(Generation generation, std::span<const std::byte> code) {
  const Table* table = table_of(generation);
  if (table == nullptr) {
    return fail(ErrorCode::unsupported, "no instruction table for this generation of GPUs");
  }
  return Decoder(generation, *table, code).run();
}

}  // namespace ww::binpatch::isa
