// Addresses of vector memory instructions, and those of loads behind straight-line code: these are
// found while the registers that they lie in are at hand in the host's caches, since some thousand
// cycles of other waves may pass until such a load issues.
#pragma once

#include <cstdint>
#include <vector>

#include "fast/forms/straight_line.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

// Finds a flat_ or global_ instruction's addresses as LaneTable::addresses does: true where the
// enabled lanes lie in a row from `base` on; else, and perhaps not otherwise, in `lane_address`.
bool find_addresses(Wave& wave, const MicroOp& op, std::uint64_t exec, std::uint64_t* lane_address,
                    std::uint64_t* base);

// Links each run of straight-line code to the loads that follow it with nothing but waits between,
// up to kLoadsAhead, as long as none of them writes the address of a later one.
void link_loads(std::vector<MicroOp>& code, StraightLines& lines);

// Finds the addresses of the linked loads from this dword on. Where all lanes are enabled and lie
// in a row, lane 0's is in the wave's load_address when the load issues.
void find_load_addresses(Wave& wave, std::uint32_t load);

}  // namespace ww::sim::gpu::exec
