// LDS instructions. LDS memory is touched when the instruction issues (one wave at a time, in
// order); its result reaches the registers when it completes.
// Source: AMD Sea Islands ISA, chapter 10. Reads out of the group's range give 0, writes do
// nothing. Address and offset are added modulo 2^32 (from gfx7 on), and compilers count on it: the
// address of t[63 - i] is -4 i, with the offset 252.
#include "machine/memory/lds.hpp"

#include <algorithm>
#include <bit>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_guard.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"
#include "machine/memory/bank_conflicts.hpp"
#include "machine/memory/memory_instructions.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

struct LdsView {
  std::byte* bytes;
  U64 size;
  explicit LdsView(Wave& wave) : bytes(wave.cu->lds(*wave.group)), size(wave.group->lds_bytes) {}
  [[nodiscard]] bool inside(U64 address, U64 count) const { return address + count <= size; }
};

// Calls f(lane) for each enabled lane.
template <class F>
[[gnu::always_inline]] inline void for_lanes(U64 exec, F&& f) {
  if (exec == ~U64{0}) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) f(lane);
    return;
  }
  for (U64 set = exec; set != 0; set &= set - 1) f(static_cast<std::size_t>(std::countr_zero(set)));
}

// Reads elements of `Bytes` bytes, all of which are there, `stride` words apart in `target`.
template <std::size_t Bytes>
void read_elements(const std::byte* bytes, const U32* address, U32 offset, U64 exec, U32* target,
                   std::size_t stride) {
  for_lanes(exec, [&](std::size_t lane) {
    U32 element[(Bytes + 3) / 4] = {};
    std::memcpy(element, bytes + (address[lane] + offset), Bytes);
    std::memcpy(target + lane * stride, element, sizeof element);
  });
}

// Elements of a word or more from as many registers, the first at `data`.
template <std::size_t Words>
void write_elements(std::byte* bytes, const U32* address, U32 offset, U64 exec, const U32* data) {
  for_lanes(exec, [&](std::size_t lane) {
    std::byte* const place = bytes + (address[lane] + offset);
    for (std::size_t w = 0; w < Words; ++w) {
      std::memcpy(place + 4 * w, data + w * kLanes + lane, sizeof *data);
    }
  });
}

// Whether the launch asks for checks; a store's values are in `data`, one for each lane.
[[nodiscard]] bool checked(const Wave& wave) {
  return wave.cu->launch().checks.memory || wave.cu->watched().local_memory;
}

void check_lane(Wave& wave, AccessKind kind, std::size_t lane, U64 at, U64 bytes,
                const std::byte* value) {
  const LaneAccess access{kind, static_cast<U32>(lane), at, static_cast<unsigned>(bytes), value};
  if (wave.cu->launch().checks.memory) check_local(wave, access);
  for (CuObserver* const observer : wave.cu->observers()) observer->accessed(wave, access);
}

void finish(Wave& wave, MemoryOperation& operation, std::int64_t cycles) {
  ComputeUnit& cu = *wave.cu;
  const std::int64_t start = std::max(wave.now, cu.lds_free);
  cu.lds_free = start + cycles;
  operation.completion = start + cycles + cu.launch().local_memory_cycles;
  operation.references = 1;
  wave.scalar_queue.push(&operation);
  wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
}

MemoryOperation* begin(Wave& wave, const MicroOp& op, bool wide = false) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.scalar_slot_free(wave, op)) return nullptr;
  ++cu.counters.lds;
  MemoryOperation* operation = cu.new_operation(wave, wide);
  cu.prefetch_operations(wide);
  operation->kind = MemoryKind::store;
  operation->exec = wave.exec();
  operation->element_bytes = op.memory.element_bytes;
  operation->destination = op.destination;
  cu.activity.lds_accesses += static_cast<unsigned>(std::popcount(operation->exec));
  return operation;
}

// The lanes of a read all of which are inside, `stride` words apart in `target`.
void read_all(const LdsView& lds, const MemoryFields& m, const U32* address, U32 offset, U64 exec,
              const LocalAccess& access, U32* target, std::size_t stride) {
  if (access.in_row && m.element_bytes == 4 && stride == 1) {
    std::memcpy(target, lds.bytes + (address[0] + offset), kLanes * sizeof(U32));
    return;
  }
  switch (m.element_bytes) {
    case 1: return read_elements<1>(lds.bytes, address, offset, exec, target, stride);
    case 2: return read_elements<2>(lds.bytes, address, offset, exec, target, stride);
    case 4: return read_elements<4>(lds.bytes, address, offset, exec, target, stride);
    case 8: return read_elements<8>(lds.bytes, address, offset, exec, target, stride);
    case 12: return read_elements<12>(lds.bytes, address, offset, exec, target, stride);
    default: return read_elements<16>(lds.bytes, address, offset, exec, target, stride);
  }
}

