// Scalar memory reads (SMRD), of constant latency or through a cache of their own.
// Source: AMD Sea Islands ISA, chapter 7.
#include <algorithm>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_guard.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/operands.hpp"
#include "machine/memory/memory_instructions.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::OperandKind;
using U64 = std::uint64_t;

// `bytes` from `address` on come from memory.
void queue(Wave& wave, MemoryOperation& operation, U64 address = 0, U64 bytes = 0) {
  operation.scalar = true;
  operation.completion = wave.now + wave.cu->launch().scalar_load_cycles;
  operation.references = 1;
  if (bytes != 0) wave.cu->scalar_lines(operation, address, bytes, wave.now);
  wave.scalar_queue.push(&operation);
  wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
}

// Offset in bytes: an immediate, a register, or (gfx9) both.
U64 offset_of(const Wave& wave, const MicroOp& op) {
  const auto offset =
      static_cast<U64>(static_cast<std::int64_t>(static_cast<std::int32_t>(op.memory.offset)));
  return op.kind[1] == Source::scalar ? wave.sr[op.source[1]] + offset : offset;
}

void run_load(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.scalar_slot_free(wave, op)) return;
  ++cu.counters.smem;
  const U64 base = wave.pair(op.memory.resource);
  const U64 address = (base + offset_of(wave, op)) & ~U64{3};
  const U64 bytes = op.memory.parts * U64{4};
  const bool there = cu.memory().contains(address, bytes) || guard_scalar(wave, op, address, bytes);
  if (cu.error()) return;
  MemoryOperation& operation = *cu.new_operation(wave, false);
  if (there) {
    std::memcpy(operation.data(), cu.memory().host(address), bytes);
  } else {
    std::memset(operation.data(), 0, bytes);
  }
  operation.words = op.memory.parts;
  operation.destination = op.destination;
  queue(wave, operation, address, there ? bytes : 0);
}

// Reads out of the buffer's range give 0.
void run_buffer_load(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.scalar_slot_free(wave, op)) return;
  ++cu.counters.smem;
  const std::uint32_t* descriptor = wave.sr + op.memory.resource;
  const U64 base = descriptor[0] | U64{descriptor[1] & 0xFFFFU} << 32;
  const U64 stride = descriptor[1] >> 16 & 0x3FFFU;
  const U64 size = stride == 0 ? descriptor[2] : stride * descriptor[2];
  const U64 offset = offset_of(wave, op) & ~U64{3};
  MemoryOperation& operation = *cu.new_operation(wave, false);
  U64 read = 0;
  for (std::size_t word = 0; word < op.memory.parts; ++word) {
    const U64 at = offset + 4 * word;
    operation.data()[word] = 0;
    if (at > size || size - at < 4) continue;
    const bool there = cu.memory().contains(base + at, 4) || guard_scalar(wave, op, base + at, 4);
    if (cu.error()) {
      cu.release(&operation);
      return;
    }
    if (!there) continue;
    std::memcpy(operation.data() + word, cu.memory().host(base + at), 4);
    read = 4 * (word + 1);
  }
  operation.words = op.memory.parts;
  operation.destination = op.destination;
  queue(wave, operation, base + offset, read);
}

void run_time(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.scalar_slot_free(wave, op)) return;
  ++cu.counters.smem;
  cu.read_clock();
  MemoryOperation& operation = *cu.new_operation(wave, false);
  const U64 time = cu.launch().clock_base + static_cast<U64>(wave.now);
  std::memcpy(operation.data(), &time, sizeof time);
  operation.words = 2;
  operation.destination = op.destination;
  queue(wave, operation);
}

// Ticks of 100 MHz.
void run_realtime(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.scalar_slot_free(wave, op)) return;
  ++cu.counters.smem;
  cu.read_clock();
  MemoryOperation& operation = *cu.new_operation(wave, false);
  const LaunchState& launch = cu.launch();
  const auto time = static_cast<U64>(launch.realtime_base +
                                     static_cast<double>(wave.now) * launch.realtime_per_cycle);
  std::memcpy(operation.data(), &time, sizeof time);
  operation.words = 2;
  operation.destination = op.destination;
  queue(wave, operation);
}

// No scalar store is executed that would be written back.
void run_no_cache_control(Wave&, const MicroOp&) {}

