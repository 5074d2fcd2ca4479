// Vector memory instructions (MUBUF and FLAT): addresses, bounds, lines, L1 lookup. What the L1
// does not have becomes requests that the memory system commits at the quantum's end. Source: AMD
// Sea Islands ISA, chapters 8 (buffers) and 9 (flat).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fast/forms/load_addresses.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_guard.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/compute_unit/private_memory.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"
#include "machine/memory/l1_kinds.hpp"
#include "machine/memory/lds.hpp"
#include "machine/memory/memory_instructions.hpp"
#include "machine/memory/vector_memory.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::OperandKind;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

std::size_t operand_words(const MemoryFields& m) {
  const std::size_t words = m.element_bytes < 4 ? 1 : m.element_bytes / 4U;
  const bool two = m.kind >= MemoryKind::atomic &&
                   (m.atomic == AtomicOp::cmpswap || m.atomic == AtomicOp::fcmpswap);
  return two ? 2 * words : words;
}

// The steps of every load and store are inlined into the kinds of instructions, here and below:
// they are many and short, with more state than a call keeps in registers.

// Whether the lanes may be taken as one run of bytes. Where not, every lane needs its address.
[[gnu::always_inline]] inline bool use_contiguous(const MemoryFields& m, const DeviceMemory& memory,
                                                  bool contiguous, MemoryOperation& operation) {
  if (!contiguous) return false;
  if (m.element_bytes >= 4 && m.kind <= MemoryKind::store && operation.base < memory.limit() &&
      operation.base >= kDeviceBase) {
    return true;
  }
  for (U64 lane = 0; lane < kLanes; ++lane) {
    operation.address()[lane] = operation.base + lane * m.element_bytes;
  }
  return false;
}

// Lanes that are no further apart lie in one allocation most often: it is looked for at once.
constexpr U64 kNear = U64{1} << 18;

// Whether every enabled lane lies inside an allocation. Where not, every lane gets its address.
bool all_inside(Wave& wave, MemoryOperation& operation) {
  const DeviceMemory& memory = wave.cu->memory();
  const U64 bytes = operation.element_bytes;
  if (operation.contiguous) {
    const auto first = static_cast<unsigned>(std::countr_zero(operation.exec));
    const auto last = 63U - static_cast<unsigned>(std::countl_zero(operation.exec));
    const U64 begin = operation.base + first * bytes;
    if (memory.contains(begin, (U64{last} - first + 1) * bytes)) return true;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      operation.address()[lane] = operation.base + lane * bytes;
    }
    operation.contiguous = false;
  }
  const auto [least, most] = lanes().address_range(operation.address(), operation.exec);
  const OperationBytes& rows = *operation.bytes;
  const U64 reach =
      operation.spread ? (bytes / rows.piece_bytes + 1) * rows.row_pitch + bytes : bytes;
  if (most - least < kNear && memory.contains(least, most - least + reach)) return true;
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(set));
    if (operation.spread ? !has_element(memory, operation, lane)
                         : !memory.contains(operation.address()[lane], bytes)) {
      return false;
    }
  }
  return true;
}

[[gnu::always_inline]] inline bool inside(Wave& wave, MemoryOperation& operation) {
  // Most often all lanes access words in a row, on one page.
  if (operation.contiguous && operation.exec == ~U64{0} &&
      wave.cu->memory().contains(operation.base, kLanes * U64{operation.element_bytes})) {
    return true;
  }
  return all_inside(wave, operation);
}

void zero_results(MemoryOperation& operation) {
  if (operation.kind == MemoryKind::load) {
    std::memset(operation.data(), 0, kLanes * element_words(operation) * sizeof(U32));
  } else if (operation.kind == MemoryKind::atomic_return) {
    std::memset(operation.old(), 0, sizeof operation.wide->old);
  }
}

