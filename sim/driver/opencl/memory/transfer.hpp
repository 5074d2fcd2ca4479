// Declares what the commands on memory objects share: checks of their arguments, boxes in linear
// memory, and the way to the device's memory.
#pragma once

#include "opencl/memory/memory.hpp"
#include "opencl/object/box.hpp"
#include "opencl/queue/queue.hpp"

namespace ww::sim::driver {

inline constexpr cl_mem_flags kNoHostRead = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
inline constexpr cl_mem_flags kNoHostWrite = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

[[nodiscard]] gpu::VirtualGpu& device();
[[nodiscard]] cl_int code_of(const Status& status);

// Checks what every command on a memory object checks first.
[[nodiscard]] cl_int check_queue_and_memory(cl_command_queue queue, cl_mem memory);
// Check commands on one kind: an image is no buffer, and a buffer no image.
[[nodiscard]] cl_int check_queue_and_buffer(cl_command_queue queue, cl_mem memory);
[[nodiscard]] cl_int check_queue_and_image(cl_command_queue queue, cl_mem memory);

[[nodiscard]] bool inside(const _cl_mem& memory, std::size_t offset, std::size_t size);

// False where there is none or a side is 0.
[[nodiscard]] bool read_region(const std::size_t* region, Region& out);

// Device to device through a bounded staging area.
[[nodiscard]] cl_int copy_bytes(std::uint64_t from, std::uint64_t to, std::size_t size);

// The last arguments of every command.
struct Waits {
  cl_uint count;
  const cl_event* waits;
  cl_event* event;
};

[[nodiscard]] Enqueue command(cl_command_queue queue, cl_command_type type, const Waits& waits,
                              cl_bool blocking = CL_FALSE);

}  // namespace ww::sim::driver
