// The local data share.
#pragma once

#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {

// Does the LDS lanes of a flat access: loads into the operation's data, stores and atomics at once.
void flat_lds_access(Wave& wave, MemoryOperation& operation, std::uint64_t lanes);

}  // namespace ww::sim::gpu::exec
