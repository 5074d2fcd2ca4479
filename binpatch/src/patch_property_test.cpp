#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "isa/operand.hpp"
#include "isa/table.hpp"
#include "kernel_code.hpp"
#include "word_maker.hpp"
#include "ww/binpatch/patch.hpp"

namespace ww::binpatch {
namespace {

using isa::Generation;
using testing::Bytes;

// All 32 bits random from the first case on (plain arbitrary<> begins with small numbers).
std::uint32_t random_word() {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint32_t>());
}

struct Target {
  Generation generation;
  std::uint32_t machine;
  std::uint32_t xor_word;
  std::uint32_t getreg_word;
  HardwareRegister reg{HardwareRegister::hw_id};
  std::uint8_t reg_number{4};
};
constexpr Target kTargets[] = {
    {Generation::gfx6, 0x20, 0x89000000, 0xb900f804},
    {Generation::gfx7, 0x23, 0x89000000, 0xb900f804},
    {Generation::gfx8, 0x2a, 0x88000000, 0xb880f804},
    {Generation::gfx9, 0x3f, 0x88000000, 0xb880f804},
    {Generation::gfx10, 0x36, 0x89000000, 0xb900f817, HardwareRegister::hw_id1, 23},
    {Generation::gfx11, 0x41, 0x8d000000, 0xb880f817, HardwareRegister::hw_id1, 23},
    {Generation::gfx12, 0x4e, 0x8d000000, 0xb880f817, HardwareRegister::hw_id1, 23},
};

// A straight-line program with the marker in it, and what is to be expected of it.
struct Program {
  Target target;
  Bytes code;
  std::size_t marker_at{};  // bytes from the entry
  std::uint32_t destination{};
  bool scc_read_after{};
};

// Whether the text reads scc, which is the lowest bit of the status register, too.
bool reads_scc(const std::string& text) {
  const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
  return text.starts_with("s_addc") || text.starts_with("s_subb_") ||
         text.starts_with("s_cselect") || text.starts_with("s_cmov") || has("src_scc") ||
         (text.starts_with("s_getreg_b32") &&
          (has("hwreg(HW_REG_STATUS)") || has("hwreg(HW_REG_STATUS, 0,")));
}

// One random instruction that does not change the control flow.
Bytes straight_instruction(testing::WordMaker& maker, Generation generation) {
  const auto entries = isa::table_of(generation)->entries();
  while (true) {
    const isa::TableEntry& entry = entries[*rc::gen::inRange<std::size_t>(0, entries.size())];
    const auto traits = isa::traits(entry.opcode);
    if (!traits.is_branch && !traits.is_terminator) return maker.make(entry);
  }
}

Program random_program() {
  Program program;
  program.target =
      *rc::gen::elementOf(std::vector<Target>(std::begin(kTargets), std::end(kTargets)));
  const Generation generation = program.target.generation;
  testing::WordMaker maker(generation, random_word());
  const auto append = [&](const Bytes& bytes) {
    program.code.insert(program.code.end(), bytes.begin(), bytes.end());
  };
  for (auto left = *rc::gen::inRange(0, 30); left > 0; --left) {
    append(straight_instruction(maker, generation));
  }
  program.marker_at = program.code.size();
  program.destination = *rc::gen::inRange<std::uint32_t>(0, 102);
  const auto source = *rc::gen::inRange<std::uint32_t>(0, 102);
  const bool literal_first = *rc::gen::arbitrary<bool>();
  append(testing::words({program.target.xor_word | program.destination << 16 |
                             (literal_first ? source << 8 | 255 : 255U << 8 | source),
                         pin_marker}));
  bool decided = false;
  for (auto left = *rc::gen::inRange(0, 30); left > 0; --left) {
    const Bytes bytes = straight_instruction(maker, generation);
    append(bytes);
    const auto decoded = isa::decode(generation, bytes);
    if (!decided && reads_scc(isa::disassemble(*decoded, generation))) {
      program.scc_read_after = true;
      decided = true;
    }
    decided = decided || isa::traits(decoded->opcode).writes_scc;
  }
  append(testing::words({generation >= Generation::gfx11 ? 0xbfb00000 : 0xbf810000}));
  return program;
}

Bytes object_of(const Program& program) {
  return testing::build_object({.machine = program.target.machine, .code = program.code});
}

RC_GTEST_PROP(PatchProperty, UnpatchGivesTheOriginalBackAndOnlyTheSiteChanges, ()) {
  const Program program = random_program();
  RC_CLASSIFY(program.scc_read_after, "SCC read");
  const Bytes object = object_of(program);
  const auto result = patch(object, "k", program.target.reg);
  if (program.scc_read_after) {
    RC_ASSERT(!result.has_value());
    RC_ASSERT(result.error().code == ErrorCode::bad_data);
    return;
  }
  RC_ASSERT(result.has_value());
  RC_ASSERT(result->bytes.size() == object.size());
  for (std::size_t i = 0; i < object.size(); ++i) {
    const bool inside = i >= result->site.file_offset && i < result->site.file_offset + 8;
    RC_ASSERT(inside || result->bytes[i] == object[i]);
  }
  RC_ASSERT(verify(object, *result, program.target.reg).has_value());
  const auto back = unpatch(result->bytes, result->site);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == object);
}

