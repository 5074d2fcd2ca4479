// Every row of every table, many times over with random legal operands: the word is decoded,
// written as text, and llvm-mc must assemble that text to the same word.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "isa/table.hpp"
#include "toolchain.hpp"

namespace ww::binpatch::isa {
namespace {

using testing::Bytes;

class WordMaker {
 public:
  WordMaker(Generation generation, std::uint64_t seed) : generation_(generation), random_(seed) {}

  Bytes make(const TableEntry& entry);

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }
  std::uint32_t vector(std::uint32_t count) { return below(vector_limit_ - count); }
  // A scalar register number, special ones included, aligned for `count`.
  std::uint32_t scalar(std::uint32_t count) {
    const std::uint32_t general = generation_ <= Generation::gfx7 ? 104 : 100;
    if (count >= 4) return 4 * below((general - count) / 4 + 1);
    if (chance(4)) {
      // vcc, trap registers, m0 (single), exec; flat_scratch has a place of its own.
      static constexpr std::uint32_t pairs[] = {106, 112, 116, 122, 126};
      static constexpr std::uint32_t singles[] = {106, 107, 112, 123, 124, 126, 127};
      if (chance(5) && generation_ >= Generation::gfx7) {
        return generation_ == Generation::gfx7 ? 104 : 102;
      }
      return count == 2 ? pairs[below(5)] : singles[below(7)];
    }
    return count * below(general / count);
  }
  std::uint32_t constant() { return chance(3) ? 240 + below(8) : 128 + below(81); }
  std::uint32_t scalar_source(std::uint32_t count, bool literal_allowed) {
    if (literal_allowed && chance(5)) {
      uses_literal_ = true;
      return 255;
    }
    if (count == 1 && chance(12)) return 251 + below(3);
    return chance(3) ? constant() : scalar(count);
  }
  // A 9-bit source. One scalar register or literal at most per vector instruction.
  std::uint32_t vector_source(std::uint32_t count, bool literal_allowed) {
    if (vectors_only_) return 256 + vector(count);
    if (!scalar_taken_ && chance(3)) {
      scalar_taken_ = true;
      if (literal_allowed && chance(3)) {
        uses_literal_ = true;
        return 255;
      }
      return scalar(count);
    }
    return chance(3) ? constant() : 256 + vector(count);
  }
  std::uint32_t random_bits(unsigned count) { return below(1U << count); }

  void put(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) {
      bytes_.push_back(static_cast<std::byte>(word >> (8 * i)));
    }
  }
  void put_literal() {
    // A value that an inline constant could hold would be assembled as that constant.
    if (uses_literal_) put(0x40000000U | 0x1234U | (random_bits(16) << 13));
  }
  void scalar_alu(const TableEntry& entry);
  void vector_short(const TableEntry& entry);
  void vector_long(const TableEntry& entry);
  void memory(const TableEntry& entry);
  void buffer(const TableEntry& entry);
  void flat(const TableEntry& entry);

  Generation generation_;
  std::mt19937_64 random_;
  Bytes bytes_;
  bool uses_literal_{};
  bool scalar_taken_{};
  bool vectors_only_{};
  std::uint32_t vector_limit_{257};
};

// The assembler's own rules, narrower than the encoding's.
bool needs_register(Opcode opcode) {
  return opcode == Opcode::s_movrels_b32 || opcode == Opcode::s_movrels_b64;
}
bool vector_sources_only(Opcode opcode) {
  const std::string_view name = mnemonic(opcode);
  return name.starts_with("v_movrel") || name.find("qsad_") != std::string_view::npos ||
         opcode == Opcode::v_cvt_f32_f16;
}
bool result_may_not_overlap(Opcode opcode) {
  return mnemonic(opcode).find("qsad_") != std::string_view::npos;
}
bool reads_vcc(Opcode opcode) {
  return opcode == Opcode::v_div_fmas_f32 || opcode == Opcode::v_div_fmas_f64;
}

