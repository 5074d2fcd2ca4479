// Translated code does to a wave what the interpreter does, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fast/forms/lane_forms.hpp"
#include "fast/forms/straight_line.hpp"
#include "fast/translate/host_code.hpp"
#include "fast/translate/operation.hpp"
#include "fast/translate/parts.hpp"
#include "fast/translate/slice_assembler.hpp"
#include "fast/translate/slice_group.hpp"
#include "fast/translate/stretch.hpp"
#include "fast/translate/test_wave.hpp"
#include "fast/translate/translations.hpp"
#include "machine/alu/alu.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec::translate_test {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;

constexpr std::uint32_t kVectorsUsed = 72;  // some of them beyond those with forms
constexpr std::uint32_t kScalarsUsed = 24;
constexpr std::uint32_t kKeepDenormals = 0x30;
constexpr std::uint32_t kClampNan = 0x100;
constexpr std::uint32_t kIeee = 0x200;
constexpr std::uint32_t kUsual = kClampNan | kIeee;  // as compilers ask for

using translate::kVccPair;
using TestWave = translate::TestWave<kVectorsUsed>;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  std::uint64_t mask() { return std::uint64_t{below(~0U)} << 32 | below(~0U); }
  // Floats and halves of doubles of every class, NaNs with payloads among them, and integers of
  // every size.
  std::uint32_t word() {
    static constexpr std::array<std::uint32_t, 26> kSpecial{
        0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000,
        0xBF800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC01234,
        0xFFC04321, 0x7F800001, 0xFFA00000, 31,         32,         0xFFFFFFFF, 0x3FF00000,
        0x000FFFFF, 0x7FF00000, 0xFFF00000, 0x7FF80000, 0xFFF80000};
    switch (below(6)) {
      case 0: return kSpecial[below(kSpecial.size())];
      case 1: return below(1U << below(32));
      case 2: return 0x3E000000U + below(0x03000000) + (below(2) << 31);
      case 3: return below(0x02000000) + (below(2) << 31);  // denormals and their kin
      case 4: return 0x7FC00000U + below(0x400000) + (below(2) << 31);
      default: return below(~0U);
    }
  }
  // An ordinary float, or, once in `wild_once_in` times, any word.
  std::uint32_t tame_word(std::uint32_t wild_once_in) {
    if (below(wild_once_in) == 0) return word();
    return 0x3C000000U + below(0x07000000) + (below(2) << 31);
  }
  Operand source() {
    const auto index = static_cast<std::uint16_t>(below(kVectorsUsed - 4));
    switch (below(8)) {
      case 0: return {OperandKind::sgpr, 1, static_cast<std::uint16_t>(below(kScalarsUsed)), 0};
      case 1: return {OperandKind::inline_int, 1, 0, below(65)};
      case 2: return {OperandKind::literal, 1, 0, word()};
      // Few registers, so that results are used again.
      default:
        return {OperandKind::vgpr, 1, static_cast<std::uint16_t>(below(3) ? index % 8 : index), 0};
    }
  }
  Operand pair() {
    if (below(2) == 0) return kVccPair;
    return {OperandKind::sgpr, 2, static_cast<std::uint16_t>(below(kScalarsUsed - 1)), 0};
  }

 private:
  std::mt19937 random_;
};

Instruction some_instruction(Dice& dice, Opcode opcode) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::vop3a;
  instruction.opcode = opcode;
  const std::string_view name = binpatch::isa::mnemonic(opcode);
  if (name.starts_with("v_cmp")) {
    instruction.dst[0] = dice.pair();
  } else {
    instruction.dst[0] = dice.source();
    instruction.dst[0].kind = OperandKind::vgpr;
    const std::uint32_t written = instruction.dst[0].index % (kVectorsUsed - 4);
    instruction.dst[0].index = static_cast<std::uint16_t>(written);
    instruction.dst[1] = dice.pair();
  }
  for (auto& source : instruction.src) source = dice.source();
  const bool reads_mask = name.find("addc") != std::string_view::npos ||
                          name.find("subb") != std::string_view::npos || name == "v_cndmask_b32";
  if (reads_mask) instruction.src[2] = dice.pair();
  if (dice.below(3) == 0) instruction.modifiers.abs = static_cast<std::uint8_t>(dice.below(8));
  if (dice.below(3) == 0) instruction.modifiers.neg = static_cast<std::uint8_t>(dice.below(8));
  if (dice.below(6) == 0) instruction.modifiers.omod = static_cast<std::uint8_t>(dice.below(4));
  if (dice.below(6) == 0) instruction.modifiers.clamp = true;
  return instruction;
}

