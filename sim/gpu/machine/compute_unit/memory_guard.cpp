#include "machine/compute_unit/memory_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/private_memory.hpp"
#include "ww/sim/gpu/memory_fault.hpp"

namespace ww::sim::gpu::exec {
namespace {

AccessKind access_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::load: return AccessKind::load;
    case MemoryKind::store: return AccessKind::store;
    default: return AccessKind::atomic;
  }
}

std::array<std::uint32_t, 3> item_at(const Wave& wave, std::uint32_t flat) {
  const auto& local = wave.group->shape->local;
  return {flat % local[0], flat / local[0] % local[1], flat / local[0] / local[1]};
}

// The wave's program counter is behind the instruction; those of vector memory and LDS have two
// dwords.
MemoryFinding make_finding(const Wave& wave, FindingKind kind, AccessKind access,
                           std::uint64_t bytes, std::uint32_t lane, std::uint64_t address,
                           std::uint32_t dwords = 2) {
  MemoryFinding finding;
  finding.kind = kind;
  finding.access = access;
  finding.bytes = static_cast<std::uint8_t>(bytes);
  finding.wave = wave.in_group;
  finding.lane = lane;
  finding.group = wave.group->id;
  finding.item = item_at(wave, item_of(wave, lane));
  finding.address = address;
  finding.instruction = (wave.pc - dwords) * 4;
  finding.cycle = wave.now;
  return finding;
}

// The device's account of an address that is in no allocation.
void fill_place(MemoryFinding& finding, const DeviceMemory& memory) {
  const DeviceMemory::Neighbour near = memory.neighbour(finding.address);
  finding.allocation = near.address;
  finding.allocation_bytes = near.bytes;
  if (near.released) finding.kind = FindingKind::use_after_free;
}

bool ends_launch(const Wave& wave, const DeviceMemory& memory, std::uint64_t address) {
  switch (wave.cu->launch().on_fault) {
    case OnFault::stop: return true;
    case OnFault::tolerate: return address < kDeviceBase || address >= memory.limit();
    case OnFault::report: return false;
  }
  return true;
}

void end_launch(Wave& wave, const MemoryFinding& finding) {
  wave.cu->fault(
      wave, ErrorCode::device_error,
      fmt::format("{}: {} of {} bytes at address {:#x} by lane {}", kMemoryFault,
                  to_string(finding.access), finding.bytes, finding.address, finding.lane));
}

}  // namespace

bool has_element(const DeviceMemory& memory, const MemoryOperation& operation, std::size_t lane) {
  bool inside = true;
  for_pieces(operation, lane, [&](std::uint64_t, std::uint64_t at, std::uint64_t count) {
    inside = inside && memory.contains(at, count);
  });
  return inside;
}

std::uint64_t guard_lanes(Wave& wave, const MemoryOperation& operation) {
  ComputeUnit& cu = *wave.cu;
  const DeviceMemory& memory = cu.memory();
  const std::uint64_t bytes = operation.element_bytes;
  std::uint64_t allowed = operation.exec;
  for (std::uint64_t set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(set));
    const std::uint64_t address = operation.address()[lane];
    if (has_element(memory, operation, lane)) continue;
    MemoryFinding finding = make_finding(wave, FindingKind::out_of_bounds,
                                         access_of(operation.kind), bytes, lane, address);
    fill_place(finding, memory);
    cu.report(finding);
    if (ends_launch(wave, memory, address)) {
      end_launch(wave, finding);
      return 0;
    }
    for_pieces(operation, lane, [&](std::uint64_t, std::uint64_t at, std::uint64_t count) {
      if (!memory.exists(at, count)) allowed &= ~(std::uint64_t{1} << lane);
    });
  }
  return allowed;
}

