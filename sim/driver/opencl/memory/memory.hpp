// Memory objects: what other files need to know of them.
#pragma once

#include <memory>

#include "common/runtime/runtime.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// True for a live memory object of this process. Safe for any pointer, also one that was never a
// handle: clSetKernelArg gets its handles out of untyped bytes.
[[nodiscard]] bool known_memory(const _cl_mem* memory);

// A memory object without memory yet, known from now on. Images are numbered apart: the rules
// for approximable buffers count buffers alone.
[[nodiscard]] cl_mem new_memory(cl_context context, cl_mem_flags flags, bool image);

// The flags of an object in a buffer's memory: the buffer's where `asked` says nothing; it may not
// ask for more. Error: CL_INVALID_VALUE.
[[nodiscard]] Created<cl_mem_flags> inherited_flags(cl_mem_flags parent, cl_mem_flags asked);

// The largest memory object [bytes]: CL_DEVICE_MAX_MEM_ALLOC_SIZE.
[[nodiscard]] std::size_t max_allocation();

// Flags that exist and do not exclude each other.
[[nodiscard]] bool flags_are_sound(cl_mem_flags flags);

inline constexpr cl_map_flags kMapWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

// True when a byte of the box is mapped for writing, through this object or one that shares its
// memory.
[[nodiscard]] bool mapped_for_writing(const _cl_mem& memory, const Box& box, const Region& region);

// Held by a map through which the application writes device memory where it lies, until its unmap
// has run. Meanwhile such memory changes and nobody says when.
[[nodiscard]] std::shared_ptr<const void> begin_host_writes();
[[nodiscard]] bool host_is_writing();

// Does the work of cl_ww_approximable's entry point, under the lock.
cl_int declare_approximable(cl_mem memory, std::uint32_t type, float threshold);
// cl_ww_approximable's entry point (ww/core/cl_approximable.h).
std::int32_t set_approximable(cl_mem memory, std::uint32_t type, float threshold);

// Smallest alignment of a sub-buffer's origin [bytes]: CL_DEVICE_MEM_BASE_ADDR_ALIGN / 8.
inline constexpr std::size_t kSubBufferAlignment = 128;

}  // namespace ww::sim::driver