// Sends the operation's lanes to memory, those outside of it excepted; false when the launch ends.
[[gnu::always_inline]] inline bool go_to_memory(Wave& wave, const MemoryFields& m,
                                                MemoryOperation& operation) {
  if (inside(wave, operation)) [[likely]] {
    wave.cu->access_l1(wave, m, operation);
    return true;
  }
  const U64 exec = operation.exec;
  const U64 allowed = guard_lanes(wave, operation);
  if (wave.cu->error()) return false;
  if (allowed != exec) {
    zero_results(operation);
    operation.exec = allowed;
  }
  if (allowed != 0) wave.cu->access_l1(wave, m, operation);
  operation.exec = exec;
  return true;
}

// The hardware ignores the low bits of an atomic's address.
void align_atomic(Wave& wave, MemoryOperation& operation) {
  if (wave.cu->launch().checks.memory) [[unlikely]]
    check_alignment(wave, operation);
  if (operation.kind < MemoryKind::atomic) return;
  for (U64& address : operation.bytes->address) address &= ~(U64{operation.element_bytes} - 1);
}

// Into the counters' queues: its requests are on their way.
[[gnu::always_inline]] inline void enqueue(Wave& wave, const MemoryFields& m,
                                           MemoryOperation& operation) {
  operation.completion = std::max(operation.completion, wave.now + 4);
  operation.vector = true;
  operation.references = m.flat ? 2 : 1;
  wave.vector_queue.push(&operation);
  if (m.flat) wave.scalar_queue.push(&operation);
  // Behind others, or without a time, it is not the next to complete.
  if (operation.unresolved == 0) {
    wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
  }
}

[[gnu::always_inline]] inline void issue(Wave& wave, const MicroOp& op,
                                         MemoryOperation& operation) {
  if (operation.exec != 0 && !go_to_memory(wave, op.memory, operation)) {
    wave.cu->release(&operation);
    return;
  }
  enqueue(wave, op.memory, operation);
}

// Where some lanes are out of range only those inside go to memory, and the others read zero, as
// those do that are inside in part behind their last byte.
void issue_lanes(Wave& wave, const MicroOp& op, MemoryOperation& operation, U64 inside) {
  const U64 exec = operation.exec;
  if (wave.cu->error()) {
    wave.cu->release(&operation);
    return;
  }
  if ((exec & ~inside) == 0 && !operation.clipped) {
    issue(wave, op, operation);
    return;
  }
  zero_results(operation);
  operation.exec = exec & inside;
  issue(wave, op, operation);
  if (!wave.cu->error()) operation.exec = exec;
}

[[gnu::always_inline]] inline void count(ComputeUnit& cu, const MicroOp& op) {
  const MemoryFields& m = op.memory;
  cu.counters.approximated += op.approximated ? 1 : 0;
  ++cu.activity.memory_instructions;
  if (m.flat) ++cu.counters.flat;
  if (m.kind == MemoryKind::load || m.kind == MemoryKind::atomic_return) {
    ++cu.counters.vmem_read;
  } else {
    ++cu.counters.vmem_write;
  }
}

[[gnu::always_inline]] inline MemoryOperation& prepare_access(Wave& wave, const MicroOp& op) {
  const MemoryFields& m = op.memory;
  const bool wide = m.element_bytes > sizeof(U32) || m.kind >= MemoryKind::atomic;
  MemoryOperation& operation = *wave.cu->new_operation(wave, wide);
  operation.kind = m.kind;
  operation.atomic = m.atomic;
  operation.element_bytes = m.element_bytes;
  operation.sign_extend = m.sign_extend;
  operation.half = m.half;
  operation.destination = op.destination;
  operation.instruction = wave.pc - op.dwords;
  operation.exec = wave.exec();
  if (m.kind == MemoryKind::load || m.kind == MemoryKind::atomic_return) {
    operation.words = static_cast<std::uint16_t>(element_words(operation));
    // Bytes and halves fill the low end of a word.
    if (m.element_bytes < 4) std::fill_n(operation.data(), kLanes, 0U);
  }
  if (m.kind != MemoryKind::load) {
    const std::size_t words = operand_words(m);
    lanes().pack(operation.data(), wave.vgpr(op.source[3]), static_cast<int>(words));
    if (m.half == 2) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) operation.data()[lane] >>= 16;
    }
    wave.cu->activity.register_bytes += enabled_lanes(operation.exec) * words * 4U;
  }
  return operation;
}

