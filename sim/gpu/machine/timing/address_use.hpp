// Whether values that some loads bring reach the address of a global access: such data are pointers
// or indices, and must not be approximated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::timing {

// Follows the registers that `loads` (marked by dword) write along every path of the code from
// `entry` on. Gives the dword of the first vector or scalar memory access whose address is computed
// from them, in order of the code; empty when there is none. Not followed: ways through memory and
// LDS, through lane masks, and through jumps whose target is a register. LDS addresses do not
// count.
[[nodiscard]] std::optional<std::uint32_t> find_address_use(std::span<const std::byte> code,
                                                            binpatch::isa::Generation generation,
                                                            std::uint32_t entry,
                                                            const std::vector<bool>& loads);

}  // namespace ww::sim::gpu::timing