void WordMaker::scalar_alu(const TableEntry& e) {
  const std::uint32_t number = e.number;
  std::uint32_t result = e.result != 0 ? scalar(e.result) : 0;
  if (e.encoding == Encoding::smrd && result >= 124) result = 0;  // loads take neither m0 nor exec
  const auto source = [&](std::size_t i, bool literal) {
    if (e.source[i] == 0) return 0U;
    if (needs_register(e.opcode) || e.opcode == Opcode::s_setpc_b64 ||
        e.opcode == Opcode::s_rfe_b64 || e.opcode == Opcode::s_cbranch_join) {
      return scalar(e.source[i]);
    }
    return scalar_source(e.source[i], literal);
  };
  switch (e.encoding) {
    case Encoding::sop2: {
      const bool literal = e.opcode != Opcode::s_cbranch_g_fork;
      const std::uint32_t s0 = source(0, literal);
      put(0x80000000U | number << 23 | result << 16 | source(1, literal && s0 != 255) << 8 | s0);
      return put_literal();
    }
    case Encoding::sop1:
      put(0xbe800000U | result << 16 | number << 8 | source(0, true));
      return put_literal();
    case Encoding::sopc: {
      const std::uint32_t s0 = source(0, true);
      const std::uint32_t s1 = e.form == Form::index_mode ? random_bits(4) : source(1, s0 != 255);
      put(0xbf000000U | number << 16 | s1 << 8 | s0);
      return put_literal();
    }
    case Encoding::sopk: {
      std::uint32_t immediate = random_bits(16);
      if (e.opcode == Opcode::s_getreg_b32 || e.form == Form::sopk_literal ||
          e.opcode == Opcode::s_setreg_b32) {
        immediate = (immediate & 0xffc0U) | (1 + below(7));  // registers that all have
      }
      put(0xb0000000U | number << 23 | (e.form == Form::sopk_literal ? 0 : result) << 16 |
          immediate);
      uses_literal_ = e.form == Form::sopk_literal;
      return put_literal();
    }
    case Encoding::sopp:
      return put(0xbf800000U | number << 16 |
                 (e.opcode == Opcode::s_set_gpr_idx_mode ? random_bits(4)
                  : e.form == Form::sopp_immediate       ? random_bits(16)
                                                         : 0));
    default: break;
  }
  // SMRD
  std::uint32_t low = 0;
  if (e.source[0] != 0) {
    const std::uint32_t base = e.source[0] == 4 ? scalar(4) : scalar(2);
    low = (base / 2) << 9;
    if (chance(3)) {
      low |= 0x100U | random_bits(8);
    } else if (chance(2) && generation_ >= Generation::gfx7) {
      low |= 255;
      uses_literal_ = true;
    } else {
      low |= scalar(1);
    }
  }
  put(0xc0000000U | number << 22 | result << 15 | low);
  put_literal();
}

void WordMaker::vector_short(const TableEntry& e) {
  const std::uint32_t number = e.number;
  // vcc read as carry or mask is the one scalar operand.
  const bool has_literal = e.form == Form::multiply_literal || e.form == Form::add_literal;
  scalar_taken_ =
      scalar_taken_ || e.form == Form::select || e.form == Form::carry_in_out || has_literal;
  std::uint32_t s0 = 0;
  if (e.form == Form::read_lane || e.form == Form::scalar_result) {
    s0 = 256 + vector(1);
  } else if (e.form == Form::write_lane) {
    s0 = chance(2) ? constant() : below(104);
    scalar_taken_ = s0 < 128;
  } else if (e.source[0] != 0) {
    s0 = vector_source(e.source[0], true);
  }
  uses_literal_ = uses_literal_ || has_literal;
  const bool scalar_result = e.form == Form::read_lane || e.form == Form::scalar_result;
  const std::uint32_t result = e.result == 0 ? 0 : scalar_result ? below(104) : vector(e.result);
  if (e.encoding == Encoding::vop1) {
    put(0x7e000000U | result << 17 | number << 9 | s0);
    return put_literal();
  }
  std::uint32_t s1 = e.form == Form::read_lane || e.form == Form::write_lane
                         ? (scalar_taken_ || chance(2) ? 128 + below(64) : below(104))
                         : vector(e.source[1]);
  if (e.encoding == Encoding::vopc) {
    put(0x7c000000U | number << 17 | s1 << 9 | s0);
  } else {
    put(number << 25 | result << 17 | s1 << 9 | s0);
  }
  put_literal();
}

void WordMaker::vector_long(const TableEntry& e) {
  const bool compare = e.number < 0x100;
  const bool carry = e.form == Form::carry_out || e.form == Form::carry_in_out;
  std::uint32_t first = 0xd0000000U | std::uint32_t{e.number} << 17;
  const std::uint32_t shift = result_may_not_overlap(e.opcode) ? 200 : 0;
  vector_limit_ = 257 - shift;
  first |= compare ? scalar(2) : e.result == 0 ? 0 : shift + vector(e.result);
  vector_limit_ = shift == 0 ? 257 : shift;
  std::uint32_t second = 0;
  if (e.form == Form::select || e.form == Form::carry_in_out) {
    second |= scalar(2) << 18;
    scalar_taken_ = true;
  }
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] != 0) second |= vector_source(e.source[i], false) << (9 * i);
  }
  const std::uint32_t signs = e.modifiers & 7U;
  second |= (random_bits(3) & signs) << 29;
  if ((e.modifiers & modifier_scale) != 0) second |= random_bits(2) << 27;
  if (carry) {
    first |= scalar(2) << 8;
  } else {
    first |= (random_bits(3) & signs) << 8;
    if ((e.modifiers & modifier_clamp) != 0) first |= random_bits(1) << 11;
  }
  put(first);
  put(second);
}

void WordMaker::memory(const TableEntry& e) {
  const bool gds = e.form == Form::ds_gds || (chance(4) && e.opcode != Opcode::ds_nop);
  const std::uint32_t offset = e.opcode == Opcode::ds_nop ? 0 : random_bits(16);
  put(0xd8000000U | std::uint32_t{e.number} << 18 | std::uint32_t{gds} << 17 | offset);
  std::uint32_t second = e.result == 0 ? 0 : vector(e.result) << 24;
  for (unsigned i = 0; i < 3; ++i) {
    if (e.source[i] != 0) second |= vector(e.source[i]) << (8 * i);
  }
  put(second);
}

