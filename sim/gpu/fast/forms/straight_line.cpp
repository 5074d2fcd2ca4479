#include "fast/forms/straight_line.hpp"

#include <algorithm>

#include "machine/isa/operands.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Bounds what a wave is ahead of its time.
constexpr std::uint32_t kMaxInstructions = 256;

bool pending(const CounterQueue& queue, const RegisterSet& registers) {
  for (unsigned i = 0; i < queue.count; ++i) {
    const MemoryOperation& operation = *queue.entry[(queue.head + i) & 15];
    if (operation.words == 0) continue;
    const bool hit = operation.scalar
                         ? registers.has_scalar(operation.destination, operation.words)
                         : registers.has_vector(operation.destination, operation.words);
    if (hit) return true;
  }
  return false;
}

}  // namespace

RegisterSet registers_of(const binpatch::isa::Instruction& instruction, const MicroOp& op) {
  using binpatch::isa::OperandKind;
  RegisterSet set;
  // Implied ones: vcc, m0 and exec.
  set.add_scalar(kVcc, 2);
  set.add_scalar(kM0, 1);
  set.add_scalar(kExec, 2);
  const auto add = [&set](const binpatch::isa::Operand& operand, unsigned least) {
    const unsigned count = std::max<unsigned>(operand.count, least);
    if (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr) {
      set.add_vector(vector_index(operand), count);
    } else if (const auto index = scalar_index(operand)) {
      set.add_scalar(*index, count);
    }
  };
  const bool vector = op.unit == Unit::valu;
  add(instruction.dst[0], vector ? register_count(op.result) : 1);
  add(instruction.dst[1], 1);
  for (std::size_t i = 0; i < instruction.src.size(); ++i) {
    const bool wide = vector && (op.vector.wide >> i & 1U) != 0;
    add(instruction.src[i], wide ? 2 : 1);
  }
  return set;
}

StraightLines find_straight_lines(const std::vector<MicroOp>& code,
                                  const std::vector<RegisterSet>& registers) {
  StraightLines lines;
  lines.run.resize(code.size());
  lines.issue.resize(code.size());
  for (std::size_t dword = code.size(); dword-- != 0;) {
    const MicroOp& op = code[dword];
    lines.issue[dword] = {op.unit, op.unit == Unit::salu ? std::uint8_t{4} : op.cycles, op.dwords};
    const std::size_t next = dword + op.dwords;
    if (!op.straight) continue;
    StraightRun& run = lines.run[dword];
    run.registers = registers[dword];
    run.count = 1;
    run.vectors = op.unit == Unit::valu ? 1 : 0;
    run.approximated = op.approximated ? 1 : 0;
    if (next >= code.size() || lines.run[next].count >= kMaxInstructions) continue;
    run.registers.add(lines.run[next].registers);
    run.count += lines.run[next].count;
    run.vectors += lines.run[next].vectors;
    run.approximated += lines.run[next].approximated;
  }
  return lines;
}

bool awaits(const Wave& wave, const RegisterSet& registers) {
  return pending(wave.vector_queue, registers) || pending(wave.scalar_queue, registers);
}

}  // namespace ww::sim::gpu::exec
