#include <fmt/format.h>

#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

// Memory and images have other encodings on gfx12: VBUFFER, VIMAGE, VSAMPLE, and VFLAT with
// VSCRATCH and VGLOBAL. RDNA4 ISA, chapter "Microcode formats".
std::optional<Encoding> gfx12_memory_encoding(std::uint32_t word) {
  switch (word >> 26) {
    case 0x31: return Encoding::mubuf;
    case 0x34:
    case 0x39: return Encoding::mimg;
    case 0x3b: return word >> 24 == 0xef ? std::nullopt : std::optional(Encoding::flat);
    default: return std::nullopt;
  }
}

// The encodings of gfx10 to gfx12 beside the scalar ALU and the short vector ones. RDNA 2, RDNA3
// and RDNA4 ISA, chapter "Microcode formats". LDSDIR (gfx12: VDSDIR) and VINTERP count as vintrp.
std::optional<Encoding> rdna_encoding_of(Generation generation, std::uint32_t word) {
  const bool gfx10 = is_gfx10(generation);
  switch (word >> 26) {
    case 0x32: return gfx10 ? Encoding::vintrp : Encoding::vopd;
    case 0x33:
      switch (word >> 24) {
        case 0xcc: return Encoding::vop3p;
        case 0xcd:
        case 0xce: return gfx10 ? std::nullopt : std::optional(Encoding::vintrp);
        default: return std::nullopt;
      }
    case 0x35: return Encoding::vop3a;
    case 0x36: return Encoding::ds;
    case 0x3d: return Encoding::smem;
    case 0x3e: return Encoding::exp;
    default: break;
  }
  if (generation == Generation::gfx12) {
    return gfx12_memory_encoding(word);
  }
  switch (word >> 26) {
    case 0x37: return Encoding::flat;
    case 0x38: return Encoding::mubuf;
    case 0x3a: return Encoding::mtbuf;
    case 0x3c: return Encoding::mimg;
    default: return std::nullopt;
  }
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
  if (generation >= Generation::gfx10) {
    return rdna_encoding_of(generation, word);
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

}  // namespace

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
    if (!unlisted_scalar(number)) unsupported("no such opcode in this generation's table");
    return false;
  }
  out_.opcode = entry_->opcode;
  return words < 2 || second_word();
}

bool Decoder::room_for(std::size_t size_bytes) {
  if (code_.size() < size_bytes) {
    error_ = Error{ErrorCode::parse_error,
                   fmt::format("the code ends inside the instruction {:08x}", word_),
                   {}};
    return false;
  }
  return true;
}

bool Decoder::second_word() {
  if (!room_for(8)) {
    return false;
  }
  second_ = load_word(code_, 4);
  return true;
}

// An instruction has one literal at most; operands that name it share it.
void Decoder::take_literal(std::size_t at) {
  if (error_) {
    return;
  }
  bool wanted = false;
  for (const Operand& operand : out_.src) {
    wanted = wanted || operand.kind == OperandKind::literal;
  }
  if (!wanted || !room_for(at + 4)) {
    return;
  }
  const std::uint32_t literal = load_word(code_, at);
  for (Operand& operand : out_.src) {
    if (operand.kind == OperandKind::literal) {
      operand.value = literal;
    }
  }
  out_.size_bytes = static_cast<std::uint8_t>(at + 4);
}

void Decoder::vcc_mask(Operand& operand) {
  operand = {.kind = OperandKind::special,
             .count = mask_words_,
             .index = index_of(SpecialRegister::vcc_lo)};
}

void Decoder::dispatch() {
  if (is_listed_rdna(generation_) && out_.encoding > Encoding::sopp) {
    return since_gfx8_or_unlisted();
  }
  if (out_.encoding == Encoding::mimg && generation_ < Generation::gfx10) {
    image();
    return or_unlisted();
  }
  const bool graphics = out_.encoding == Encoding::mimg || out_.encoding == Encoding::exp ||
                        out_.encoding == Encoding::vintrp;
  const bool has_table = generation_ <= Generation::gfx7 || out_.encoding <= Encoding::sopp;
  if (is_gfx8_or_gfx9(generation_) && !graphics && out_.encoding > Encoding::sopp) {
    return since_gfx8_or_unlisted();
  }
  if (!has_table || graphics) {
    return generation_ >= Generation::gfx10 ? unlisted_rdna() : unlisted();
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

Result<Instruction> decode(Generation generation, std::span<const std::byte> code, WaveSize wave) {
  const Table* table = table_of(generation);
  if (table == nullptr) {
    return fail(ErrorCode::unsupported, "no instruction table for this generation of GPUs");
  }
  return Decoder(generation, *table, code, wave).run();
}

}  // namespace ww::binpatch::isa