void WordMaker::buffer(const TableEntry& e) {
  const bool typed = e.encoding == Encoding::mtbuf;
  const std::uint32_t base = typed ? 0xe8000000U | std::uint32_t{e.number} << 16
                                   : 0xe0000000U | std::uint32_t{e.number} << 18;
  if (e.form == Form::buffer_control) {
    put(base);
    return put(0);
  }
  std::uint32_t first = base | random_bits(12);
  const std::uint32_t mode = below(5);  // none, offen, idxen, both, addr64
  first |= mode == 4 ? 1U << 15 : mode << 12;
  first |= random_bits(1) << 14;
  if (typed) first |= random_bits(7) << 19;
  const bool lds = !typed && e.form == Form::load && e.result == 1 && chance(4);
  first |= std::uint32_t{lds} << 16;
  const std::uint32_t address_count = mode == 0 ? 0 : mode < 3 ? 1 : 2;
  std::uint32_t second = address_count == 0 ? 0 : vector(address_count);
  const bool tfe = e.form == Form::load && !lds && chance(5);
  if (!lds) second |= vector(e.result + std::uint32_t{tfe}) << 8;
  second |= (scalar(4) / 4) << 16 | random_bits(1) << 22 | std::uint32_t{tfe} << 23;
  second |= (chance(3) ? constant() : scalar(1)) << 24;
  put(first);
  put(second);
}

void WordMaker::flat(const TableEntry& e) {
  const bool glc = chance(2);
  const bool atomic = e.form == Form::atomic || e.form == Form::atomic_compare;
  put(0xdc000000U | std::uint32_t{e.number} << 18 | random_bits(1) << 17 |
      std::uint32_t{glc} << 16);
  std::uint32_t second = vector(2);
  if (e.form != Form::load) second |= vector(e.result) << 8;
  if (e.form == Form::load || (atomic && glc)) second |= vector(e.result) << 24;
  put(second);
}

Bytes WordMaker::make(const TableEntry& e) {
  bytes_.clear();
  uses_literal_ = false;
  scalar_taken_ = reads_vcc(e.opcode);
  vectors_only_ = vector_sources_only(e.opcode);
  vector_limit_ = 257;
  switch (e.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc: vector_short(e); break;
    case Encoding::vop3a: vector_long(e); break;
    case Encoding::ds: memory(e); break;
    case Encoding::mubuf:
    case Encoding::mtbuf: buffer(e); break;
    case Encoding::flat: flat(e); break;
    default: scalar_alu(e); break;
  }
  return bytes_;
}

std::string hex(const Bytes& bytes) {
  std::ostringstream out;
  for (const std::byte b : bytes) out << std::hex << std::to_integer<int>(b) << ' ';
  return out.str();
}

struct Sweep {
  Generation generation;
  const char* cpu;
};
void PrintTo(const Sweep& sweep, std::ostream* out) {
  *out << sweep.cpu;
}

class TableSweep : public ::testing::TestWithParam<Sweep> {};

TEST_P(TableSweep, EveryOpcodeReassemblesToTheSameBytes) {
  if (!testing::have_assembler()) GTEST_SKIP() << "llvm-mc-15 is not installed (package llvm-15)";
  constexpr int variants = 24;
  const auto [generation, cpu] = GetParam();
  WordMaker maker(generation, 7);
  std::vector<Bytes> words;
  std::vector<std::string> lines;
  for (const TableEntry& entry : table_of(generation)->entries()) {
    for (int i = 0; i < variants; ++i) {
      const Bytes word = maker.make(entry);
      const auto decoded = decode(generation, word);
      ASSERT_TRUE(decoded.has_value())
          << mnemonic(entry.opcode) << ": " << hex(word) << decoded.error().text();
      ASSERT_EQ(decoded->opcode, entry.opcode) << hex(word);
      ASSERT_EQ(decoded->size_bytes, word.size()) << mnemonic(entry.opcode) << ": " << hex(word);
      words.push_back(word);
      lines.push_back(disassemble(*decoded, generation));
    }
  }
  const auto assembled = testing::assemble(lines, cpu);
  ASSERT_EQ(assembled.size(), lines.size());
  std::map<std::string, int> failures;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (assembled[i].bytes == words[i]) continue;
    const std::string name = lines[i].substr(0, lines[i].find(' '));
    if (++failures[name] > 2) continue;
    ADD_FAILURE() << lines[i] << "\n  decoded from " << hex(words[i]) << "\n  assembles to "
                  << (assembled[i].bytes ? hex(*assembled[i].bytes) : "nothing");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gpus, TableSweep,
    ::testing::Values(Sweep{Generation::gfx6, "gfx600"}, Sweep{Generation::gfx7, "gfx701"},
                      Sweep{Generation::gfx8, "gfx803"}, Sweep{Generation::gfx9, "gfx900"},
                      Sweep{Generation::gfx9, "gfx90a"}, Sweep{Generation::gfx9, "gfx940"}),
    [](const auto& info) { return std::string(info.param.cpu); });

}  // namespace
}  // namespace ww::binpatch::isa
