// Buffers: what other files need to know of them.
#pragma once

#include "objects.hpp"

namespace ww::sim::icd {

// True for a live buffer of this process. Safe for any pointer, also one that was never a handle:
// clSetKernelArg gets its handles out of untyped bytes.
[[nodiscard]] bool known_buffer(const _cl_mem* memory);

// Flags that exist and do not exclude each other.
[[nodiscard]] bool flags_are_sound(cl_mem_flags flags);

inline constexpr cl_map_flags kMapWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

// True when a byte of the range is mapped for writing, through this object or one that shares its
// memory.
[[nodiscard]] bool mapped_for_writing(const _cl_mem& memory, std::size_t offset, std::size_t size);

// What cl_ww_approximable's entry point does, under the lock.
cl_int declare_approximable(cl_mem memory, std::uint32_t type, float threshold);
// cl_ww_approximable's entry point (ww/core/cl_approximable.h).
std::int32_t set_approximable(cl_mem memory, std::uint32_t type, float threshold);

// Smallest alignment of a sub-buffer's origin [bytes]: CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8.
inline constexpr std::size_t kSubBufferAlignment = 128;

}  // namespace ww::sim::icd
