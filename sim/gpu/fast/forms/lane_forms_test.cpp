#include "fast/forms/lane_forms.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "machine/alu/alu.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec::lane_forms_test {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;
using binpatch::isa::SpecialRegister;

constexpr std::uint16_t kTarget = 40;
const Operand kVccPair{OperandKind::special, 2, static_cast<std::uint16_t>(SpecialRegister::vcc_lo),
                       0};

struct TestWave {
  struct alignas(64) Registers {
    std::uint32_t word[kForms * kLanes]{};
  };
  Wave wave{};
  std::unique_ptr<Registers> registers = std::make_unique<Registers>();

  TestWave() {
    wave.v = registers->word;
    wave.set_pair(kExec, ~std::uint64_t{0});
  }
  [[nodiscard]] std::vector<std::uint32_t> lanes_of(std::size_t index) {
    return {wave.vgpr(index), wave.vgpr(index) + kLanes};
  }
};

std::uint32_t some_word(std::mt19937& random) {
  static constexpr std::uint32_t kSpecial[] = {
      0, 1, 31, 32, 0x00FFFFFF, 0x01000000, 0x7FFFFFF0, 0x80000000, 0xFFFFFF00, 0xFFFFFFFF};
  if (random() % 2 == 0) return kSpecial[random() % std::size(kSpecial)];
  return static_cast<std::uint32_t>(random() >> random() % 32);
}

LaneForm some_form(std::mt19937& random) {
  static constexpr std::uint32_t kSteps[] = {0, 0, 1, 1, 4, 16, 0xFFFFFFFF, 0xFFFFFFFC, 1U << 26};
  const std::uint32_t step = random() % 8 == 0 ? some_word(random) : kSteps[random() % 9];
  return {some_word(random), step};
}

Operand some_operand(std::mt19937& random, std::uint16_t index, bool wide) {
  const auto count = static_cast<std::uint8_t>(wide ? 2 : 1);
  switch (random() % 5) {
    case 0: return {OperandKind::sgpr, count, index, 0};
    case 1: return {OperandKind::inline_int, 1, 0, static_cast<std::uint32_t>(random() % 65)};
    case 2: return {OperandKind::literal, 1, 0, some_word(random)};
    default: return {OperandKind::vgpr, count, index, 0};
  }
}

Instruction some_instruction(std::mt19937& random, Opcode opcode) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::vop2;
  instruction.opcode = opcode;
  const std::string_view name = binpatch::isa::mnemonic(opcode);
  const bool wide = name.find("64") != std::string_view::npos;
  const bool compare = name.starts_with("v_cmp");
  const bool product = name.starts_with("v_mad");
  instruction.dst[0] =
      compare ? kVccPair : Operand{OperandKind::vgpr, std::uint8_t(wide ? 2 : 1), kTarget, 0};
  if (!compare) instruction.dst[1] = kVccPair;
  const bool masked = name.find("addc") != std::string_view::npos || name == "v_cndmask_b32";
  const std::size_t sources = masked ? 2 : 3;
  for (std::uint16_t i = 0; i < sources; ++i) {
    instruction.src[i] =
        some_operand(random, static_cast<std::uint16_t>(10 + 4 * i), wide && (!product || i == 2));
  }
  return instruction;
}

