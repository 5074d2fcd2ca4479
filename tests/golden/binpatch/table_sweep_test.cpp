// Every row of every table, many times over with random legal operands: the word is decoded,
// written as text, and llvm-mc must assemble that text to the same word.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "isa/table.hpp"
#include "toolchain.hpp"
#include "word_maker.hpp"

namespace ww::binpatch::isa {
namespace {

using testing::Bytes;
using testing::WordMaker;

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
  const auto [generation, cpu] = GetParam();
  if (!testing::have_assembler(cpu)) {
    GTEST_SKIP() << "no assembler for " << cpu << " (llvm-mc-15 of package llvm-15, or clang-19)";
  }
  constexpr int variants = 24;
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
                      Sweep{Generation::gfx8, "gfx803"}, Sweep{Generation::gfx900, "gfx900"},
                      Sweep{Generation::gfx904, "gfx904"}, Sweep{Generation::gfx906, "gfx906"},
                      Sweep{Generation::gfx908, "gfx908"}, Sweep{Generation::gfx90a, "gfx90a"},

                      Sweep{Generation::gfx940, "gfx940"}, Sweep{Generation::gfx940, "gfx942"},
                      Sweep{Generation::gfx10, "gfx1010"}, Sweep{Generation::gfx10, "gfx1030"},
                      Sweep{Generation::gfx11, "gfx1100"}),
    [](const auto& info) { return std::string(info.param.cpu); });

}  // namespace
}  // namespace ww::binpatch::isa