std::uint64_t some_exec(Dice& dice) {
  switch (dice.below(4)) {
    case 0: return dice.mask();
    case 1: return dice.mask() & 0x0000FFFF'FFFF0000;  // whole slices are off
    default: return ~std::uint64_t{0};
  }
}

constexpr std::uint32_t kWild = 1;

TestWave some_wave(Dice& dice, std::uint32_t wild_once_in, std::uint32_t mode = kUsual) {
  TestWave test;
  Wave& wave = test.wave;
  wave.mode = dice.below(2) == 0 ? kKeepDenormals : 0;
  wave.mode |= mode;
  for (auto& word : test.registers->word) word = dice.tame_word(wild_once_in);
  for (std::size_t i = 0; i < kScalarFile; ++i) wave.sr[i] = dice.word();
  wave.set_pair(kExec, some_exec(dice));
  for (std::size_t i = 0; i < 16; ++i) {
    if (wild_once_in == kWild && dice.below(4) == 0)
      set_form(wave, dice.below(kForms), {dice.word(), dice.below(5)});
  }
  return test;
}

// Code without an instruction that could leave the wave's registers. With fewer vector registers it
// is one stretch: all masks are vcc, and nothing is left to the interpreter.
std::vector<MicroOp> some_code(Dice& dice, ConstantPool& pool, const std::vector<Opcode>& opcodes,
                               std::size_t count, std::uint32_t vectors = kVectorsUsed) {
  std::vector<MicroOp> code;
  const auto keep_below = [vectors](Operand& operand) {
    if (operand.kind == OperandKind::vgpr) {
      operand.index = static_cast<std::uint16_t>(operand.index % vectors);
    } else if (operand.kind == OperandKind::sgpr && operand.count == 2 && vectors < kVectorsUsed) {
      operand = kVccPair;
    }
  };
  while (code.size() < count) {
    const Opcode opcode = opcodes[dice.below(static_cast<std::uint32_t>(opcodes.size()))];
    Instruction instruction = some_instruction(dice, opcode);
    for (Operand& target : instruction.dst) keep_below(target);
    for (Operand& source : instruction.src) keep_below(source);
    MicroOp op;
    op.opcode = opcode;
    if (!lower_vector(instruction, op, pool, Isa::gfx900) || !op.straight || !op.whole) continue;
    if (vectors < kVectorsUsed && !translate::can_translate(op, true)) continue;
    find_registers(instruction, op);
    code.push_back(op);
  }
  return code;
}

// A packed instruction on pairs of floats.
Instruction some_packed(Dice& dice) {
  static constexpr std::array kOpcodes{Opcode::v_pk_fma_f32, Opcode::v_pk_add_f32,
                                       Opcode::v_pk_mul_f32, Opcode::v_pk_mov_b32};
  Instruction instruction = some_instruction(dice, kOpcodes[dice.below(kOpcodes.size())]);
  instruction.encoding = binpatch::isa::Encoding::vop3p;
  instruction.modifiers.omod = 0;
  for (auto& source : instruction.src) {
    if (source.kind == OperandKind::literal) source.kind = OperandKind::inline_int;
  }
  if (dice.below(2) == 0) {
    instruction.modifiers.op_sel = static_cast<std::uint8_t>(dice.below(8));
    instruction.modifiers.op_sel_hi = static_cast<std::uint8_t>(dice.below(8));
  } else {
    instruction.modifiers.op_sel_hi = 7;
  }
  return instruction;
}

// The two instructions of a dual issue.
Instruction some_dual(Dice& dice) {
  constexpr std::uint32_t kFirst = 13;  // by number; the second may also be one of three more
  Instruction instruction = some_instruction(dice, Opcode::v_dual);
  instruction.encoding = binpatch::isa::Encoding::vopd;
  instruction.modifiers = {};
  const std::uint32_t second = dice.below(kFirst + 3);
  instruction.modifiers.immediate =
      static_cast<std::int32_t>(dice.below(kFirst) | (second < kFirst ? second : second + 3) << 8);
  instruction.modifiers.extra_dword = dice.word();
  instruction.dst[1] = instruction.dst[0];
  instruction.dst[1].index ^= 1U;
  for (const std::size_t i : {1, 3}) {
    instruction.src.at(i).kind = OperandKind::vgpr;
    instruction.src.at(i).index %= 8;
  }
  return instruction;
}

