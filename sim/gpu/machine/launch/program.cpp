#include "machine/launch/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fast/forms/lane_forms.hpp"
#include "fast/forms/load_addresses.hpp"
#include "machine/alu/alu.hpp"
#include "machine/alu/matrix.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

using binpatch::CodeObject;
using binpatch::Segment;

namespace {

// The decoder knows more generations than there are semantics for.
Result<Isa> isa_of(binpatch::isa::Generation generation, const std::string& target) {
  switch (generation) {
    case binpatch::isa::Generation::gfx6:
    case binpatch::isa::Generation::gfx7: return Isa::gfx7;
    // gfx906 and gfx908 add arithmetic alone; gfx908's matrix products are refused below.
    case binpatch::isa::Generation::gfx900:
    case binpatch::isa::Generation::gfx906:
    case binpatch::isa::Generation::gfx908: return Isa::gfx900;
    case binpatch::isa::Generation::gfx90a: return Isa::gfx90a;
    case binpatch::isa::Generation::gfx940: return Isa::gfx942;
    case binpatch::isa::Generation::gfx1030: return Isa::gfx1030;
    case binpatch::isa::Generation::gfx1100: return Isa::gfx1100;
    default:
      return fail(ErrorCode::unsupported,
                  fmt::format("the virtual GPU does not execute {}: choose a chip of gfx7, gfx900, "
                              "gfx906, gfx908, gfx90a, gfx942, gfx1030 or gfx1100",
                              target));
  }
}

// gfx9 counts to 63, with the two upper bits apart, and gfx10 scalar memory too; gfx11 has other
// places for both. Here no more than 15 are ever on their way.
std::int32_t short_waitcnt(std::int32_t immediate, Isa isa) {
  const auto bits = static_cast<std::uint32_t>(immediate);
  if (isa == Isa::gfx1100) {
    return static_cast<std::int32_t>(std::min(bits >> 4 & 63U, 15U) << 8 |
                                     std::min(bits >> 10 & 63U, 15U));
  }
  const std::uint32_t vector = (bits & 15U) | (bits >> 14 & 3U) << 4;
  const std::uint32_t scalar = bits >> 8 & (isa == Isa::gfx1030 ? 63U : 15U);
  return static_cast<std::int32_t>((bits & 0xF0U) | std::min(scalar, 15U) << 8 |
                                   std::min(vector, 15U));
}

// In a wave of 32 the upper half of exec is a scalar register like others (RDNA ISA, "Wave32
// mode"). Here both halves give the wave's lanes,
// so that it becomes one that RDNA does not have.
void move_upper_exec(binpatch::isa::Instruction& instruction) {
  using binpatch::isa::SpecialRegister;
  const auto move = [](binpatch::isa::Operand& operand) {
    if (operand.kind == binpatch::isa::OperandKind::special &&
        operand.index == static_cast<std::uint16_t>(SpecialRegister::exec_hi)) {
      operand.index = static_cast<std::uint16_t>(SpecialRegister::tba_lo);
    }
  };
  std::ranges::for_each(instruction.dst, move);
  std::ranges::for_each(instruction.src, move);
}

// Whether lanes are enabled that a wave of 32 does not have. Some instructions write exec beside
// their result. Reading both halves is no such thing: compilers do so (ballots of 64 bits), and the
// upper half is 0.
bool enables_missing_lanes(const binpatch::isa::Instruction& instruction) {
  using binpatch::isa::SpecialRegister;
  if (binpatch::isa::mnemonic(instruction.opcode).ends_with("exec_b64")) return true;
  const auto is_pair = [](const binpatch::isa::Operand& operand) {
    return operand.kind == binpatch::isa::OperandKind::special && operand.count > 1 &&
           operand.index == static_cast<std::uint16_t>(SpecialRegister::exec_lo);
  };
  return std::ranges::any_of(instruction.dst, is_pair);
}

// Returns the number behind the last scalar register that the instruction may touch.
std::size_t scalars_named(const binpatch::isa::Instruction& instruction) {
  static constexpr std::size_t kMin = 4;  // a buffer's descriptor; more than needed elsewhere
  if (binpatch::isa::mnemonic(instruction.opcode).starts_with("s_movrel")) return kSpecialScalars;
  std::size_t end = 0;
  const auto see = [&end](const binpatch::isa::Operand& operand) {
    if (operand.kind != binpatch::isa::OperandKind::sgpr) return;
    end = std::max(end, operand.index + std::max<std::size_t>(operand.count, kMin));
  };
  for (const auto& operand : instruction.dst) see(operand);
  for (const auto& operand : instruction.src) see(operand);
  return end;
}

bool names_accumulator(const binpatch::isa::Instruction& instruction) {
  const auto is = [](const binpatch::isa::Operand& operand) {
    return operand.kind == binpatch::isa::OperandKind::agpr;
  };
  return std::ranges::any_of(instruction.dst, is) || std::ranges::any_of(instruction.src, is);
}

struct LoweringOptions {
  binpatch::isa::Generation generation{};
  Isa isa{};
  std::uint32_t translate_after{};
  int f64_rate_divisor{};
};

// All of a program's code: what lies between kernels, too.
std::unique_ptr<LoweredCode> lower_code(std::span<const std::byte> code, const LoweringOptions& how,
                                        binpatch::isa::WaveSize wave) {
  auto lowered = std::make_unique<LoweredCode>();
  lowered->ops.resize(code.size() / 4);
  std::vector<RegisterSet> registers(lowered->ops.size());
  std::size_t scalars = 0;
  for (std::size_t dword = 0; dword < lowered->ops.size(); ++dword) {
    const auto rest = code.subspan(dword * 4, std::min<std::size_t>(20, code.size() - dword * 4));
    MicroOp& op = lowered->ops[dword];
    auto decoded = binpatch::isa::decode(how.generation, rest, wave);
    // A wave has such registers on chips with one file for both kinds alone.
    const bool accumulates = decoded && names_accumulator(*decoded);
    if (accumulates && !has_unified_registers(how.isa)) {
      decoded = fail(ErrorCode::unsupported, "accumulation registers");
    }
    if (decoded && wave == binpatch::isa::WaveSize::lanes32) {
      if (enables_missing_lanes(*decoded)) {
        decoded = fail(ErrorCode::unsupported, "lanes that the wave does not have");
      } else {
        move_upper_exec(*decoded);
      }
    }
    lower(decoded, op, lowered->pool, how.isa);
    lowered->names_accumulators |= accumulates;
    if (how.isa == Isa::gfx942) multiply_as_cdna3(op);
    set_rate_of_doubles(op, how.f64_rate_divisor);
    if (decoded) find_registers(*decoded, op);
    if (decoded) scalars = std::max(scalars, scalars_named(*decoded));
    if (op.straight) registers[dword] = registers_of(*decoded, op);
    if (op.opcode == Opcode::invalid || op.opcode == Opcode::unlisted) {
      std::memcpy(&op.immediate, rest.data(), 4);
    }
    if (op.opcode == Opcode::s_waitcnt && how.isa != Isa::gfx7) {
      op.immediate = short_waitcnt(op.immediate, how.isa);
    }
  }
  scalars = (scalars + kScalarsOfLine - 1) / kScalarsOfLine * kScalarsOfLine;
  lowered->scalar_end = static_cast<std::uint32_t>(std::min(scalars, kSpecialScalars));
  choose_forms(lowered->ops);
  lowered->straight_lines = find_straight_lines(lowered->ops, registers);
  link_loads(lowered->ops, lowered->straight_lines);
  if (const auto vectors = widest_vectors()) {
    lowered->translations =
        std::make_unique<Translations>(lowered->ops, how.translate_after, *vectors);
  }
  return lowered;
}

}  // namespace