// Every instruction that has a function does with forms what it does lane by lane, or says that it
// cannot and changes nothing.
TEST(LaneForms, GiveWhatTheLanesGive) {
  std::mt19937 random(3);
  ConstantPool pool;
  int opcodes = 0;
  for (std::size_t number = 0; number < binpatch::isa::kOpcodeCount; ++number) {
    const auto opcode = static_cast<Opcode>(number);
    if (!binpatch::isa::mnemonic(opcode).starts_with("v_")) continue;
    const Isa isa = opcode == Opcode::v_lshl_add_u64 ? Isa::gfx942 : Isa::gfx7;
    int tried = 0;
    int followed = 0;
    for (int round = 0; round < 400; ++round) {
      const Instruction instruction = some_instruction(random, opcode);
      MicroOp op;
      op.opcode = opcode;
      if (!lower_vector(instruction, op, pool, isa)) break;
      find_registers(instruction, op);
      if (op.form == nullptr) continue;
      ++tried;
      TestWave by_form;
      TestWave by_lane;
      for (std::size_t index = kVcc; index < kVcc + 2; ++index) {
        by_form.wave.sr[index] = round % 4 == 0 ? some_word(random) : 0U - (round & 1U);
      }
      for (std::size_t index = 0; index < 30; ++index) {
        by_form.wave.sr[index] = some_word(random);
        set_form(by_form.wave, index, some_form(random));
      }
      // Pairs whose upper words are the same for all lanes, as addresses have them.
      if (round % 2 == 0) {
        for (std::size_t index = 1; index < 30; index += 2) by_form.wave.form[index].step = 0;
      }
      std::uint32_t* const v = by_lane.wave.v;
      by_lane.wave = by_form.wave;
      by_lane.wave.v = v;
      write_lanes(by_lane.wave, by_lane.wave.unwritten);
      op.run(by_lane.wave, op);

      const std::uint64_t formed = by_form.wave.formed;
      const std::uint64_t mask = by_form.wave.pair(kVcc);
      if (!op.form(by_form.wave, op)) {
        EXPECT_EQ(by_form.wave.formed, formed);
        EXPECT_EQ(by_form.wave.pair(kVcc), mask);
        continue;
      }
      ++followed;
      write_lanes(by_form.wave, by_form.wave.unwritten);
      ASSERT_EQ(by_form.wave.pair(kVcc), by_lane.wave.pair(kVcc))
          << binpatch::isa::mnemonic(opcode) << " in round " << round;
      for (std::size_t index = kTarget; index < kTarget + 2U; ++index) {
        ASSERT_EQ(by_form.lanes_of(index), by_lane.lanes_of(index))
            << binpatch::isa::mnemonic(opcode) << " in round " << round;
      }
    }
    if (tried == 0) continue;
    ++opcodes;
    EXPECT_GT(followed, 10) << binpatch::isa::mnemonic(opcode);
  }
  EXPECT_GT(opcodes, 44);
}

// v[to] = v[to] + v[to], with the carries in vcc, and from there where `carry_in`.
MicroOp twice(std::uint16_t to, bool carry_in, ConstantPool& pool) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::vop2;
  instruction.opcode = carry_in ? Opcode::v_addc_u32 : Opcode::v_add_i32;
  instruction.dst[0] = instruction.src[0] = instruction.src[1] = {OperandKind::vgpr, 1, to, 0};
  instruction.dst[1] = kVccPair;
  if (carry_in) instruction.src[2] = kVccPair;
  MicroOp op;
  op.opcode = instruction.opcode;
  EXPECT_TRUE(lower_vector(instruction, op, pool, Isa::gfx7));
  find_registers(instruction, op);
  return op;
}

MicroOp move(const Operand& to, const Operand& from) {
  Instruction instruction{};
  instruction.encoding = binpatch::isa::Encoding::sop1;
  instruction.opcode = Opcode::s_mov_b64;
  instruction.dst[0] = to;
  instruction.src[0] = from;
  MicroOp op;
  op.opcode = instruction.opcode;
  EXPECT_TRUE(lower_scalar(instruction, op));
  find_registers(instruction, op);
  return op;
}

MicroOp load(std::uint16_t address, std::uint16_t to) {
  MicroOp op;
  op.unit = Unit::vmem;
  op.memory = MemoryFields{};
  op.memory.lane_addresses = true;
  op.memory.element_bytes = 4;
  op.memory.address = address;
  op.destination = to;
  return op;
}

// Whether the first instruction, on a form whose sum carries, gives vcc; and what it says.
bool gives_carry(std::vector<MicroOp> code) {
  code.push_back(load(4, 20));
  code.push_back(load(6, 20));
  choose_forms(code);
  TestWave test;
  test.wave.set_pair(kVcc, 0);
  for (std::size_t i = 4; i < 8; ++i) set_form(test.wave, i, {1U << 31, 0});
  EXPECT_NE(code[0].form, nullptr);
  EXPECT_TRUE(code[0].form(test.wave, code[0]));
  EXPECT_EQ(test.wave.form[4].first, 0U);
  return test.wave.pair(kVcc) == ~std::uint64_t{0};
}