// Writes all lanes at once; false where the elements are parts of words.
bool write_all(const LdsView& lds, const MemoryFields& m, const U32* address, U32 offset, U64 exec,
               const LocalAccess& access, const U32* data) {
  if (access.in_row && m.element_bytes == 4) {
    std::memcpy(lds.bytes + (address[0] + offset), data, kLanes * sizeof(U32));
    return true;
  }
  switch (m.element_bytes) {
    case 4: write_elements<1>(lds.bytes, address, offset, exec, data); return true;
    case 8: write_elements<2>(lds.bytes, address, offset, exec, data); return true;
    case 12: write_elements<3>(lds.bytes, address, offset, exec, data); return true;
    case 16: write_elements<4>(lds.bytes, address, offset, exec, data); return true;
    default: return false;
  }
}

// Finds the access of one part of the instruction that the wave executes.
LocalAccess find_access(Wave& wave, std::size_t part, const U32* address, U32 offset) {
  return find_local_access(wave.pc / 2 + static_cast<U32>(part), address, offset, wave.exec(),
                           wave.mask());
}

void run_read(Wave& wave, const MicroOp& op) {
  const MemoryFields& m = op.memory;
  const std::size_t element = m.element_bytes < 4 ? 1 : m.element_bytes / 4U;
  const std::size_t words = element * m.parts;
  MemoryOperation* operation = begin(wave, op, words > 1);
  if (operation == nullptr) return;
  const LdsView lds(wave);
  const U32* address = wave.vgpr(m.address);
  operation->kind = MemoryKind::load;
  operation->sign_extend = m.sign_extend;
  operation->half = m.half;
  operation->words = static_cast<std::uint8_t>(words);
  std::int64_t cycles = 0;
  const bool check = checked(wave);
  for (std::size_t part = 0; part < m.parts; ++part) {
    const U32 offset = part == 0 ? m.offset : m.offset2;
    const LocalAccess access = find_access(wave, part, address, offset);
    cycles += access.cycles * static_cast<std::int64_t>(element);
    U32* const first = operation->data() + part * element;
    if (!check && lds.inside(access.last, m.element_bytes)) [[likely]] {
      read_all(lds, m, address, offset, operation->exec, access, first, words);
      continue;
    }
    for (U64 set = operation->exec; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      U32* target = first + lane * words;
      const U64 at = address[lane] + offset;
      if (check) [[unlikely]]
        check_lane(wave, AccessKind::load, lane, at, m.element_bytes, nullptr);
      std::fill_n(target, element, 0U);
      if (lds.inside(at, m.element_bytes)) std::memcpy(target, lds.bytes + at, m.element_bytes);
    }
  }
  finish(wave, *operation, cycles);
}

void run_write(Wave& wave, const MicroOp& op) {
  MemoryOperation* operation = begin(wave, op);
  if (operation == nullptr) return;
  const MemoryFields& m = op.memory;
  const LdsView lds(wave);
  const U32* address = wave.vgpr(m.address);
  const std::size_t element = m.element_bytes < 4 ? 1 : m.element_bytes / 4U;
  std::int64_t cycles = 0;
  const bool check = checked(wave);
  for (std::size_t part = 0; part < m.parts; ++part) {
    const U32 offset = part == 0 ? m.offset : m.offset2;
    const U32* data = wave.vgpr(part == 0 ? op.source[3] : m.data2);
    const LocalAccess access = find_access(wave, part, address, offset);
    cycles += access.cycles * static_cast<std::int64_t>(element);
    wave.cu->activity.register_bytes +=
        static_cast<unsigned>(std::popcount(operation->exec)) * element * 4U;
    if (!check && lds.inside(access.last, m.element_bytes) &&
        write_all(lds, m, address, offset, operation->exec, access, data)) [[likely]] {
      continue;
    }
    for (U64 set = operation->exec; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      const U64 at = address[lane] + offset;
      if (check) [[unlikely]] {
        U32 value[4] = {};
        for (std::size_t w = 0; w < element; ++w) value[w] = data[w * kLanes + lane];
        check_lane(wave, AccessKind::store, lane, at, m.element_bytes,
                   reinterpret_cast<const std::byte*>(value));
      }
      if (!lds.inside(at, m.element_bytes)) continue;
      if (element == 1) {
        const U32 value = m.half == 2 ? data[lane] >> 16 : data[lane];
        std::memcpy(lds.bytes + at, &value, m.element_bytes);
      } else {
        for (std::size_t w = 0; w < element; ++w) {
          std::memcpy(lds.bytes + at + 4 * w, data + w * kLanes + lane, 4);
        }
      }
    }
  }
  finish(wave, *operation, cycles);
}