// The enabled lanes for LaneTable::addresses, which does not look at them where all are.
const U32* address_mask(Wave& wave, U64 exec) {
  return exec == ~U64{0} ? nullptr : wave.mask();
}

// The lanes' addresses, found now or ahead.
[[gnu::always_inline]] inline void set_addresses(Wave& wave, const MicroOp& op,
                                                 MemoryOperation& operation) {
  const MemoryFields& m = op.memory;
  const unsigned known = 1U << m.place;
  bool contiguous = true;
  if ((wave.known_loads & known) != 0 && m.place != 0) {
    wave.known_loads = static_cast<std::uint16_t>(wave.known_loads & ~known);
    operation.base = wave.load_address[m.place - 1U];
  } else {
    contiguous = find_addresses(wave, op, operation.exec, operation.address(), &operation.base);
  }
  operation.contiguous = use_contiguous(m, wave.cu->memory(), contiguous, operation);
  align_atomic(wave, operation);
}

void run_flat(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op) || !cu.scalar_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  count(cu, op);
  MemoryOperation& operation = prepare_access(wave, op);
  set_addresses(wave, op, operation);
  if (!operation.contiguous) {
    const U64 exec = operation.exec;
    if (!resolve_apertures(wave, operation)) {
      cu.release(&operation);
      return;
    }
    if (operation.exec != exec) {  // lanes of the LDS are done; their registers still come
      if (operation.exec != 0 && !go_to_memory(wave, m, operation)) {
        cu.release(&operation);
        return;
      }
      operation.exec = exec;
      operation.completion = std::max(operation.completion, wave.now + 64);
      operation.vector = true;
      operation.references = 2;
      wave.vector_queue.push(&operation);
      wave.scalar_queue.push(&operation);
      wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
      return;
    }
  }
  issue(wave, op, operation);
}

// global_: a 64-bit vector address, or a scalar one and 32 bits of vector offset.
void run_global(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  count(cu, op);
  MemoryOperation& operation = prepare_access(wave, op);
  set_addresses(wave, op, operation);
  issue(wave, op, operation);
}

// A load of whole words by flat_ or global_. Most often its address was found ahead, all lanes are
// enabled, and what they load, one behind the other, lies in one allocation.
template <bool flat, unsigned words>
void run_word_load(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  const MemoryFields& m = op.memory;
  const unsigned known = 1U << m.place;  // never of place 0
  const U64 base = wave.load_address[(m.place - 1U) % kLoadsAhead];
  constexpr U64 kBytes = kLanes * words * sizeof(U32);
  if ((wave.known_loads & known) == 0 || wave.vector_queue.count >= kCounterDepth ||
      (flat && wave.scalar_queue.count >= kCounterDepth) || wave.exec() != ~U64{0} ||
      !cu.memory().contains(base, kBytes) || cu.launch().checks.memory) {
    (flat ? run_flat : run_global)(wave, op);
    return;
  }
  wave.known_loads = static_cast<std::uint16_t>(wave.known_loads & ~known);
  count(cu, op);
  MemoryOperation& operation = *cu.new_operation(wave, words > 1);
  operation.element_bytes = words * sizeof(U32);
  operation.words = words;
  operation.destination = op.destination;
  operation.instruction = wave.pc - op.dwords;
  operation.exec = ~U64{0};
  operation.base = base;
  operation.contiguous = true;
  constexpr U64 kRowBytes = L1Cache::kRow * kLineBytes;
  const auto line = static_cast<U32>((base - kDeviceBase) / kLineBytes);
  const bool is_row = kBytes == kRowBytes && base % kRowBytes == 0 && cu.takes_unwatched_rows();
  if (!is_row || !LinePass(wave, m, operation).run_row(line)) cu.access_l1(wave, m, operation);
  enqueue(wave, m, operation);
}