TEST(LaneForms, GiveTheCarriesThatAreRead) {
  ConstantPool pool;
  const MicroOp add = twice(4, false, pool);
  const MicroOp next = twice(6, false, pool);
  const Operand some{OperandKind::sgpr, 2, 8, 0};
  const Operand others{OperandKind::sgpr, 2, 10, 0};
  EXPECT_FALSE(gives_carry({add, next}));
  EXPECT_FALSE(gives_carry({add, move(some, others), next}));
  EXPECT_TRUE(gives_carry({add}));
  EXPECT_TRUE(gives_carry({add, twice(5, true, pool), next}));
  EXPECT_TRUE(gives_carry({add, move(some, kVccPair), next}));
  EXPECT_TRUE(gives_carry({add, load(8, 21), next}));  // what comes between is not straight
}

TEST(LaneForms, WriteTheLanesOfWhatIsOverwrittenInPart) {
  TestWave test;
  set_form(test.wave, 3, {7, 2});
  set_form(test.wave, 4, {1, 0});
  overwrite(test.wave, formable(3, 1), false);
  EXPECT_EQ(test.wave.vgpr(3)[63], 7U + 63 * 2);
  overwrite(test.wave, formable(4, 1), true);
  EXPECT_EQ(test.wave.vgpr(4)[0], 0U);
  EXPECT_EQ(test.wave.formed | test.wave.unwritten, 0U);
}

TEST(LaneForms, TellWhereAddressesFollowOneAnother) {
  TestWave test;
  set_form(test.wave, 2, {0x1000, 4});
  set_form(test.wave, 3, {2, 0});
  std::uint64_t base = 0;
  EXPECT_TRUE(has_contiguous_base(test.wave, 2, 2, 4, &base));
  EXPECT_EQ(base, std::uint64_t{0x2'0000'1000});
  EXPECT_TRUE(has_contiguous_base(test.wave, 2, 1, 4, &base));
  EXPECT_EQ(base, std::uint64_t{0x1000});
  EXPECT_FALSE(has_contiguous_base(test.wave, 2, 2, 8, &base));
  EXPECT_FALSE(has_contiguous_base(test.wave, 3, 2, 4, &base));  // register 4 has no form
  test.wave.form[2].first = 0xFFFFFFF0;                          // the lower word wraps around
  EXPECT_FALSE(has_contiguous_base(test.wave, 2, 2, 4, &base));
}

MicroOp made(FormFunction form, std::uint64_t reads, std::uint64_t writes) {
  MicroOp op;
  op.unit = Unit::valu;
  op.vector = VectorFields{};
  op.straight = true;
  op.form = form;
  op.reads = reads;
  op.writes = writes;
  return op;
}
bool never(Wave&, const MicroOp&) {
  return false;
}

TEST(LaneForms, AreKeptForAddressesAlone) {
  std::vector<MicroOp> code{
      made(never, 0, 1U << 2),           // to an address, by way of the next
      made(never, 1U << 2, 1U << 4),     //
      made(never, 0, 1U << 5),           // the address's upper word
      load(4, 6),                        //
      made(never, 1U << 6, 1U << 7),     // of what was loaded
      made(never, 0, 1U << 8),           // to nothing but arithmetic by lane
      made(nullptr, 1U << 8, 1U << 9),   //
      made(never, (1U << 9), 1U << 10),  // of the result of that
      load(10, 11),
  };
  choose_forms(code);
  const std::vector<bool> kept{true, true, true, false, false, false, false, false, false};
  for (std::size_t i = 0; i < code.size(); ++i) EXPECT_EQ(code[i].form != nullptr, kept[i]) << i;
}

TEST(LaneForms, AreKeptAroundALoop) {
  std::vector<MicroOp> code{load(4, 6), made(never, 1U << 4, 1U << 4), MicroOp{}, MicroOp{}};
  code[2].unit = Unit::branch;
  code[2].opcode = Opcode::s_cbranch_scc1;
  code[2].immediate = -3;
  code[3].opcode = Opcode::s_endpgm;
  choose_forms(code);
  EXPECT_NE(code[1].form, nullptr);
  code[2].immediate = 0;  // no loop: the address is not used again
  choose_forms(code);
  EXPECT_EQ(code[1].form, nullptr);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::lane_forms_test