U64 register_value(const U32* registers, std::size_t lane, int bytes) {
  return bytes == 8 ? registers[lane] | U64{registers[kLanes + lane]} << 32 : registers[lane];
}

void run_atomic(Wave& wave, const MicroOp& op) {
  MemoryOperation* operation = begin(wave, op, true);
  if (operation == nullptr) return;
  const MemoryFields& m = op.memory;
  const LdsView lds(wave);
  const U32* address = wave.vgpr(m.address);
  const U32* first = wave.vgpr(op.source[3]);
  const U32* second = wave.vgpr(m.data2);
  // A compare-and-swap of the LDS (ds_cmpst) has the comparison first, the new value second. That
  // of gfx11 (ds_cmpstore) has them as memory's has.
  const bool swapped = (m.atomic == AtomicOp::cmpswap || m.atomic == AtomicOp::fcmpswap) &&
                       wave.cu->launch().isa != Isa::gfx1100;
  const bool masked = m.atomic == AtomicOp::mskor;
  const std::size_t words = m.element_bytes / 4U;
  if (m.kind == MemoryKind::atomic_return) {
    operation->kind = MemoryKind::atomic_return;
    operation->words = static_cast<std::uint8_t>(words);
  }
  for (U64 set = operation->exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    const U64 at = address[lane] + m.offset;
    if (checked(wave)) [[unlikely]]
      check_lane(wave, AccessKind::atomic, lane, at, m.element_bytes, nullptr);
    U64 old = 0;
    if (lds.inside(at, m.element_bytes)) {
      const U64 a = register_value(first, lane, m.element_bytes);
      const U64 b = register_value(second, lane, m.element_bytes);
      const bool exchange = swapped || masked;
      old = atomic_update(m.atomic, lds.bytes + at, m.element_bytes, exchange ? b : a,
                          exchange ? a : b);
    }
    operation->old()[lane * words] = static_cast<U32>(old);
    if (words == 2) operation->old()[lane * words + 1] = static_cast<U32>(old >> 32);
  }
  finish(wave, *operation,
         atomic_bank_cycles(address, m.offset, operation->exec, wave.mask()) *
             static_cast<std::int64_t>(words));
}

// ds_permute_b32 sends each lane's word to another lane, ds_bpermute_b32 fetches it from there.
template <bool Fetch>
void run_permute(Wave& wave, const MicroOp& op) {
  MemoryOperation* operation = begin(wave, op);
  if (operation == nullptr) return;
  const U32* address = wave.vgpr(op.memory.address);
  const U32* source = wave.vgpr(op.source[3]);
  operation->kind = MemoryKind::load;
  operation->element_bytes = 4;
  operation->words = 1;
  const bool rows = is_rdna(wave.cu->launch().isa);
  if (Fetch && operation->exec == ~U64{0}) {
    lanes().take_lanes(operation->data(), source, address, op.memory.offset, rows ? 32 : kLanes);
    finish(wave, *operation, 2);
    return;
  }
  std::fill_n(operation->data(), kLanes, 0U);
  for (U64 set = operation->exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    // RDNA's rows of the LDS are 32 lanes wide.
    const std::size_t chosen = (address[lane] + op.memory.offset) / 4;
    const std::size_t other = rows ? (lane & 32U) | chosen % 32 : chosen % kLanes;
    const std::size_t from = Fetch ? other : lane;
    const std::size_t to = Fetch ? lane : other;
    if ((operation->exec >> from & 1U) != 0) operation->data()[to] = source[from];
  }
  finish(wave, *operation, 2);
}

// ds_swizzle_b32: lanes of a row of 32 (or quads) exchange values; disabled lanes give 0.
void run_swizzle(Wave& wave, const MicroOp& op) {
  MemoryOperation* operation = begin(wave, op);
  if (operation == nullptr) return;
  const U32 offset = op.memory.offset;
  const U32* source = wave.vgpr(op.memory.address);
  operation->kind = MemoryKind::load;
  operation->element_bytes = 4;
  operation->words = 1;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    unsigned from = 0;
    if ((offset & 0x8000U) != 0) {
      from = (lane & ~3U) | (offset >> (2 * (lane & 3U)) & 3U);
    } else {
      const unsigned in_row =
          (((lane & 31U) & (offset & 31U)) | (offset >> 5 & 31U)) ^ (offset >> 10 & 31U);
      from = (lane & 32U) | in_row;
    }
    operation->data()[lane] = (operation->exec >> from & 1U) != 0 ? source[from] : 0;
  }
  finish(wave, *operation, 2);
}

