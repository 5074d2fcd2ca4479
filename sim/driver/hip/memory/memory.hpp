// Memory as HIP's calls give it out: by the address of a pointer, with HIP's codes. Needs the lock.
#pragma once

#include "hip/memory/memory_table.hpp"

namespace ww::sim::driver::hip {

// Of no bytes: null. Errors: kInvalidValue for no pointer, those of allocate_memory().
int allocate(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags = 0,
             int ordinal = chosen_device());
// What the program got of hipMalloc or hipHostMalloc; `host`: of the latter alone. Null: nothing.
// Error kInvalidValue: it got no such memory there.
int free_of(const void* pointer, bool host);

}  // namespace ww::sim::driver::hip
