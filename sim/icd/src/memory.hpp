// Buffers: what other files need to know of them.
#pragma once

#include "objects.hpp"

namespace ww::sim::icd {

// True for a live buffer of this process. Safe for any pointer, also one that was never a handle:
// clSetKernelArg gets its handles out of untyped bytes.
[[nodiscard]] bool known_buffer(const _cl_mem* memory);

// What cl_ww_approximable's entry point does, under the lock.
cl_int declare_approximable(cl_mem memory, std::uint32_t type, float threshold);
// cl_ww_approximable's entry point (ww/core/cl_approximable.h).
std::int32_t set_approximable(cl_mem memory, std::uint32_t type, float threshold);

// Smallest alignment of a sub-buffer's origin [bytes]: CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8.
inline constexpr std::size_t kSubBufferAlignment = 128;

}  // namespace ww::sim::icd