// Instructions that are two in one, and some others.
std::vector<MicroOp> some_doubles(Dice& dice, ConstantPool& pool, const std::vector<Opcode>& others,
                                  std::size_t count) {
  std::vector<MicroOp> code;
  while (code.size() < count) {
    if (dice.below(3) == 0) {
      code.push_back(some_code(dice, pool, others, 1).front());
      continue;
    }
    const bool packed = dice.below(2) == 0;
    const Instruction instruction = packed ? some_packed(dice) : some_dual(dice);
    MicroOp op;
    op.opcode = instruction.opcode;
    const bool known = packed ? lower_vector(instruction, op, pool, Isa::gfx90a)
                              : lower_dual(instruction, op, pool, Isa::gfx1100);
    if (!known || !op.straight) continue;
    find_registers(instruction, op);
    code.push_back(op);
  }
  return code;
}

void expect_same(TestWave& translated, TestWave& interpreted, const std::string& what) {
  write_lanes(translated.wave, translated.wave.unwritten);
  write_lanes(interpreted.wave, interpreted.wave.unwritten);
  for (std::size_t i = 0; i < kScalarFile; ++i) {
    ASSERT_EQ(translated.wave.sr[i], interpreted.wave.sr[i]) << what << ", scalar register " << i;
  }
  for (std::size_t i = 0; i < translated.registers->word.size(); ++i) {
    ASSERT_EQ(translated.registers->word[i], interpreted.registers->word[i])
        << what << ", v" << i / kLanes << " lane " << i % kLanes;
  }
}

std::string text_of(const std::vector<MicroOp>& code) {
  std::string text;
  for (const MicroOp& op : code) text += std::string(binpatch::isa::mnemonic(op.opcode)) + " ";
  return text;
}

std::vector<Opcode> opcodes_where(bool (*wanted)(Opcode)) {
  std::vector<Opcode> opcodes;
  for (std::size_t i = 0; i < binpatch::isa::kOpcodeCount; ++i) {
    if (wanted(static_cast<Opcode>(i))) opcodes.push_back(static_cast<Opcode>(i));
  }
  return opcodes;
}

bool is_translated(Opcode opcode) {
  return translate::operation_of(opcode).action != translate::Action::none;
}
bool is_vector(Opcode opcode) {
  return binpatch::isa::mnemonic(opcode).starts_with("v_");
}

void compare(HostVectors vectors, Dice& dice, const std::vector<MicroOp>& code, int waves,
             std::uint64_t* made, std::uint32_t wild_once_in = kWild) {
  Translations translations(code, 0, vectors);
  const auto count = static_cast<std::uint32_t>(code.size());
  const std::uint32_t mode = dice.below(3) != 0 ? kUsual : dice.below(4) * kClampNan;
  for (int i = 0; i < waves; ++i) {
    TestWave translated = some_wave(dice, wild_once_in, mode);
    TestWave interpreted = translated;
    const std::uint64_t lanes = translations.execute(translated.wave, 0, count);
    ASSERT_EQ(lanes, execute_straight(interpreted.wave, code.data(), count)) << text_of(code);
    ASSERT_NO_FATAL_FAILURE(expect_same(translated, interpreted, text_of(code)));
  }
  *made += translations.made();
}

// Runs with each set of vectors that translated code may use, as far as this host has it.
class Translate : public testing::TestWithParam<HostVectors> {
 protected:
  void SetUp() override {
    if (!has_vectors(GetParam())) GTEST_SKIP() << "this host has no such vectors";
  }
};
INSTANTIATE_TEST_SUITE_P(On, Translate, testing::Values(HostVectors::avx2, HostVectors::avx512),
                         [](const testing::TestParamInfo<HostVectors>& vectors) {
                           return vectors.param == HostVectors::avx2 ? "Avx2" : "Avx512";
                         });

