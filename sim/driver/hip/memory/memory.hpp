// Memory as HIP's calls give it out: by the address of a pointer, with HIP's codes. Needs the lock.
#pragma once

#include "hip/memory/memory_table.hpp"

namespace ww::sim::driver::hip {

// Allocates; null for no bytes. Errors: kInvalidValue for no pointer, those of allocate_memory().
int allocate(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags = 0,
             int ordinal = chosen_device());
// Frees memory of hipMalloc or hipHostMalloc; `host`: of the latter alone. Null: does nothing.
// Error kInvalidValue: the program got no such memory there.
int free_of(const void* pointer, bool host);

}  // namespace ww::sim::driver::hip