bool guard_scalar(Wave& wave, const MicroOp& op, std::uint64_t address, std::uint64_t bytes) {
  ComputeUnit& cu = *wave.cu;
  MemoryFinding finding = make_finding(wave, FindingKind::out_of_bounds, AccessKind::load, bytes, 0,
                                       address, op.dwords);
  fill_place(finding, cu.memory());
  cu.report(finding);
  if (ends_launch(wave, cu.memory(), address)) {
    cu.fault(
        wave, ErrorCode::device_error,
        fmt::format("{}: scalar load of {} bytes at address {:#x}", kMemoryFault, bytes, address));
    return false;
  }
  return cu.memory().exists(address, bytes);
}

bool guard_private(Wave& wave, const MemoryOperation& operation, std::uint32_t lane,
                   std::uint64_t offset) {
  MemoryFinding finding =
      make_finding(wave, FindingKind::private_out_of_bounds, access_of(operation.kind),
                   operation.element_bytes, lane, offset);
  finding.allocation_bytes = wave.scratch_bytes / wave.cu->launch().wave_lanes;
  wave.cu->report(finding);
  // On a card a store beyond private memory destroys another wavefront's.
  const OnFault on_fault = wave.cu->launch().on_fault;
  const bool harmless = finding.access == AccessKind::load && on_fault == OnFault::tolerate;
  if (harmless || on_fault == OnFault::report) return true;
  wave.cu->fault(
      wave, ErrorCode::device_error,
      fmt::format("private memory is exhausted: {} at byte {} of a work-item's {} bytes; {}",
                  to_string(finding.access), static_cast<std::int64_t>(offset),
                  finding.allocation_bytes,
                  wave.cu->launch().dynamic_stack
                      ? "its calls go deeper than the stack limit allows (HIP programs raise "
                        "hipLimitStackSize with hipDeviceSetLimit)"
                      : "the kernel's code object declares no more, and no stack for recursion"));
  return false;
}

void note_unknown(Wave& wave, const MicroOp& op) {
  const auto lane =
      wave.exec() == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(wave.exec()));
  wave.cu->report(make_finding(wave, FindingKind::unknown_instruction, AccessKind::load, 0, lane, 0,
                               op.dwords));
}

void check_alignment(Wave& wave, const MemoryOperation& operation) {
  const std::uint64_t most = operation.kind >= MemoryKind::atomic ? 8 : 4;
  const std::uint64_t unit = std::min<std::uint64_t>(operation.element_bytes, most);
  for (std::uint64_t set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(set));
    const std::uint64_t address = operation.contiguous
                                      ? operation.base + lane * operation.element_bytes
                                      : operation.address()[lane];
    if (address % unit == 0 || address >> 48 != 0 || operation.spread) continue;
    MemoryFinding finding = make_finding(wave, FindingKind::misaligned, access_of(operation.kind),
                                         operation.element_bytes, lane, address);
    fill_place(finding, wave.cu->memory());
    finding.kind = FindingKind::misaligned;
    wave.cu->report(finding);
  }
}

void check_local(Wave& wave, const LaneAccess& access) {
  const bool outside = access.address + access.bytes > wave.cu->launch().lds_bytes;
  if (!outside && access.address % std::min(access.bytes, 4U) == 0) return;
  wave.cu->report(make_finding(wave,
                               outside ? FindingKind::local_out_of_bounds : FindingKind::misaligned,
                               access.kind, access.bytes, access.lane, access.address));
}

std::uint16_t item_of(const Wave& wave, std::uint32_t lane) {
  return static_cast<std::uint16_t>(wave.in_group * wave.cu->launch().wave_lanes + lane);
}

void note_race(Wave& wave, const LaneAccess& access, std::uint64_t at, std::uint16_t other_item,
               AccessKind other_access) {
  MemoryFinding finding =
      make_finding(wave, FindingKind::local_race, access.kind, access.bytes, access.lane, at);
  finding.other = item_at(wave, other_item);
  finding.other_access = other_access;
  finding.same_wave = other_item / wave.cu->launch().wave_lanes == wave.in_group;
  wave.cu->report(finding);
}

}  // namespace ww::sim::gpu::exec
