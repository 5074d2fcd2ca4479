#include "fast/forms/load_addresses.hpp"

#include "fast/forms/lane_forms.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {
namespace {

bool has_scalar_base(const MicroOp& op) {
  return op.kind[2] == Source::scalar;
}

// Immediate offsets are signed.
std::uint64_t signed_offset(const MemoryFields& m) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(m.offset)));
}

// Finds addresses for all lanes, where the address registers have forms that give them.
inline bool find_formed_address(const Wave& wave, const MicroOp& op, std::uint64_t* base) {
  const MemoryFields& m = op.memory;
  if (has_scalar_base(op)) {
    if (!has_contiguous_base(wave, m.address, 1, m.element_bytes, base)) return false;
    *base += wave.pair(m.resource);
  } else if (!has_contiguous_base(wave, m.address, 2, m.element_bytes, base)) {
    return false;
  }
  *base += signed_offset(m);
  return true;
}

RegisterSet address_registers(const MicroOp& op) {
  RegisterSet set;
  set.add_vector(op.memory.address, has_scalar_base(op) ? 1 : 2);
  if (has_scalar_base(op)) set.add_scalar(op.memory.resource, 2);
  return set;
}

// The rest of find_load_addresses(), seldom needed and kept out of its loop: of lanes that have no
// form but may lie in a row.
[[gnu::noinline]] bool find_lane_addresses(Wave& wave, const MicroOp& op, std::uint64_t* base) {
  alignas(64) std::uint64_t unused[kLanes];
  return find_addresses(wave, op, ~std::uint64_t{0}, unused, base);
}
[[gnu::noinline]] bool awaits_address(const Wave& wave, const MicroOp& op) {
  return awaits(wave, address_registers(op));
}

bool is_plain_load(const MicroOp& op) {
  return op.unit == Unit::vmem && op.memory.lane_addresses && op.memory.kind == MemoryKind::load &&
         op.memory.element_bytes >= 4;
}

// Links the loads from `dword` on; returns the first one's dword, or 0.
std::uint32_t link_from(std::vector<MicroOp>& code, std::size_t dword) {
  RegisterSet written;
  std::uint32_t first = 0;
  std::uint32_t* link = &first;
  std::uint8_t place = 0;
  for (; dword < code.size() && place < kLoadsAhead; dword += code[dword].dwords) {
    MicroOp& op = code[dword];
    if (op.opcode == Opcode::s_waitcnt || op.opcode == Opcode::s_nop) continue;
    if (!is_plain_load(op)) break;
    MemoryFields& m = op.memory;
    if (written.has_vector(m.address, has_scalar_base(op) ? 1 : 2)) break;
    written.add_vector(op.destination, m.element_bytes / 4U);
    *link = static_cast<std::uint32_t>(dword);
    link = &m.next_load;
    m.next_load = 0;
    m.place = ++place;
  }
  return first;
}

}  // namespace

bool find_addresses(Wave& wave, const MicroOp& op, std::uint64_t exec, std::uint64_t* lane_address,
                    std::uint64_t* base) {
  const MemoryFields& m = op.memory;
  alignas(64) static constexpr std::uint32_t kNoHigh[kLanes] = {};
  const bool scalar = has_scalar_base(op);
  if (wave.formed != 0) {
    if (exec == ~std::uint64_t{0} && find_formed_address(wave, op, base)) return true;
    write_lanes(wave, wave.unwritten & formable(m.address, scalar ? 1 : 2));
  }
  const std::uint64_t offset = signed_offset(m) + (scalar ? wave.pair(m.resource) : 0);
  return lanes().addresses(
      lane_address, wave.vgpr(m.address), scalar ? kNoHigh : wave.vgpr(m.address + 1U), offset,
      exec, exec == ~std::uint64_t{0} ? nullptr : wave.mask(), m.element_bytes, base);
}

void link_loads(std::vector<MicroOp>& code, StraightLines& lines) {
  // A run's end is known from its last instruction, the one that nothing straight follows.
  for (std::size_t dword = code.size(); dword-- != 0;) {
    StraightRun& run = lines.run[dword];
    if (run.count == 0) continue;
    const std::size_t next = dword + code[dword].dwords;
    if (next >= code.size()) continue;
    run.load = run.count > 1 ? lines.run[next].load : link_from(code, next);
  }
}

void find_load_addresses(Wave& wave, std::uint32_t load) {
  if (wave.exec() != ~std::uint64_t{0}) return;
  const bool waits = wave.vector_queue.count + wave.scalar_queue.count != 0;
  const MicroOp* const code = wave.code;
  std::uint64_t* base = wave.load_address;
  std::uint32_t known = 2;
  for (; load != 0; ++base, known <<= 1) {
    const MicroOp& op = code[load];
    if (waits && awaits_address(wave, op)) break;
    if (!find_formed_address(wave, op, base) && !find_lane_addresses(wave, op, base)) break;
    load = op.memory.next_load;
  }
  wave.known_loads = static_cast<std::uint16_t>(wave.known_loads | (known - 2));
}

}  // namespace ww::sim::gpu::exec