bool loads_words(const MemoryFields& m) {
  return m.kind == MemoryKind::load && m.element_bytes >= sizeof(U32);
}
template <bool flat>
Handler word_load(const MemoryFields& m) {
  switch (m.element_bytes / sizeof(U32)) {
    case 1: return run_word_load<flat, 1>;
    case 2: return run_word_load<flat, 2>;
    case 3: return run_word_load<flat, 3>;
    default: return run_word_load<flat, 4>;
  }
}

// Whether the enabled lanes, all of which stay where they may go, have their elements, of whole
// words, one behind the other.
bool lie_in_row(MemoryOperation& operation) {
  const U64 exec = operation.exec;
  const U64 bytes = operation.element_bytes;
  if (exec == 0 || bytes < sizeof(U32) || operation.kind > MemoryKind::store || operation.spread) {
    return false;
  }
  const auto first = static_cast<unsigned>(std::countr_zero(exec));
  const U64* const address = operation.address();
  operation.base = address[first] - first * bytes;
  if (operation.base < kDeviceBase) return false;
  if (exec == ~U64{0}) return lanes().follow_one_another(address, kLanes, bytes);
  for (U64 set = exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(set));
    if (address[lane] != operation.base + lane * bytes) return false;
  }
  return true;
}

// scratch_: an offset into the lane's private memory, whose words lie 64 lanes apart.
void run_scratch(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  count(cu, op);
  MemoryOperation& operation = prepare_access(wave, op);
  const U32* vector = op.kind[0] == Source::vgpr ? wave.vgpr(m.address) : nullptr;
  const U32 scalar = op.kind[2] == Source::scalar ? wave.sr[m.resource] : 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    operation.address()[lane] =
        private_address(wave, lane, (vector != nullptr ? vector[lane] : 0U) + scalar + m.offset);
  }
  const U64 inside = check_private(wave, operation, operation.exec);
  operation.contiguous = (operation.exec & ~inside) == 0 && lie_in_row(operation);
  issue_lanes(wave, op, operation, inside);
}

void run_buffer(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  count(cu, op);
  MemoryOperation& operation = prepare_access(wave, op);
  if (m.addr64) {
    const U32* descriptor = wave.sr + m.resource;
    const U64 base = (descriptor[0] | U64{descriptor[1] & 0xFFFFU} << 32) +
                     buffer_scalar_offset(wave, op) + m.offset;
    const bool contiguous = lanes().addresses(
        operation.address(), wave.vgpr(m.address), wave.vgpr(m.address + 1U), base, operation.exec,
        address_mask(wave, operation.exec), m.element_bytes, &operation.base);
    operation.contiguous = use_contiguous(m, cu.memory(), contiguous, operation);
    align_atomic(wave, operation);
    issue(wave, op, operation);
    return;
  }
  const U64 inside = find_buffer_addresses(wave, op, operation);
  if (wave.cu->error() || refuses_atomic(wave, operation)) {
    cu.release(&operation);
    return;
  }
  align_atomic(wave, operation);
  if ((operation.exec & ~inside) == 0 && lie_in_row(operation)) operation.contiguous = true;
  issue_lanes(wave, op, operation, inside);
}

void run_without_effect(Wave&, const MicroOp&) {}

void invalidate_l1(Wave& wave, const MicroOp&) {
  wave.cu->invalidate_l1();
}

void invalidate_gl1(Wave& wave, const MicroOp&) {
  wave.cu->empties_gl1 = true;
}

struct AccessShape {
  MemoryKind kind{};
  int bytes{};
  bool sign{};
  AtomicOp atomic{};
  std::uint8_t half{};
};