Result<std::unique_ptr<Program>> Program::load(const CodeObject& object, const std::string& target,
                                               DeviceMemory& memory, std::uint32_t translate_after,
                                               int f64_rate_divisor) {
  WW_TRY(object.check_runs_on(target));
  WW_ASSIGN(processor, binpatch::parse_gfx_target(target));
  WW_ASSIGN(generation, binpatch::isa::generation_of(processor));
  WW_ASSIGN(isa, isa_of(generation, target));
  std::uint64_t size = 0;
  std::uint64_t code_begin = ~std::uint64_t{0};
  std::uint64_t code_end = 0;
  for (const Segment& segment : object.segments()) {
    size = std::max(size, segment.address + segment.memory_size);
    if (!segment.executable) continue;
    code_begin = std::min(code_begin, segment.address & ~std::uint64_t{3});
    code_end = std::max(code_end, segment.address + segment.file_size);
  }
  if (code_end <= code_begin) {
    return fail(ErrorCode::parse_error, "the code object has no executable segment");
  }
  auto program = std::unique_ptr<Program>(new Program(memory));
  WW_ASSIGN(image, memory.allocate(size));
  program->image_ = image;
  program->isa_ = isa;
  program->kernels_ = object.kernels();
  for (const binpatch::Kernel& kernel : object.kernels()) {
    const auto found = std::ranges::find(kernel.arguments, "hidden_queue_ptr",
                                         &binpatch::KernelArgument::value_kind);
    program->queue_arguments_.push_back(
        found == kernel.arguments.end() ? std::nullopt : std::optional(found->offset));
  }
  for (const Segment& segment : object.segments()) {
    std::memcpy(memory.host(image + segment.address), object.bytes().data() + segment.file_offset,
                std::min(segment.file_size, segment.memory_size));
  }
  for (const binpatch::Relocation& relocation : object.relocations()) {
    if (!memory.contains(image + relocation.address, 8)) {
      return fail(ErrorCode::parse_error, "a relocation lies outside the code object's segments");
    }
    const std::uint64_t value = relocation.value + image;
    std::memcpy(memory.host(image + relocation.address), &value, sizeof value);
  }
  memory.touch();

  program->code_address_ = image + code_begin;
  const std::span<const std::byte> code(memory.host(image + code_begin), code_end - code_begin);
  const LoweringOptions how{generation, isa, translate_after, f64_rate_divisor};
  const auto is_half = [isa](const binpatch::Kernel& kernel) {
    return wave_lanes(kernel.descriptor, isa) == 32;
  };
  using binpatch::isa::WaveSize;
  const bool any_half = std::ranges::any_of(object.kernels(), is_half);
  if (any_half) program->half_ = lower_code(code, how, WaveSize::lanes32);
  if (!any_half || !std::ranges::all_of(object.kernels(), is_half)) {
    program->whole_ = lower_code(code, how, is_rdna(isa) ? WaveSize::lanes64 : WaveSize::usual);
  }
  return program;
}

Program::~Program() {
  if (image_ != 0) static_cast<void>(memory_.release(image_));
}

const LoweredCode& Program::code_of(const binpatch::Kernel& kernel) const {
  return wave_lanes(kernel.descriptor, isa_) == 32 ? *half_ : *whole_;
}

std::optional<std::size_t> Program::find(const std::string& name) const {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace ww::sim::gpu::exec
