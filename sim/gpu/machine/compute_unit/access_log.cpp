#include "machine/compute_unit/access_log.hpp"

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "ww/binpatch/isa/instruction.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu::exec {
namespace {

bool has_two_operands(MemoryKind kind, AtomicOp op) {
  return kind >= MemoryKind::atomic && (op == AtomicOp::cmpswap || op == AtomicOp::fcmpswap);
}

trace::Instruction describe(const LaunchState& launch, std::uint32_t dword,
                            std::uint8_t texel_bytes) {
  const MicroOp& op = launch.code[dword];
  trace::Instruction instruction;
  instruction.address = launch.code_address + std::uint64_t{dword} * 4;
  instruction.name = binpatch::isa::mnemonic(op.opcode);
  instruction.operation = static_cast<trace::Operation>(op.memory.kind);
  instruction.element_bytes = op.memory.element_bytes;
  instruction.value_bytes = static_cast<std::uint8_t>(
      op.memory.element_bytes * (has_two_operands(op.memory.kind, op.memory.atomic) ? 2 : 1));
  if (texel_bytes != 0) instruction.element_bytes = instruction.value_bytes = texel_bytes;
  return instruction;
}

static_assert(static_cast<int>(trace::Operation::load) == static_cast<int>(MemoryKind::load));
static_assert(static_cast<int>(trace::Operation::store) == static_cast<int>(MemoryKind::store));
static_assert(static_cast<int>(trace::Operation::atomic) == static_cast<int>(MemoryKind::atomic));
static_assert(static_cast<int>(trace::Operation::atomic_return) ==
              static_cast<int>(MemoryKind::atomic_return));

}  // namespace

void AccessLog::clear() {
  entries_.clear();
  addresses_.clear();
  values_.clear();
}

void AccessLog::issued(const Wave& wave, MemoryOperation& operation) {
  if (operation.kind == MemoryKind::load) {
    // Most often those that it was issued with, which stand in the operation again later.
    operation.traced = operation.exec == wave.exec() ? Traced::enabled : Traced::some;
    if (operation.traced == Traced::some) operation.bytes->traced_lanes = operation.exec;
  } else {
    add(wave, operation, operation.exec);
  }
}

void AccessLog::completed(const Wave& wave, MemoryOperation& operation) {
  if (operation.traced == Traced::none) return;
  if (operation.image && operation.spread) {
    add_taps(wave, operation);
  } else {
    add(wave, operation, operation.traced_lanes());
  }
  operation.traced = Traced::none;
}

void AccessLog::abandoned(const Wave& wave, MemoryOperation& operation) {
  const DeviceMemory& memory = wave.cu->memory();
  const std::size_t words = element_words(operation);
  for (std::uint64_t set = operation.unresolved != 0 ? operation.traced_lanes() : 0; set != 0;
       set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    if (operation.image && operation.spread) {
      TapSet& taps = operation.bytes->image->taps;
      for_taps(taps, lane, [&](std::size_t tap) {
        std::memcpy(taps.data[tap] + lane * words, memory.host(taps.address[tap][lane]),
                    operation.element_bytes);
      });
      continue;
    }
    if (operation.contiguous) {
      operation.address()[lane] = operation.base + lane * operation.element_bytes;
    }
    for_pieces(operation, lane, [&](std::uint64_t at, std::uint64_t address, std::uint64_t bytes) {
      std::memcpy(reinterpret_cast<std::byte*>(operation.data() + lane * words) + at,
                  memory.host(address), bytes);
    });
  }
  completed(wave, operation);
}

void AccessLog::add(const Wave& wave, const MemoryOperation& operation, std::uint64_t lanes) {
  const LaunchState& launch = wave.cu->launch();
  const auto& id = wave.group->id;
  const std::size_t words =
      element_words(operation) * (has_two_operands(operation.kind, operation.atomic) ? 2U : 1U);
  entries_.push_back(
      {operation.instruction, id[0] + launch.groups[0] * (id[1] + launch.groups[1] * id[2]),
       wave.in_group, static_cast<std::uint16_t>(words), operation.contiguous,
       operation.image ? operation.element_bytes : std::uint8_t{0}, lanes, operation.base});
  if (!operation.contiguous) {
    addresses_.insert(addresses_.end(), operation.address(), operation.address() + kLanes);
  }
  values_.insert(values_.end(), operation.data(), operation.data() + kLanes * words);
}

void AccessLog::add_taps(const Wave& wave, const MemoryOperation& operation) {
  const TapSet& taps = operation.bytes->image->taps;
  const auto& id = wave.group->id;
  const LaunchState& launch = wave.cu->launch();
  const std::size_t words = element_words(operation);
  for (std::size_t tap = 0; tap < taps.count; ++tap) {
    if (taps.inside[tap] == 0) continue;
    entries_.push_back({operation.instruction,
                        id[0] + launch.groups[0] * (id[1] + launch.groups[1] * id[2]),
                        wave.in_group, static_cast<std::uint16_t>(words), false,
                        operation.element_bytes, taps.inside[tap], 0});
    addresses_.insert(addresses_.end(), taps.address[tap], taps.address[tap] + kLanes);
    values_.insert(values_.end(), taps.data[tap], taps.data[tap] + kLanes * words);
  }
}

void AccessLog::drain(trace::Writer& writer, const LaunchState& launch, TraceIndex& index) {
  const std::uint64_t* address = addresses_.data();
  const std::uint32_t* value = values_.data();
  for (const Entry& entry : entries_) {
    std::uint32_t& known = index.at(entry.instruction, entry.texel_bytes);
    if (known == 0) {
      known = writer.instruction(describe(launch, entry.instruction, entry.texel_bytes)) + 1;
    }
    trace::AccessView view;
    view.instruction = known - 1;
    view.group = entry.group;
    view.wave = entry.wave;
    view.lanes = entry.lanes;
    view.base = entry.base;
    view.values = reinterpret_cast<const std::byte*>(value);
    view.value_stride = entry.value_words * std::size_t{4};
    view.stride =
        static_cast<std::int64_t>(view.value_stride);  // contiguous: whole words, one operand
    if (!entry.contiguous) {
      view.address = address;
      address += kLanes;
    }
    value += kLanes * std::size_t{entry.value_words};
    writer.access(view);
  }
  clear();
}

}  // namespace ww::sim::gpu::exec