// Finds the shape by the mnemonic behind "buffer_" or "flat_".
std::optional<AccessShape> access_shape(std::string_view name) {
  static constexpr std::pair<std::string_view, AccessShape> kPlain[] = {
      {"load_dword", {MemoryKind::load, 4, false, {}}},
      {"load_dwordx2", {MemoryKind::load, 8, false, {}}},
      {"load_dwordx3", {MemoryKind::load, 12, false, {}}},
      {"load_dwordx4", {MemoryKind::load, 16, false, {}}},
      {"load_ubyte", {MemoryKind::load, 1, false, {}}},
      {"load_sbyte", {MemoryKind::load, 1, true, {}}},
      {"load_ushort", {MemoryKind::load, 2, false, {}}},
      {"load_sshort", {MemoryKind::load, 2, true, {}}},
      {"load_short_d16", {MemoryKind::load, 2, false, {}, 1}},
      {"load_short_d16_hi", {MemoryKind::load, 2, false, {}, 2}},
      {"load_ubyte_d16", {MemoryKind::load, 1, false, {}, 1}},
      {"load_ubyte_d16_hi", {MemoryKind::load, 1, false, {}, 2}},
      {"load_sbyte_d16", {MemoryKind::load, 1, true, {}, 1}},
      {"load_sbyte_d16_hi", {MemoryKind::load, 1, true, {}, 2}},
      {"store_byte_d16_hi", {MemoryKind::store, 1, false, {}, 2}},
      {"store_short_d16_hi", {MemoryKind::store, 2, false, {}, 2}},
      {"store_dword", {MemoryKind::store, 4, false, {}}},
      {"store_dwordx2", {MemoryKind::store, 8, false, {}}},
      {"store_dwordx3", {MemoryKind::store, 12, false, {}}},
      {"store_dwordx4", {MemoryKind::store, 16, false, {}}},
      {"store_byte", {MemoryKind::store, 1, false, {}}},
      {"store_short", {MemoryKind::store, 2, false, {}}},
  };
  for (const auto& [text, shape] : kPlain) {
    if (name == text) return shape;
  }
  if (!name.starts_with("atomic_")) return std::nullopt;
  name.remove_prefix(7);
  int bytes = 4;
  if (name.ends_with("_x2")) {
    bytes = 8;
    name.remove_suffix(3);
  }
  if (name.ends_with("_f64")) bytes = 8;
  static constexpr std::pair<std::string_view, AtomicOp> kAtomics[] = {
      {"swap", AtomicOp::swap},
      {"cmpswap", AtomicOp::cmpswap},
      {"add", AtomicOp::add},
      {"sub", AtomicOp::sub},
      {"smin", AtomicOp::smin},
      {"umin", AtomicOp::umin},
      {"smax", AtomicOp::smax},
      {"umax", AtomicOp::umax},
      {"and", AtomicOp::and_},
      {"or", AtomicOp::or_},
      {"xor", AtomicOp::xor_},
      {"inc", AtomicOp::inc},
      {"dec", AtomicOp::dec},
      {"fcmpswap", AtomicOp::fcmpswap},
      {"fmin", AtomicOp::fmin},
      {"fmax", AtomicOp::fmax},
      {"add_f32", AtomicOp::fadd},
      {"add_f64", AtomicOp::fadd},
      {"min_f64", AtomicOp::fmin},
      {"max_f64", AtomicOp::fmax},
      {"pk_add_f16", AtomicOp::fadd_halves},
  };
  for (const auto& [text, atomic] : kAtomics) {
    if (name == text) return AccessShape{MemoryKind::atomic, bytes, false, atomic};
  }
  return std::nullopt;
}

}  // namespace

