#include "kernel_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isa/operand.hpp"

namespace ww::binpatch {

namespace {

using isa::Opcode;

tl::unexpected<Error> bad(std::string message, std::string_view kernel) {
  return fail(ErrorCode::bad_data, std::move(message), fmt::format("kernel '{}'", kernel));
}

// SCC is bit 0 of the STATUS register too. Vega ISA, "STATUS".
bool reads_status_scc(const isa::Instruction& instruction) {
  constexpr int status = 2;
  const auto field = isa::hardware_register_field(instruction);
  return instruction.opcode == Opcode::s_getreg_b32 && field.id == status && field.offset == 0;
}

// Comparisons write it, those that no table names as well.
bool writes_scc(const isa::Instruction& instruction) {
  return isa::traits(instruction.opcode).writes_scc ||
         (instruction.opcode == isa::Opcode::unlisted &&
          instruction.encoding == isa::Encoding::sopc);
}

bool reads_scc(const isa::Instruction& instruction) {
  return reads_status_scc(instruction) || isa::traits(instruction.opcode).reads_scc ||
         std::any_of(instruction.src.begin(), instruction.src.end(), [](const isa::Operand& o) {
           return o.kind == isa::OperandKind::special &&
                  o.index == isa::index_of(isa::SpecialRegister::scc);
         });
}

// Branches whose target is in the instruction.
bool is_direct_branch(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_branch:
    case Opcode::s_cbranch_scc0:
    case Opcode::s_cbranch_scc1:
    case Opcode::s_cbranch_vccz:
    case Opcode::s_cbranch_vccnz:
    case Opcode::s_cbranch_execz:
    case Opcode::s_cbranch_execnz:
    case Opcode::s_cbranch_cdbgsys:
    case Opcode::s_cbranch_cdbguser:
    case Opcode::s_cbranch_cdbgsys_or_user:
    case Opcode::s_cbranch_cdbgsys_and_user: return true;
    default: return false;
  }
}

}  // namespace

Result<KernelCode> KernelCode::decode(const CodeObject& object, const Kernel& kernel,
                                      isa::Generation generation) {
  KernelCode code;
  code.kernel_ = kernel.name;
  const auto bytes = object.code(kernel);
  std::uint64_t offset = 0;
  while (offset < bytes.size()) {
    const auto decoded = isa::decode(generation, bytes.subspan(offset));
    if (!decoded) {
      return bad(fmt::format("{} bytes after the entry: {}", offset, decoded.error().message),
                 kernel.name);
    }
    code.instructions_.push_back({offset, *decoded});
    offset += decoded->size_bytes;
  }
  return code;
}

Result<KernelCode> KernelCode::decode_reachable(std::span<const std::byte> bytes,
                                                std::string kernel, isa::Generation generation) {
  KernelCode code;
  code.kernel_ = std::move(kernel);
  std::uint64_t offset = 0;
  std::uint64_t furthest = 0;  // the last place that a branch so far goes to
  while (offset < bytes.size()) {
    const auto decoded = isa::decode(generation, bytes.subspan(offset));
    if (!decoded) {
      return bad(fmt::format("{} bytes after the entry: {}", offset, decoded.error().message),
                 code.kernel_);
    }
    code.instructions_.push_back({offset, *decoded});
    offset += decoded->size_bytes;
    if (is_direct_branch(decoded->opcode) && decoded->modifiers.immediate > 0) {
      furthest =
          std::max(furthest, offset + 4 * static_cast<std::uint64_t>(decoded->modifiers.immediate));
    }
    if (isa::traits(decoded->opcode).is_terminator && offset > furthest) {
      return code;
    }
  }
  return bad("the code runs past its end", code.kernel_);
}

std::optional<std::size_t> KernelCode::at_offset(std::uint64_t offset) const {
  const auto found = std::lower_bound(
      instructions_.begin(), instructions_.end(), offset,
      [](const PlacedInstruction& placed, std::uint64_t value) { return placed.offset < value; });
  if (found == instructions_.end() || found->offset != offset) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - instructions_.begin());
}

Result<std::vector<std::size_t>> KernelCode::successors(std::size_t index) const {
  const auto& [offset, instruction] = instructions_[index];
  const auto traits = isa::traits(instruction.opcode);
  std::vector<std::size_t> next;
  if (traits.is_branch) {
    if (!is_direct_branch(instruction.opcode)) {
      return bad(fmt::format("{} bytes after the entry: control flow goes where it cannot be "
                             "followed ({}) before SCC is written again",
                             offset, isa::mnemonic(instruction.opcode)),
                 kernel_);
    }
    // The immediate counts dwords from the next instruction.
    const std::int64_t target = static_cast<std::int64_t>(offset) + instruction.size_bytes +
                                4 * std::int64_t{instruction.modifiers.immediate};
    const auto position = at_offset(static_cast<std::uint64_t>(target));
    if (target < 0 || !position) {
      return bad(fmt::format("{} bytes after the entry: a branch to no instruction", offset),
                 kernel_);
    }
    next.push_back(*position);
  }
  if (!traits.is_terminator) {
    if (index + 1 >= instructions_.size()) {
      return bad("the code runs past its end", kernel_);
    }
    next.push_back(index + 1);
  }
  return next;
}

std::vector<bool> KernelCode::reached() const {
  std::vector<bool> seen(instructions_.size());
  std::vector<std::size_t> pending;
  if (!instructions_.empty()) pending.push_back(0);
  while (!pending.empty()) {
    const std::size_t current = pending.back();
    pending.pop_back();
    if (seen[current]) continue;
    seen[current] = true;
    const auto next = successors(current);
    if (!next) return std::vector<bool>(instructions_.size(), true);
    pending.insert(pending.end(), next->begin(), next->end());
  }
  return seen;
}

Result<bool> KernelCode::scc_is_read_after(std::size_t index) const {
  std::vector<bool> seen(instructions_.size());
  WW_ASSIGN(pending, successors(index));
  while (!pending.empty()) {
    const std::size_t current = pending.back();
    pending.pop_back();
    if (seen[current]) {
      continue;
    }
    seen[current] = true;
    const isa::Instruction& instruction = instructions_[current].instruction;
    if (reads_scc(instruction)) {
      return true;
    }
    if (writes_scc(instruction)) {
      continue;
    }
    WW_ASSIGN(next, successors(current));
    pending.insert(pending.end(), next.begin(), next.end());
  }
  return false;
}

}  // namespace ww::binpatch
