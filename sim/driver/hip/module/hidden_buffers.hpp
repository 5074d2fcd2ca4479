// Device memory that a kernel's hidden arguments point to: the heap of malloc and free in kernels,
// the buffer that printf fills where the compiler was asked for one, and what the blocks of a
// cooperative launch wait with.
//
// The heap is the device library's own (ROCm device libraries, ockl/src/dm.cl). It takes its slabs
// of 2 MiB, and everything above 3 KiB, from the host one by one, so that hipLimitMallocHeapSize
// limits nothing: on cards it is the size of what AMD's runtime puts there in advance, at a place
// that differs between versions of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/launch/launch.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver::hip {

// Set of blocks for which the blocks of a launch may wait.
enum class Cooperation { none, grid, devices };

// Where in the kernarg segment the kernel expects the pointer of that kind ("hidden_heap_v1").
[[nodiscard]] std::optional<std::size_t> hidden_pointer(const binpatch::Kernel& kernel,
                                                        std::string_view kind,
                                                        std::span<const std::byte> kernarg);
// Provides the buffers that the kernel names, on the device that is selected, and writes their
// addresses into the kernarg segment. False when there is no memory.
[[nodiscard]] bool place_hidden_buffers(const binpatch::Kernel& kernel, Cooperation cooperation,
                                        const LaunchShape& shape, std::span<std::byte> kernarg);

// Prints what a launch left in the kernel's printf buffer, if it has one: of HIP's printf
// (-mprintf-kind=buffered), or of OpenCL's where that compiled the module.
void print_buffer(const binpatch::CodeObject& object, const binpatch::Kernel& kernel);

// Serves a kernel's request for its heap: `bytes` of memory, or with an address to take it back.
// The answer is the memory's address; 0: there is no room.
[[nodiscard]] std::uint64_t serve_heap(std::uint64_t address, std::uint64_t bytes);

// hipLimitMallocHeapSize [bytes].
[[nodiscard]] std::uint64_t& heap_limit();

}  // namespace ww::sim::driver::hip