struct LdsShape {
  Handler run{};
  int bytes{};
  int parts{1};
  U32 scale{};  // of the two offsets
  bool sign{};
  AtomicOp atomic{};
  bool returns{};
  std::uint8_t half{};
};

LdsShape half_shape(Handler run, int bytes, bool sign, std::uint8_t half) {
  LdsShape shape{run, bytes, 1, 0, sign};
  shape.half = half;
  return shape;
}

std::optional<LdsShape> plain_shape(Opcode opcode) {
  switch (opcode) {
    case Opcode::ds_read_b32: return LdsShape{run_read, 4};
    case Opcode::ds_read_b64: return LdsShape{run_read, 8};
    case Opcode::ds_read_b96: return LdsShape{run_read, 12};
    case Opcode::ds_read_b128: return LdsShape{run_read, 16};
    case Opcode::ds_read_u8: return LdsShape{run_read, 1};
    case Opcode::ds_read_u16: return LdsShape{run_read, 2};
    case Opcode::ds_read_i8: return LdsShape{run_read, 1, 1, 0, true};
    case Opcode::ds_read_i16: return LdsShape{run_read, 2, 1, 0, true};
    case Opcode::ds_read_u8_d16: return half_shape(run_read, 1, false, 1);
    case Opcode::ds_read_u8_d16_hi: return half_shape(run_read, 1, false, 2);
    case Opcode::ds_read_i8_d16: return half_shape(run_read, 1, true, 1);
    case Opcode::ds_read_i8_d16_hi: return half_shape(run_read, 1, true, 2);
    case Opcode::ds_read_u16_d16: return half_shape(run_read, 2, false, 1);
    case Opcode::ds_read_u16_d16_hi: return half_shape(run_read, 2, false, 2);
    case Opcode::ds_write_b8_d16_hi: return half_shape(run_write, 1, false, 2);
    case Opcode::ds_write_b16_d16_hi: return half_shape(run_write, 2, false, 2);
    case Opcode::ds_permute_b32: return LdsShape{run_permute<false>, 4};
    case Opcode::ds_bpermute_b32: return LdsShape{run_permute<true>, 4};
    case Opcode::ds_read2_b32: return LdsShape{run_read, 4, 2, 4};
    case Opcode::ds_read2_b64: return LdsShape{run_read, 8, 2, 8};
    case Opcode::ds_read2st64_b32: return LdsShape{run_read, 4, 2, 256};
    case Opcode::ds_read2st64_b64: return LdsShape{run_read, 8, 2, 512};
    case Opcode::ds_write_b8: return LdsShape{run_write, 1};
    case Opcode::ds_write_b16: return LdsShape{run_write, 2};
    case Opcode::ds_write_b32: return LdsShape{run_write, 4};
    case Opcode::ds_write_b64: return LdsShape{run_write, 8};
    case Opcode::ds_write_b96: return LdsShape{run_write, 12};
    case Opcode::ds_write_b128: return LdsShape{run_write, 16};
    case Opcode::ds_write2_b32: return LdsShape{run_write, 4, 2, 4};
    case Opcode::ds_write2_b64: return LdsShape{run_write, 8, 2, 8};
    case Opcode::ds_write2st64_b32: return LdsShape{run_write, 4, 2, 256};
    case Opcode::ds_write2st64_b64: return LdsShape{run_write, 8, 2, 512};
    case Opcode::ds_swizzle_b32: return LdsShape{run_swizzle, 4};
    default: return std::nullopt;
  }
}

