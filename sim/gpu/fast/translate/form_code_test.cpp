// Host code on forms does what the functions of lane_forms.cpp do, and stops where they do.
#include "fast/translate/form_code.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fast/forms/lane_forms.hpp"
#include "fast/forms/straight_line.hpp"
#include "fast/translate/host_code.hpp"
#include "fast/translate/test_wave.hpp"
#include "fast/translate/translations.hpp"
#include "machine/alu/alu.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec::form_code_test {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;

constexpr std::uint32_t kVectorsUsed = 12;
constexpr std::uint32_t kScalarsUsed = 8;
using translate::kVccPair;
using TestWave = translate::TestWave<kVectorsUsed>;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  std::uint32_t word() {
    static constexpr std::uint32_t kSpecial[] = {
        0, 1, 31, 32, 0x00FFFFFF, 0x01000000, 0x7FFFFFF0, 0x80000000, 0xFFFFFF00, 0xFFFFFFFF};
    if (below(3) == 0) return kSpecial[below(std::size(kSpecial))];
    return static_cast<std::uint32_t>(random_()) >> below(32);
  }
  LaneForm form() {
    static constexpr std::uint32_t kSteps[] = {0, 0, 0, 1, 1, 4, 16, 0xFFFFFFFF, 1U << 20};
    return {word(), below(8) == 0 ? word() : kSteps[below(std::size(kSteps))]};
  }
  Operand source(bool wide) {
    const auto count = static_cast<std::uint8_t>(wide ? 2 : 1);
    const auto vector = static_cast<std::uint16_t>(below(kVectorsUsed - 1));
    switch (below(6)) {
      case 0: return {OperandKind::sgpr, count, static_cast<std::uint16_t>(below(kScalarsUsed)), 0};
      case 1: return {OperandKind::inline_int, 1, 0, below(65)};
      case 2: return {OperandKind::literal, 1, 0, word()};
      default: return {OperandKind::vgpr, count, vector, 0};
    }
  }
  Operand mask() {
    if (below(2) == 0) return kVccPair;
    return {OperandKind::sgpr, 2, static_cast<std::uint16_t>(below(kScalarsUsed)), 0};
  }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(static_cast<std::uint32_t>(all.size()))];
  }

 private:
  std::mt19937 random_;
};

Instruction some_instruction(Dice& dice, Opcode opcode) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::vop3a;
  instruction.opcode = opcode;
  const std::string_view name = binpatch::isa::mnemonic(opcode);
  const bool wide = name.ends_with("_b64");
  const auto to = static_cast<std::uint16_t>(dice.below(kVectorsUsed - 1));
  instruction.dst[0] = {OperandKind::vgpr, static_cast<std::uint8_t>(wide ? 2 : 1), to, 0};
  instruction.dst[1] = dice.mask();
  for (Operand& source : instruction.src) source = dice.source(wide);
  if (name.find("addc") != std::string_view::npos) instruction.src[2] = dice.mask();
  return instruction;
}

// All opcodes of which host code is made.
std::vector<Opcode> followed_opcodes() {
  Dice dice(1);
  ConstantPool pool;
  std::vector<Opcode> opcodes;
  for (std::size_t i = 0; i < binpatch::isa::kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (!binpatch::isa::mnemonic(opcode).starts_with("v_")) continue;
    for (int round = 0; round < 20; ++round) {
      MicroOp op;
      op.opcode = opcode;
      if (!lower_vector(some_instruction(dice, opcode), op, pool, Isa::gfx900)) break;
      if (!translate::can_follow(op)) continue;
      opcodes.push_back(opcode);
      break;
    }
  }
  return opcodes;
}

