// The work of a graph's nodes, made in the file of its kind. Parameters are checked and copied when
// the work is made; the memory that they name is read and written when it runs. Needs the lock.
#pragma once

#include "hip/session/types.hpp"
#include "hip/stream/graph.hpp"

namespace ww::sim::driver::hip {

// A launch of a host stub's kernel or of a module's function. Errors: those of hipLaunchKernel.
[[nodiscard]] tl::expected<NodeWork, int> kernel_work(const KernelNodeParameters& parameters,
                                                      bool cooperative = false);
// Errors: those of hipMemcpy, hipMemcpy3D and hipMemset2D.
[[nodiscard]] tl::expected<NodeWork, int> copy_work(void* to, const void* from, std::size_t bytes,
                                                    int kind);
[[nodiscard]] tl::expected<NodeWork, int> copy_work(const Memcpy3dParameters& parameters);
[[nodiscard]] tl::expected<NodeWork, int> copy_to_symbol_work(const void* symbol, const void* from,
                                                              std::size_t bytes, std::size_t offset,
                                                              int kind);
[[nodiscard]] tl::expected<NodeWork, int> copy_from_symbol_work(void* to, const void* symbol,
                                                                std::size_t bytes,
                                                                std::size_t offset, int kind);
[[nodiscard]] tl::expected<NodeWork, int> fill_work(const MemsetParameters& parameters);
// Runs once the lock is released.
[[nodiscard]] tl::expected<NodeWork, int> host_work(HostFunction function, void* user_data);
// Records an event in the stream of the launch, or lets that stream wait for one. Errors:
// kInvalidValue, kInvalidHandle for an event that is gone.
[[nodiscard]] tl::expected<NodeWork, int> record_work(void* event);
[[nodiscard]] tl::expected<NodeWork, int> wait_work(void* event);

}  // namespace ww::sim::driver::hip