TEST_P(Translate, DoesWhatTheInterpreterDoesInstructionByInstruction) {
  Dice dice(5);
  ConstantPool pool;
  for (const Opcode opcode : opcodes_where(is_translated)) {
    std::uint64_t made = 0;
    for (int round = 0; round < 60; ++round) {
      const auto code = some_code(dice, pool, {opcode}, 2);
      ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 4, &made));
    }
    EXPECT_GT(made, 20) << binpatch::isa::mnemonic(opcode);
  }
}

TEST_P(Translate, DoesWhatTheInterpreterDoesInLongStretches) {
  Dice dice(6);
  ConstantPool pool;
  const auto opcodes = opcodes_where(is_translated);
  std::uint64_t made = 0;
  for (int round = 0; round < 400; ++round) {
    const auto code = some_code(dice, pool, opcodes, 1 + dice.below(120));
    ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 3, &made));
  }
  EXPECT_GT(made, 400);
}

TEST_P(Translate, DoesTwoInstructionsInOneOneAfterTheOther) {
  Dice dice(14);
  ConstantPool pool;
  const auto others = opcodes_where(is_translated);
  std::uint64_t made = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto code = some_doubles(dice, pool, others, 1 + dice.below(round % 2 == 0 ? 3 : 40));
    const std::uint32_t wild_once_in = round % 3 == 0 ? kWild : 1000;
    ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 3, &made, wild_once_in));
  }
  EXPECT_GT(made, 2000);
}

// v[first:first+1] = v[2:3] * v[at:at+1], of which `op_sel` and `op_sel_hi` choose.
MicroOp packed_product(ConstantPool& pool, std::uint16_t first, std::uint16_t at,
                       std::uint8_t op_sel, std::uint8_t op_sel_hi) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::vop3p;
  instruction.opcode = Opcode::v_pk_mul_f32;
  instruction.dst[0] = {OperandKind::vgpr, 2, first, 0};
  instruction.src[0] = {OperandKind::vgpr, 2, 2, 0};
  instruction.src[1] = {OperandKind::vgpr, 2, at, 0};
  instruction.modifiers.op_sel = op_sel;
  instruction.modifiers.op_sel_hi = op_sel_hi;
  MicroOp op;
  op.opcode = instruction.opcode;
  EXPECT_TRUE(lower_vector(instruction, op, pool, Isa::gfx90a));
  return op;
}

TEST(Parts, ComeInAnOrderInWhichTheSecondReadsNothingOfTheFirst) {
  ConstantPool pool;
  const auto destinations = [&](const MicroOp& op) -> std::vector<std::uint16_t> {
    const auto parts = translate::parts_of(op, false);
    if (!parts) return {};
    return {(*parts)[0].destination, (*parts)[1].destination};
  };
  using Registers = std::vector<std::uint16_t>;
  EXPECT_EQ(destinations(packed_product(pool, 4, 4, 0, 3)), (Registers{4, 5}));
  // Both results are of v4: it comes last.
  EXPECT_EQ(destinations(packed_product(pool, 4, 4, 0, 1)), (Registers{5, 4}));
  // v4 is of v5, and v5 of v4.
  EXPECT_EQ(destinations(packed_product(pool, 4, 4, 2, 1)), Registers{});
  EXPECT_TRUE(translate::has_parts(packed_product(pool, 4, 4, 2, 1)));
  MicroOp add;
  add.opcode = Opcode::v_add_f32;
  EXPECT_FALSE(translate::has_parts(add));
}

// Most lanes have ordinary numbers, as in programs; a NaN or a denormal is somewhere, or nowhere.
TEST_P(Translate, DoesWhatTheInterpreterDoesWithFewSpecialNumbers) {
  Dice dice(9);
  ConstantPool pool;
  const auto floats = opcodes_where([](Opcode opcode) {
    const auto action = translate::operation_of(opcode).action;
    return (action >= translate::Action::float_add && action <= translate::Action::divide_fix) ||
           action == translate::Action::compare_float;
  });
  auto opcodes = opcodes_where(is_translated);
  for (int i = 0; i < 12; ++i) opcodes.insert(opcodes.end(), floats.begin(), floats.end());
  std::uint64_t made = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto code = some_code(dice, pool, opcodes, 1 + dice.below(12));
    const std::uint32_t wild_once_in = round % 2 == 0 ? 1000 : 1'000'000;
    ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 4, &made, wild_once_in));
  }
  EXPECT_GT(made, 3000);
}