// Makes code as a program has it: carries that nothing reads are forgotten where `forget`.
std::vector<MicroOp> some_code(Dice& dice, ConstantPool& pool, const std::vector<Opcode>& opcodes,
                               std::size_t count, bool forget) {
  std::vector<MicroOp> code;
  while (code.size() < count) {
    const Opcode opcode = dice.one_of(opcodes);
    const Instruction instruction = some_instruction(dice, opcode);
    MicroOp op;
    op.opcode = opcode;
    if (!lower_vector(instruction, op, pool, Isa::gfx900)) continue;
    if (!translate::can_follow(op)) continue;
    find_registers(instruction, op);
    code.push_back(op);
  }
  if (!forget) return code;
  // Every register is an address, so that no function is taken away.
  const std::size_t instructions = code.size();
  for (std::uint16_t i = 0; i + 1U < kVectorsUsed; ++i) {
    MicroOp load;
    load.unit = Unit::vmem;
    load.memory = MemoryFields{};
    load.memory.lane_addresses = true;
    load.memory.element_bytes = 4;
    load.memory.address = i;
    load.destination = kVectorsUsed;
    code.push_back(load);
  }
  choose_forms(code);
  code.resize(instructions);
  std::erase_if(code, [](const MicroOp& op) { return op.form == nullptr; });
  return code;
}

TestWave some_wave(Dice& dice) {
  TestWave test;
  test.wave.mode = 0x300;  // IEEE and DX10_CLAMP, as compilers ask for
  test.wave.set_pair(kExec, ~std::uint64_t{0});
  for (std::size_t i = 0; i <= kScalarsUsed; ++i) test.wave.sr[i] = dice.word();
  // Masks are often the same for all lanes.
  for (std::size_t i = 0; i < kScalarsUsed; i += 2) {
    if (dice.below(2) == 0) test.wave.set_pair(i, 0U - std::uint64_t{dice.below(2)});
  }
  test.wave.set_pair(kVcc, dice.below(8) == 0 ? dice.word() : 0U - std::uint64_t{dice.below(2)});
  for (std::size_t i = 0; i < kVectorsUsed; ++i) {
    set_form(test.wave, i, dice.form());
    if (i % 2 != 0 && dice.below(2) == 0) test.wave.form[i].step = 0;
  }
  return test;
}

std::string text_of(const std::vector<MicroOp>& code) {
  std::string text;
  for (const MicroOp& op : code) text += std::string(binpatch::isa::mnemonic(op.opcode)) + " ";
  return text;
}

void expect_same(const TestWave& host, const TestWave& plain, const std::string& what) {
  for (std::size_t i = 0; i < kScalarFile; ++i) {
    ASSERT_EQ(host.wave.sr[i], plain.wave.sr[i]) << what << ", scalar register " << i;
  }
  ASSERT_EQ(host.wave.formed, plain.wave.formed) << what;
  ASSERT_EQ(host.wave.unwritten, plain.wave.unwritten) << what;
  for (std::size_t i = 0; i < kVectorsUsed; ++i) {
    if ((plain.wave.formed >> i & 1U) == 0) continue;
    ASSERT_EQ(host.wave.form[i].first, plain.wave.form[i].first) << what << ", first of v" << i;
    ASSERT_EQ(host.wave.form[i].step, plain.wave.form[i].step) << what << ", step of v" << i;
  }
  ASSERT_EQ(host.registers->word, plain.registers->word) << what;
}

// Instructions that the functions of lane_forms.cpp execute before one of them declines.
std::uint32_t follow(Wave& wave, const std::vector<MicroOp>& code) {
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (!code[i].form(wave, code[i])) return i;
  }
  return static_cast<std::uint32_t>(code.size());
}

TEST(FormCode, IsMadeOfAddressArithmetic) {
  const std::vector<Opcode> opcodes = followed_opcodes();
  const std::set<Opcode> made(opcodes.begin(), opcodes.end());
  for (const Opcode opcode :
       {Opcode::v_mov_b32, Opcode::v_add_i32, Opcode::v_add_co_u32, Opcode::v_addc_co_u32,
        Opcode::v_lshl_b64, Opcode::v_lshlrev_b64, Opcode::v_ashrrev_i32, Opcode::v_lshl_add_u32,
        Opcode::v_add_lshl_u32, Opcode::v_add3_u32, Opcode::v_lshlrev_b32, Opcode::v_subrev_u32}) {
    EXPECT_TRUE(made.contains(opcode)) << binpatch::isa::mnemonic(opcode);
  }
}

