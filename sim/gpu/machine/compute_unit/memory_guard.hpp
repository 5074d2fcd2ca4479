// Handles accesses that a kernel must not make: they end the launch or are written down, as the
// launch asks. Only slow paths come here, and accesses that are checked on request.
#pragma once

#include <cstdint>

#include "machine/compute_unit/cu_observer.hpp"
#include "machine/isa/wave.hpp"
#include "ww/sim/gpu/memory_check.hpp"

namespace ww::sim::gpu::exec {

class DeviceMemory;

// Whether a lane's element, as far as it is accessed, lies in allocations. Addresses are per lane.
bool has_element(const DeviceMemory& memory, const MemoryOperation& operation, std::size_t lane);

// Returns the operation's lanes whose bytes exist; the others are found, or end the launch (then
// the CU has an error). Some lane lies outside every allocation; addresses are per lane.
std::uint64_t guard_lanes(Wave& wave, const MemoryOperation& operation);

// Checks a scalar load as guard_lanes() checks lanes: whether its bytes exist.
bool guard_scalar(Wave& wave, const MicroOp& op, std::uint64_t address, std::uint64_t bytes);

// Reports a lane's access at this byte of its private memory, which has none there.
bool guard_private(Wave& wave, const MemoryOperation& operation, std::uint32_t lane,
                   std::uint64_t offset);

// Notes an instruction that cannot be executed.
void note_unknown(Wave& wave, const MicroOp& op);

// Notes lanes whose address is not a multiple of the element, up to 4 bytes (wider elements are
// several of 4 for the hardware, and the compiler makes them of narrower ones).
void check_alignment(Wave& wave, const MemoryOperation& operation);

// Notes lanes of an LDS instruction that are misaligned or out of the group's range.
void check_local(Wave& wave, const LaneAccess& access);

// Number of a lane's work-item in its group.
std::uint16_t item_of(const Wave& wave, std::uint32_t lane);

// Notes that the access races with another work-item's at a byte of local memory.
void note_race(Wave& wave, const LaneAccess& access, std::uint64_t at, std::uint16_t other_item,
               AccessKind other_access);

}  // namespace ww::sim::gpu::exec