// Every special number against every other, alone in one lane.
TEST_P(Translate, SeesOneSpecialNumberAmongOrdinaryOnes) {
  constexpr std::array<std::uint32_t, 14> kNumbers{
      0,          0x80000000, 1,          0x807FFFFF, 0x00800000, 0x80800001, 0x7F7FFFFF,
      0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC01234, 0x7F800001, 0x3F800000};
  Dice dice(10);
  ConstantPool pool;
  for (const char* const name :
       {"v_add_f32", "v_sub_f32", "v_mul_f32", "v_mac_f32", "v_mad_f32", "v_fma_f32", "v_min_f32",
        "v_max_f32", "v_rcp_f32", "v_rsq_f32", "v_sqrt_f32", "v_cmp_lt_f32", "v_cmp_neq_f32"}) {
    const auto found = opcodes_where(is_vector);
    const auto opcode = std::ranges::find_if(
        found, [&](Opcode each) { return binpatch::isa::mnemonic(each) == name; });
    ASSERT_NE(opcode, found.end()) << name;
    // Repeats the instruction often enough that hope is worth it, on registers of its own.
    std::vector<MicroOp> code;
    for (std::uint16_t i = 0; i < 4; ++i) {
      Instruction instruction = some_instruction(dice, *opcode);
      instruction.modifiers = {};
      for (std::uint16_t source = 0; source < 3; ++source) {
        instruction.src[source] = {OperandKind::vgpr, 1, source, 0};
      }
      if (instruction.dst[0].kind == OperandKind::vgpr) {
        instruction.dst[0].index = static_cast<std::uint16_t>(8 + i);
      } else {
        instruction.dst[0] = {OperandKind::sgpr, 2, static_cast<std::uint16_t>(2 * i), 0};
      }
      MicroOp op;
      op.opcode = *opcode;
      ASSERT_TRUE(lower_vector(instruction, op, pool, Isa::gfx900)) << name;
      find_registers(instruction, op);
      code.push_back(op);
    }
    Translations translations(code, 0, GetParam());
    for (const std::uint32_t x : kNumbers) {
      for (const std::uint32_t y : kNumbers) {
        TestWave translated = some_wave(dice, 1'000'000'000);
        const std::size_t lane = dice.below(kLanes);
        for (std::size_t i = 0; i < 3; ++i) {
          translated.registers->word[i * kLanes + lane] = std::array{x, y, y}[i];
        }
        TestWave interpreted = translated;
        translations.execute(translated.wave, 0, 4);
        execute_straight(interpreted.wave, code.data(), 4);
        ASSERT_NO_FATAL_FAILURE(expect_same(translated, interpreted, name)) << x << ", " << y;
      }
    }
    EXPECT_NE(translations.made(), 0U) << name;
  }
}

std::vector<const MicroOp*> pointers_to(const std::vector<MicroOp>& code) {
  std::vector<const MicroOp*> pointers;
  pointers.reserve(code.size());
  for (const MicroOp& op : code) pointers.push_back(&op);
  return pointers;
}

// Few registers or short code, so that slices go through it in groups of every size.
TEST_P(Translate, DoesWhatTheInterpreterDoesInGroupsOfSlices) {
  Dice dice(11);
  ConstantPool pool;
  const auto opcodes = opcodes_where(is_translated);
  const auto floats_and_bits = opcodes_where([](Opcode opcode) {
    const auto action = translate::operation_of(opcode).action;
    MicroOp plain;
    plain.vector = {};  // a part of a union, and so not cleared by itself
    return is_translated(opcode) &&
           (translate::can_hope(plain, {action}) || action <= translate::Action::compare_signed);
  });
  std::set<std::uint32_t> sizes;
  std::uint64_t made = 0;
  for (int round = 0; round < 600; ++round) {
    const auto& wanted = round % 3 == 0 ? opcodes : floats_and_bits;
    const std::uint32_t vectors = 2 + dice.below(dice.below(2) == 0 ? 9 : 40);
    const std::size_t count = dice.below(4) == 0 ? 2 + dice.below(6) : 30 + dice.below(150);
    const auto code = some_code(dice, pool, wanted, count, vectors);
    sizes.insert(translate::group_for(pointers_to(code), GetParam()).slices);
    const std::uint32_t wild_once_in = round % 2 == 0 ? kWild : 1'000'000;
    ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 3, &made, wild_once_in));
  }
  // All eight slices of AVX2 may go together where masks alone are made.
  for (const std::uint32_t slices : {1U, 2U, 4U}) EXPECT_TRUE(sizes.contains(slices)) << slices;
  EXPECT_GT(made, 600);
}