TEST(FormCode, DoesWhatTheFunctionsDoInstructionByInstruction) {
  Dice dice(2);
  ConstantPool pool;
  for (const Opcode opcode : followed_opcodes()) {
    translate::HostCode host(HostVectors::avx2);
    int followed = 0;
    for (int round = 0; round < 300; ++round) {
      const auto code = some_code(dice, pool, {opcode}, 1, false);
      const auto function = host.make_forms(code.data(), 1);
      ASSERT_NE(function, nullptr);
      for (int i = 0; i < 8; ++i) {
        TestWave by_host = some_wave(dice);
        TestWave plain = by_host;
        const std::uint32_t done = follow(plain.wave, code);
        followed += static_cast<int>(done);
        ASSERT_EQ(function(&by_host.wave), done) << text_of(code) << "in round " << round;
        ASSERT_NO_FATAL_FAILURE(expect_same(by_host, plain, text_of(code)));
      }
    }
    EXPECT_GT(followed, 100) << binpatch::isa::mnemonic(opcode);
  }
}

TEST(FormCode, StopsWhereTheFunctionsDo) {
  Dice dice(3);
  ConstantPool pool;
  const auto opcodes = followed_opcodes();
  translate::HostCode host(HostVectors::avx2);
  int whole = 0;
  int stopped = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto code = some_code(dice, pool, opcodes, 1 + dice.below(12), round % 2 == 0);
    const auto count = static_cast<std::uint32_t>(code.size());
    const auto function = host.make_forms(code.data(), count);
    for (int i = 0; i < 8; ++i) {
      TestWave by_host = some_wave(dice);
      TestWave plain = by_host;
      const std::uint32_t done = follow(plain.wave, code);
      ++(done == count ? whole : stopped);
      ASSERT_EQ(function(&by_host.wave), done) << text_of(code);
      ASSERT_NO_FATAL_FAILURE(expect_same(by_host, plain, text_of(code)));
    }
  }
  EXPECT_GT(whole, 1000);
  EXPECT_GT(stopped, 1000);
}

// A run goes on lane by lane where a form ends, and where it cannot begin.
TEST(FormCode, HandsTheRestToTheInterpreter) {
  if (!has_vectors(HostVectors::avx2)) GTEST_SKIP() << "this host has no such vectors";
  Dice dice(4);
  ConstantPool pool;
  const auto opcodes = followed_opcodes();
  std::uint64_t made = 0;
  for (int round = 0; round < 600; ++round) {
    const auto code = some_code(dice, pool, opcodes, 1 + dice.below(12), false);
    const auto count = static_cast<std::uint32_t>(code.size());
    Translations translations(code, 0, HostVectors::avx2);
    for (int i = 0; i < 8; ++i) {
      TestWave translated = some_wave(dice);
      if (i >= 4 && dice.below(2) == 0) {
        const std::uint64_t some = std::uint64_t{1} << dice.below(kVectorsUsed);
        write_lanes(translated.wave, some);
        overwrite(translated.wave, some, true);
      }
      if (i >= 4 && dice.below(4) == 0) translated.wave.set_pair(kExec, dice.word());
      TestWave plain = translated;
      const std::uint64_t lanes = execute_straight(plain.wave, code.data(), count);
      ASSERT_EQ(translations.execute(translated.wave, 0, count), lanes) << text_of(code);
      write_lanes(plain.wave, plain.wave.unwritten);
      write_lanes(translated.wave, translated.wave.unwritten);
      for (std::size_t word = 0; word < kVectorsUsed * kLanes; ++word) {
        ASSERT_EQ(translated.wave.v[word], plain.wave.v[word]) << text_of(code);
      }
      for (std::size_t word = 0; word < kScalarFile; ++word) {
        ASSERT_EQ(translated.wave.sr[word], plain.wave.sr[word]) << text_of(code);
      }
    }
    made += translations.made();
  }
  EXPECT_GT(made, 500);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::form_code_test