// ds_<operation>[_rtn]_<type>
std::optional<LdsShape> atomic_shape(std::string_view name) {
  static constexpr std::pair<std::string_view, AtomicOp> kNames[] = {
      {"add", AtomicOp::add},     {"sub", AtomicOp::sub},       {"rsub", AtomicOp::rsub},
      {"inc", AtomicOp::inc},     {"dec", AtomicOp::dec},       {"and", AtomicOp::and_},
      {"or", AtomicOp::or_},      {"xor", AtomicOp::xor_},      {"mskor", AtomicOp::mskor},
      {"wrxchg", AtomicOp::swap}, {"cmpst", AtomicOp::cmpswap}, {"wrap", AtomicOp::wrap},
      {"min", AtomicOp::umin},    {"max", AtomicOp::umax},
  };
  name.remove_prefix(3);
  LdsShape shape{run_atomic, name.ends_with("64") ? 8 : 4};
  const std::size_t split = name.find('_');
  if (split == std::string_view::npos) return std::nullopt;
  const std::string_view stem = name.substr(0, split);
  std::string_view type = name.substr(split + 1);
  if (type.starts_with("rtn_")) {
    shape.returns = true;
    type.remove_prefix(4);
  }
  if (type.size() != 3) return std::nullopt;  // the src2 forms are not here
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const auto& entry) { return entry.first == stem; });
  if (found == std::end(kNames)) return std::nullopt;
  shape.atomic = found->second;
  if (shape.atomic == AtomicOp::umin && type[0] != 'u') {
    shape.atomic = type[0] == 'i' ? AtomicOp::smin : AtomicOp::fmin;
  } else if (shape.atomic == AtomicOp::umax && type[0] != 'u') {
    shape.atomic = type[0] == 'i' ? AtomicOp::smax : AtomicOp::fmax;
  } else if (shape.atomic == AtomicOp::add && type[0] == 'f') {
    shape.atomic = AtomicOp::fadd;
  } else if (shape.atomic == AtomicOp::cmpswap && type[0] == 'f') {
    shape.atomic = AtomicOp::fcmpswap;
  }
  return shape;
}

}  // namespace

void flat_lds_access(Wave& wave, MemoryOperation& operation, std::uint64_t lanes_here) {
  const LdsView lds(wave);
  const std::size_t words = element_words(operation);
  const bool two = operation.atomic == AtomicOp::cmpswap || operation.atomic == AtomicOp::fcmpswap;
  for (U64 set = lanes_here; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    const U64 at = operation.address()[lane] & 0xFFFFFFFFU;
    const U64 bytes = operation.element_bytes;
    U32* data = operation.data() + lane * words;
    if (checked(wave)) [[unlikely]] {
      const bool store = operation.kind == MemoryKind::store;
      check_lane(wave,
                 operation.kind == MemoryKind::load ? AccessKind::load
                 : store                            ? AccessKind::store
                                                    : AccessKind::atomic,
                 lane, at, bytes, store ? reinterpret_cast<const std::byte*>(data) : nullptr);
    }
    if (operation.kind == MemoryKind::load) {
      std::fill_n(data, words, 0U);
      if (lds.inside(at, bytes)) std::memcpy(data, lds.bytes + at, bytes);
    } else if (!lds.inside(at, bytes)) {
      if (operation.kind == MemoryKind::store) continue;
      std::fill_n(operation.old() + lane * std::min<std::size_t>(words, 2),
                  std::min<std::size_t>(words, 2), 0U);
    } else if (operation.kind == MemoryKind::store) {
      std::memcpy(lds.bytes + at, data, bytes);
    } else {
      data = operation.data() + lane * words * (two ? 2 : 1);
      U64 operand = 0;
      U64 compare = 0;
      std::memcpy(&operand, data, bytes);
      if (two) std::memcpy(&compare, data + words, bytes);
      const U64 old = atomic_update(operation.atomic, lds.bytes + at, static_cast<int>(bytes),
                                    operand, compare);
      std::memcpy(operation.old() + lane * words, &old, bytes);
    }
  }
  wave.cu->activity.lds_accesses += static_cast<unsigned>(std::popcount(lanes_here));
}

bool lower_lds(const Instruction& instruction, MicroOp& op) {
  op.unit = Unit::lds;
  if (instruction.modifiers.gds) return false;
  auto shape = plain_shape(instruction.opcode);
  if (!shape) shape = atomic_shape(binpatch::isa::mnemonic(instruction.opcode));
  if (!shape) return false;
  op.memory = MemoryFields{};
  MemoryFields& m = op.memory;
  op.run = shape->run;
  m.element_bytes = static_cast<std::uint8_t>(shape->bytes);
  m.parts = static_cast<std::uint8_t>(shape->parts);
  m.sign_extend = shape->sign;
  m.atomic = shape->atomic;
  m.kind = shape->returns ? MemoryKind::atomic_return : MemoryKind::atomic;
  const U32 offset = instruction.modifiers.offset;
  m.offset = shape->parts == 2 ? (offset & 255U) * shape->scale : offset;
  const U32 second = (offset >> 8 & 255U) * shape->scale;
  m.offset2 = static_cast<std::uint16_t>(second & 0xFFFFU);
  if (shape->parts == 2 && second > 0xFFFFU) return false;
  m.address = instruction.src[0].index;
  op.source[3] = vector_index(instruction.src[1]);
  m.data2 = vector_index(instruction.src[2]);
  op.destination = vector_index(instruction.dst[0]);
  m.half = shape->half;
  return true;
}

}  // namespace ww::sim::gpu::exec
