// Declares the functions that image instructions share with those on bytes (vector_memory.cpp).
#pragma once

#include <cstdint>

#include "machine/compute_unit/compute_unit.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

void count_vector_memory(ComputeUnit& cu, const MicroOp& op);

// Sends those of the operation's lanes that are inside to their addresses; the operation completes
// as others do. Ends the launch, or not, where an address lies outside every allocation.
void issue_lanes_inside(Wave& wave, const MicroOp& op, MemoryOperation& operation,
                        std::uint64_t inside);
// Issues the taps of the operation's ImageAccess.
void issue_taps(Wave& wave, const MicroOp& op, MemoryOperation& operation);

// Addresses of a buffer instruction's lanes (buffer_addresses.cpp). Returns those that lie within
// the buffer's range, at least with their first dword: the operation is then clipped.
std::uint64_t find_buffer_addresses(Wave& wave, const MicroOp& op, MemoryOperation& operation);
// The instruction's offset from a scalar register, or the constant in its place.
std::uint32_t buffer_scalar_offset(const Wave& wave, const MicroOp& op);

// A buffer instruction's descriptor and scalar offset; false where they are none.
bool lower_buffer_resource(const binpatch::isa::Instruction& instruction, MicroOp& op);

}  // namespace ww::sim::gpu::exec
