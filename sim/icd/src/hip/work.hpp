// The work of a graph's nodes, made in the file of its kind. Parameters are checked and copied when
// the work is made; the memory that they name is read and written when it runs. Needs the lock.
#pragma once

#include "hip/graph.hpp"
#include "hip/types.hpp"

namespace ww::sim::icd::hip {

// A launch by host stub. Errors: those of hipLaunchKernel.
[[nodiscard]] tl::expected<Work, int> kernel_work(const KernelNodeParameters& parameters);
// Errors: those of hipMemcpy, hipMemcpy3D and hipMemset2D.
[[nodiscard]] tl::expected<Work, int> copy_work(void* to, const void* from, std::size_t bytes,
                                                int kind);
[[nodiscard]] tl::expected<Work, int> copy_work(const Memcpy3dParameters& parameters);
[[nodiscard]] tl::expected<Work, int> fill_work(const MemsetParameters& parameters);
// Runs once the lock is released.
[[nodiscard]] tl::expected<Work, int> host_work(HostFunction function, void* user_data);

}  // namespace ww::sim::icd::hip
