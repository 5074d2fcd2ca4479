#include "machine/compute_unit/private_memory.hpp"

#include <algorithm>
#include <bit>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_guard.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/operands.hpp"
#include "machine/memory/lds.hpp"

namespace ww::sim::gpu::exec {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

namespace {

// Whether all of these lanes' elements are dwords of the wave's private memory, as most often.
// Disabled lanes may make it say no.
bool all_are_dwords(const Wave& wave, const MemoryOperation& operation, U64 enabled) {
  U64 bits = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) bits |= operation.address()[lane];
  if (operation.element_bytes != sizeof(U32) || bits % sizeof(U32) != 0) return false;
  const auto [least, most] = lanes().address_range(operation.address(), enabled);
  const U64 whole_rows = wave.scratch_bytes & ~(private_row(wave) - 1);
  return least >= wave.scratch_base && most < wave.scratch_base + whole_rows;
}

}  // namespace

U64 check_private(Wave& wave, MemoryOperation& operation, U64 enabled) {
  if (all_are_dwords(wave, operation, enabled)) return enabled;
  const U64 row = private_row(wave);
  const int shift = std::countr_zero(row);
  const U64 rows = wave.scratch_bytes / row;
  const U64 behind_first = operation.element_bytes - 1U;
  U64 good = 0;
  U64 spread = 0;  // lanes whose element is not within one dword
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const U64 at = operation.address()[lane] - wave.scratch_base;
    const U64 last = at % 4 + behind_first;
    spread |= U64{last >= 4} << lane;
    good |= U64{(at >> shift) + last / 4 < rows} << lane;
  }
  if ((spread & enabled) != 0) {
    spread_over_rows(operation, wave.scratch_base, wave.scratch_bytes, row, sizeof(U32));
  }
  for (U64 set = enabled & ~good; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    const U64 at = operation.address()[lane] - wave.scratch_base;
    if (!guard_private(wave, operation, static_cast<U32>(lane), (at >> shift) * 4 + at % 4)) {
      return 0;
    }
    const std::size_t words = element_words(operation);
    if (operation.kind == MemoryKind::load) {
      std::fill_n(operation.data() + lane * words, words, 0U);
    } else if (operation.kind == MemoryKind::atomic_return) {
      std::fill_n(operation.old() + lane * words, words, 0U);
    }
  }
  return good & enabled;
}

bool refuses_atomic(Wave& wave, const MemoryOperation& operation) {
  if (!operation.spread || operation.kind < MemoryKind::atomic) return false;
  wave.cu->fault(wave, ErrorCode::unsupported,
                 "an atomic of more than 4 bytes on private memory is not possible on the "
                 "virtual GPU");
  return true;
}

bool resolve_apertures(Wave& wave, MemoryOperation& operation) {
  // Most often no lane's address is in an aperture.
  if (lanes().address_range(operation.address(), operation.exec).most >> 48 == 0) return true;
  U64 local = 0;
  U64 own = 0;
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    const U64 address = operation.address()[lane];
    if (address >> 48 == 0) continue;
    const U64 aperture = address >> 32 << 32;
    if (aperture == kLdsAperture) {
      local |= U64{1} << lane;
    } else if (aperture == kPrivateAperture) {
      own |= U64{1} << lane;
      operation.address()[lane] = private_address(wave, lane, static_cast<U32>(address));
    }
  }
  if (own != 0) {
    operation.exec &= ~own | check_private(wave, operation, own);
    if (wave.cu->error()) return false;
    if (refuses_atomic(wave, operation)) return false;
  }
  if (local != 0) {
    flat_lds_access(wave, operation, local);
    operation.exec &= ~local;
  }
  return true;
}

}  // namespace ww::sim::gpu::exec