void run_invalidate(Wave& wave, const MicroOp&) {
  if (wave.cu->scalar_cache) wave.cu->scalar_cache->invalidate_all();
}

}  // namespace

void ComputeUnit::scalar_lines(MemoryOperation& operation, std::uint64_t address,
                               std::uint64_t bytes, std::int64_t cycle) {
  if (!scalar_cache) return;
  const U64 begin = (address - kDeviceBase) / kLineBytes;
  const U64 end = (address + bytes - 1 - kDeviceBase) / kLineBytes;
  for (U64 at = begin; at <= end; ++at) {
    const auto line = static_cast<std::uint32_t>(at);
    std::uint32_t slot = scalar_cache->find(line);
    const bool missed = slot == L1Cache::kNone;
    if (missed) {
      slot = scalar_cache->allocate(line, cycle);
    } else if (scalar_cache->ready(slot) != L1Cache::kPending) {
      operation.completion = std::max(operation.completion, scalar_cache->ready(slot));
      continue;
    }
    ++operation.unresolved;
    // Waves do not issue in the order of time to the cycle: what joins a line follows its request.
    scalar_asked_ = missed ? std::max(scalar_asked_, cycle) : scalar_asked_;
    Request& request = requests.emplace_back();
    request.departure = missed ? cycle : std::max(cycle, scalar_asked_);
    request.operation = &operation;
    request.line = line;
    request.kind = missed ? Request::Kind::scalar : Request::Kind::scalar_merge;
    request.fills_l1 = missed;
    request.l1_slot[0] = slot;
  }
}

bool lower_scalar_memory(const Instruction& instruction, MicroOp& op) {
  op.unit = Unit::smem;
  op.memory = MemoryFields{};
  bool buffer = false;
  switch (instruction.opcode) {
    case Opcode::s_load_dword:
    case Opcode::s_load_dwordx2:
    case Opcode::s_load_dwordx4:
    case Opcode::s_load_dwordx8:
    case Opcode::s_load_dwordx16: break;
    case Opcode::s_buffer_load_dword:
    case Opcode::s_buffer_load_dwordx2:
    case Opcode::s_buffer_load_dwordx4:
    case Opcode::s_buffer_load_dwordx8:
    case Opcode::s_buffer_load_dwordx16: buffer = true; break;
    case Opcode::s_memrealtime:
    case Opcode::s_memtime: {
      const auto target = scalar_index(instruction.dst[0]);
      if (!target || *target >= kScalarFile) return false;
      op.destination = *target;
      op.run = instruction.opcode == Opcode::s_memtime ? run_time : run_realtime;
      return true;
    }
    case Opcode::s_dcache_wb:
    case Opcode::s_dcache_wb_vol:
    case Opcode::s_gl1_inv: op.run = run_no_cache_control; return true;
    case Opcode::s_dcache_inv:
    case Opcode::s_dcache_inv_vol: op.run = run_invalidate; return true;
    default: return false;
  }
  const auto target = scalar_index(instruction.dst[0]);
  const auto base = scalar_index(instruction.src[0]);
  if (!target || *target >= kScalarFile || !base || *base >= kScalarFile) return false;
  op.destination = *target;
  op.memory.resource = *base;
  op.memory.parts = instruction.dst[0].count;
  if (instruction.encoding == binpatch::isa::Encoding::smem) {  // bytes
    op.memory.offset = instruction.modifiers.offset;
    if (const auto offset = scalar_index(instruction.src[1])) {
      if (*offset >= kScalarFile) return false;
      op.kind[1] = Source::scalar;
      op.source[1] = *offset;
    }
  } else if (instruction.modifiers.scalar_offset_is_immediate) {
    op.memory.offset = instruction.modifiers.offset * 4;  // dwords
  } else if (const auto offset = scalar_index(instruction.src[1])) {
    if (*offset >= kScalarFile) return false;
    op.kind[1] = Source::scalar;
    op.source[1] = *offset;
  } else if (instruction.src[1].kind == OperandKind::literal) {
    op.memory.offset = instruction.src[1].value * 4;
  } else {
    return false;
  }
  op.run = buffer ? run_buffer_load : run_load;
  return true;
}

}  // namespace ww::sim::gpu::exec