// Where the code looks for NaNs: at its end alone, also before bits between, or only before these.
enum class Bits : std::uint8_t { none, between, between_and_last };

// Code whose registers keep to ordinary numbers, on `chains` chains: x = x * v0 + v1, with a mask,
// a choice and bits between, or without; the last bits are others for other NaNs. Every x is read
// and overwritten.
std::vector<MicroOp> tame_code(ConstantPool& pool, std::uint32_t chains, Bits bits) {
  constexpr std::uint32_t kTurns = 32;
  const auto vector = [](std::uint32_t i) {
    return Operand{OperandKind::vgpr, 1, static_cast<std::uint16_t>(i), 0};
  };
  std::vector<MicroOp> code;
  for (std::uint32_t i = 0; i < kTurns * chains; ++i) {
    const std::uint32_t x = 2 + i % chains;
    Instruction instruction{};
    instruction.encoding = binpatch::isa::Encoding::vop3a;
    instruction.dst[0] = vector(x);
    instruction.src[0] = vector(x);
    instruction.src[1] = vector(0);
    instruction.src[2] = vector(1);
    switch (bits == Bits::none ? 0 : i / chains % 16) {
      case 7:
        instruction.opcode = Opcode::v_cmp_lt_f32;
        instruction.dst[0] = kVccPair;
        instruction.src[0] = vector(1);
        instruction.src[2] = {};
        break;
      case 8:
        instruction.opcode = Opcode::v_cndmask_b32;
        instruction.src[2] = kVccPair;
        break;
      case 12:
        instruction.opcode = Opcode::v_and_b32;
        instruction.src[1] = {OperandKind::literal, 1, 0, 0xFFFF'FFF0};
        instruction.src[2] = {};
        break;
      default: instruction.opcode = i % 3 == 0 ? Opcode::v_fma_f32 : Opcode::v_mad_f32; break;
    }
    if (bits == Bits::between_and_last && i / chains + 1 == kTurns) {
      instruction.opcode = Opcode::v_lshrrev_b32;
      instruction.src[0] = {OperandKind::inline_int, 1, 0, 2};
      instruction.src[1] = vector(x);
      instruction.src[2] = {};
    }
    MicroOp op;
    op.opcode = instruction.opcode;
    EXPECT_TRUE(lower_vector(instruction, op, pool, Isa::gfx900));
    find_registers(instruction, op);
    code.push_back(op);
  }
  return code;
}

// Then the whole group begins anew, with what the wave had.
void fail_in_each_slice(HostVectors vectors, Dice& dice, const std::vector<MicroOp>& code,
                        std::uint32_t chains) {
  constexpr std::uint32_t kInfinity = 0x7F800000;
  constexpr std::array<std::uint32_t, 6> kNumbers{0x3F000000, 1,          0x807FFFFF,
                                                  kInfinity,  0x7FC01234, 0x7F800001};
  const translate::SliceShape shape = translate::shape_of(vectors);
  Translations translations(code, 0, vectors);
  const auto count = static_cast<std::uint32_t>(code.size());
  for (int round = 0; round < 8; ++round) {
    for (std::uint32_t slice = 0; slice < shape.slices(); ++slice) {
      for (const std::uint32_t number : kNumbers) {
        TestWave translated = some_wave(dice, 1'000'000'000);
        auto& word = translated.registers->word;
        translated.wave.set_pair(kExec, ~std::uint64_t{0});
        for (std::uint32_t i = 0; i < (2 + chains) * kLanes; ++i) {  // from 0.25 to 0.5
          word[i] = 0x3E800000 + dice.below(0x00800000);
        }
        const std::uint32_t lane = slice * shape.lanes + dice.below(shape.lanes);
        word[(2 + dice.below(chains)) * kLanes + lane] = number;
        if (number == kInfinity) word[lane] = 0;  // their product is a NaN of the host's own
        TestWave interpreted = translated;
        translations.execute(translated.wave, 0, count);
        execute_straight(interpreted.wave, code.data(), count);
        ASSERT_NO_FATAL_FAILURE(expect_same(translated, interpreted, std::to_string(chains)))
            << number << " in slice " << slice;
      }
    }
  }
  EXPECT_NE(translations.made(), 0U);
}

TEST_P(Translate, DoesAGroupAnewWhereHopeFailsInOneOfItsSlices) {
  Dice dice(12);
  ConstantPool pool;
  using Sizes = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // by chains
  const Sizes sizes = GetParam() == HostVectors::avx512
                          ? Sizes{{1, 4}, {2, 4}, {4, 2}, {6, 2}, {14, 1}, {26, 1}}
                          : Sizes{{1, 4}, {2, 2}, {3, 2}, {6, 1}, {11, 1}, {26, 1}};
  for (const auto& [chains, slices] : sizes) {
    for (const Bits bits : {Bits::none, Bits::between, Bits::between_and_last}) {
      const auto code = tame_code(pool, chains, bits);
      ASSERT_EQ(translate::group_for(pointers_to(code), GetParam()).slices, slices) << chains;
      ASSERT_NO_FATAL_FAILURE(fail_in_each_slice(GetParam(), dice, code, chains));
    }
  }
}

TEST_P(Translate, ChoosesTheSizeOfAGroupByTheLengthOfCode) {
  ConstantPool pool;
  const auto code = tame_code(pool, 1, Bits::none);
  const auto pointers = pointers_to(code);
  EXPECT_EQ(translate::group_for(pointers, GetParam()).slices, 4U);
  const auto few = std::span(pointers).first(10);
  EXPECT_EQ(translate::group_for(few, GetParam()).slices,
            GetParam() == HostVectors::avx512 ? 1U : 4U);
}

// The host need not have the vectors: nothing is executed.
TEST(HostCode, HasRegistersEnoughForEveryStretch) {
  Dice dice(13);
  ConstantPool pool;
  const auto opcodes = opcodes_where(is_translated);
  for (const HostVectors vectors : {HostVectors::avx2, HostVectors::avx512}) {
    translate::HostCode host(vectors);
    for (int round = 0; round < 200; ++round) {
      const auto code = some_code(dice, pool, opcodes, 1 + dice.below(120));
      for (const bool flush : {false, true}) {
        const std::vector<bool> by_form(code.size());
        for (const auto& stretch : translate::divide(code.data(), by_form, flush)) {
          if (stretch.translation != translate::Translation::lanes) continue;
          for (const bool masked : {false, true}) {
            ASSERT_NE(host.make(stretch.first, stretch.count, {flush, true}, masked), nullptr)
                << text_of({stretch.first, stretch.first + stretch.count});
          }
        }
      }
    }
  }
}

// Instructions that are not translated stand between.
TEST_P(Translate, LeavesOtherInstructionsToTheInterpreter) {
  Dice dice(7);
  ConstantPool pool;
  auto opcodes = opcodes_where(is_vector);
  const auto translated = opcodes_where(is_translated);
  for (int i = 0; i < 6; ++i) opcodes.insert(opcodes.end(), translated.begin(), translated.end());
  std::uint64_t made = 0;
  for (int round = 0; round < 200; ++round) {
    const auto code = some_code(dice, pool, opcodes, 1 + dice.below(60));
    ASSERT_NO_FATAL_FAILURE(compare(GetParam(), dice, code, 3, &made));
  }
  EXPECT_GT(made, 200);
}

TEST_P(Translate, InterpretsWhatIsExecutedSeldom) {
  Dice dice(8);
  ConstantPool pool;
  const auto code = some_code(dice, pool, {Opcode::v_mul_f32}, 4);
  Translations translations(code, 10, GetParam());
  TestWave test = some_wave(dice, kWild);
  test.wave.set_pair(kExec, ~std::uint64_t{0});
  for (int i = 0; i < 20; ++i) translations.execute(test.wave, 0, 4);
  EXPECT_EQ(translations.made(), 0U);
  for (int i = 0; i < 4; ++i) translations.execute(test.wave, 0, 4);
  EXPECT_EQ(translations.made(), 1U);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::translate_test