RC_GTEST_PROP(PatchProperty, DecodingAgainShowsTheRegisterInTheMarkersDestination, ()) {
  const Program program = random_program();
  RC_PRE(!program.scc_read_after);
  const auto result = patch(object_of(program), "k", program.target.reg);
  RC_ASSERT(result.has_value());
  const auto object = CodeObject::parse(result->bytes);
  RC_ASSERT(object.has_value());
  const auto code = KernelCode::decode(*object, object->kernels()[0], program.target.generation);
  RC_ASSERT(code.has_value());
  const auto position = code->at_offset(program.marker_at);
  RC_ASSERT(position.has_value());
  const isa::Instruction& read = code->instructions()[*position].instruction;
  RC_ASSERT(read.opcode == isa::Opcode::s_getreg_b32);
  RC_ASSERT(read.dst[0] ==
            *isa::scalar_register(program.target.generation, program.destination, 1));
  RC_ASSERT((isa::hardware_register_field(read) ==
             isa::HardwareRegisterField{program.target.reg_number, 0, 32}));
}

RC_GTEST_PROP(PatchProperty, PatchingTwiceIsRefused, ()) {
  const Program program = random_program();
  RC_PRE(!program.scc_read_after);
  const auto once = patch(object_of(program), "k", program.target.reg);
  RC_ASSERT(once.has_value());
  const auto twice = patch(once->bytes, "k", program.target.reg);
  RC_ASSERT(!twice.has_value());
  RC_ASSERT(twice.error().code == ErrorCode::not_found);
}

RC_GTEST_PROP(DecodeProperty, ReadsItsOwnBytesOnly, ()) {
  const auto generation = *rc::gen::element(
      Generation::gfx6, Generation::gfx7, Generation::gfx8, Generation::gfx9, Generation::gfx10,
      Generation::gfx1030, Generation::gfx11, Generation::gfx1100, Generation::gfx12);
  const auto first = random_word();
  const auto second = random_word();
  const auto third = random_word();
  const Bytes code = testing::words({first, second, third, random_word(), random_word()});
  const auto decoded = isa::decode(generation, code);
  RC_PRE(decoded.has_value());
  const bool rdna = generation >= Generation::gfx10;
  RC_ASSERT(decoded->size_bytes % 4 == 0 && decoded->size_bytes >= 4);
  RC_ASSERT(decoded->size_bytes <= (rdna ? 20 : 8));
  const auto alone = isa::decode(generation, std::span(code).first(decoded->size_bytes));
  RC_ASSERT(alone.has_value());
  RC_ASSERT(isa::disassemble(*alone, generation) == isa::disassemble(*decoded, generation));
  RC_ASSERT(!isa::decode(generation, std::span(code).first(decoded->size_bytes - 1U)).has_value());
}

RC_GTEST_PROP(DecodeProperty, RegistersStayInsideTheRegisterFiles, ()) {
  const auto first = random_word();
  const auto second = random_word();
  const auto decoded = isa::decode(Generation::gfx7, testing::words({first, second}));
  RC_PRE(decoded.has_value());
  const auto check = [](const isa::Operand& operand) {
    if (operand.kind == isa::OperandKind::vgpr) RC_ASSERT(operand.index + operand.count <= 256);
    if (operand.kind == isa::OperandKind::sgpr) RC_ASSERT(operand.index + operand.count <= 104);
  };
  for (const auto& operand : decoded->dst) check(operand);
  for (const auto& operand : decoded->src) check(operand);
}

RC_GTEST_PROP(HardwareIdProperty, FieldsOfGcnAreIndependent, ()) {
  const auto cu = *rc::gen::inRange(0, 16);
  const auto array = *rc::gen::inRange(0, 2);
  const auto engine = *rc::gen::inRange(0, 4);
  const auto noise = random_word();
  constexpr std::uint32_t ours = 0x7f00;
  const auto value =
      (noise & ~ours) | static_cast<std::uint32_t>(cu << 8 | array << 12 | engine << 13);
  const auto id = decode_hardware_id({7, 0, 1}, value);
  RC_ASSERT(id.has_value());
  RC_ASSERT(id->cu == cu && id->shader_array == array && id->shader_engine == engine);
}

}  // namespace
}  // namespace ww::binpatch