bool lower_vector_memory(const Instruction& instruction, MicroOp& op) {
  op.unit = Unit::vmem;
  if (instruction.opcode == Opcode::buffer_wbinvl1 ||
      instruction.opcode == Opcode::buffer_gl0_inv ||
      instruction.opcode == Opcode::buffer_wbinvl1_vol ||
      instruction.opcode == Opcode::buffer_inv) {  // of any scope
    op.run = invalidate_l1;
    return true;
  }
  // The L2 is the chip's one point of coherence: nothing is to be done.
  if (instruction.opcode == Opcode::buffer_gl1_inv) {
    op.run = invalidate_gl1;
    return true;
  }
  if (instruction.opcode == Opcode::buffer_wbl2 || instruction.opcode == Opcode::buffer_invl2) {
    op.run = run_without_effect;
    return true;
  }
  std::string_view name = binpatch::isa::mnemonic(instruction.opcode);
  const bool flat = name.starts_with("flat_");
  const bool global = name.starts_with("global_");
  const bool scratch = name.starts_with("scratch_");
  if (!flat && !global && !scratch && !name.starts_with("buffer_")) return false;
  name.remove_prefix(name.find('_') + 1);
  const auto shape = access_shape(name);
  const auto& modifiers = instruction.modifiers;
  if (!shape && !flat && !global && !scratch) return lower_typed_buffer(instruction, op);
  if (!shape || modifiers.tfe || modifiers.lds) return false;

  op.memory = MemoryFields{};
  MemoryFields& m = op.memory;
  m.kind = shape->kind;
  if (m.kind == MemoryKind::atomic && modifiers.glc) m.kind = MemoryKind::atomic_return;
  m.element_bytes = static_cast<std::uint8_t>(shape->bytes);
  m.sign_extend = shape->sign;
  m.atomic = shape->atomic;
  m.half = shape->half;
  // CDNA 3 says the scope in two bits, of which either is more than the wave: such a load goes
  // around the L1. For atomics the lower bit is glc, which asks for the old value.
  m.glc = modifiers.glc || modifiers.sc1;
  m.addr64 = modifiers.addr64;
  m.offen = modifiers.offen;
  m.idxen = modifiers.idxen;
  m.offset = modifiers.offset;
  m.flat = flat;
  m.lane_addresses = flat || global;
  m.address = instruction.src[0].index;
  op.destination = vector_index(instruction.dst[0]);
  op.source[3] = vector_index(instruction.src[flat || global || scratch ? 1 : 3]);
  if (flat) {
    op.run = loads_words(m) ? word_load<true>(m) : run_flat;
    return true;
  }
  if (global || scratch) {
    op.kind[0] = instruction.src[0].kind == OperandKind::vgpr ? Source::vgpr : Source::none;
    if (const auto index = scalar_index(instruction.src[2])) {
      if (*index >= kScalarFile) return false;
      op.kind[2] = Source::scalar;
      m.resource = *index;
    }
    op.run = !global ? run_scratch : loads_words(m) ? word_load<false>(m) : run_global;
    return true;
  }
  op.run = run_buffer;
  return lower_buffer_resource(instruction, op);
}

bool lower_buffer_resource(const Instruction& instruction, MicroOp& op) {
  op.memory.resource = instruction.src[1].index;
  if (const auto index = scalar_index(instruction.src[2]); index && *index != kNull) {
    if (*index >= kScalarFile) return false;
    op.kind[2] = Source::scalar;
    op.source[2] = *index;
  } else {
    op.kind[2] = Source::constant;
    op.immediate = static_cast<std::int32_t>(instruction.src[2].value);
  }
  return instruction.src[1].kind == OperandKind::sgpr;
}

void count_vector_memory(ComputeUnit& cu, const MicroOp& op) {
  count(cu, op);
}

void issue_lanes_inside(Wave& wave, const MicroOp& op, MemoryOperation& operation, U64 inside) {
  issue_lanes(wave, op, operation, inside);
}

void issue_taps(Wave& wave, const MicroOp& op, MemoryOperation& operation) {
  TapSet& taps = operation.bytes->image->taps;
  const U64 exec = operation.exec;
  U64 touched = 0;
  for (std::size_t tap = 0; tap < taps.count; ++tap) {
    operation.exec = taps.inside[tap];
    std::copy_n(taps.address[tap], kLanes, operation.address());
    taps.inside[tap] = guard_lanes(wave, operation);
    if (wave.cu->error()) {
      wave.cu->release(&operation);
      return;
    }
    touched |= taps.inside[tap];
  }
  operation.spread = true;
  operation.bytes->rows_bytes = 0;
  operation.exec = touched;
  if (touched != 0) wave.cu->access_l1(wave, op.memory, operation);
  operation.exec = exec;
  enqueue(wave, op.memory, operation);
}

}  // namespace ww::sim::gpu::exec
