#include "hip/module/occupancy.hpp"

#include <algorithm>

namespace ww::sim::driver::hip {
namespace {

constexpr unsigned kMaxOccupancyFlag = 1;  // caching need not be thought of
// hipFuncAttribute.
constexpr int kMaxDynamicLds = 8;
constexpr int kLdsCarveout = 9;  // in percent; -1: as it likes
constexpr int kLastFuncAttribute = 10;

// The block size with the most resident threads; the larger one of equals, as AMD's library does.
int potential_block(const Function& function, std::size_t dynamic_lds, int limit, int* grid,
                    int* block) {
  if (grid == nullptr || block == nullptr || limit < 0) return kInvalidValue;
  const binpatch::Kernel& kernel = *function.kernel;
  std::uint32_t most = kMaxBlockThreads;
  if (kernel.max_flat_workgroup_size != 0) most = std::min(most, kernel.max_flat_workgroup_size);
  if (limit != 0) most = std::min(most, static_cast<std::uint32_t>(limit));
  const std::uint32_t wave = kernel.wavefront_size;
  std::uint64_t best_threads = 0;
  for (std::uint32_t size = std::max(most / wave * wave, std::min(most, wave)); size > 0;
       size = size > wave ? size - wave : 0) {
    const auto blocks = resident_blocks(function, {size, 1, 1}, dynamic_lds);
    if (!blocks || *blocks * size <= best_threads) continue;
    best_threads = *blocks * size;
    *block = static_cast<int>(size);
    *grid = static_cast<int>(*blocks) * device().chip().architecture().compute_units_of_device();
  }
  return best_threads != 0 ? kSuccess : kInvalidValue;
}

int max_active(int* blocks, const Function& function, int threads, std::size_t dynamic_lds) {
  if (blocks == nullptr || threads <= 0) return kInvalidValue;
  const auto found =
      resident_blocks(function, {static_cast<std::uint32_t>(threads), 1, 1}, dynamic_lds);
  *blocks = found ? static_cast<int>(*found) : 0;  // none fits
  return kSuccess;
}

// The body gets the kernel behind a stub, or behind a function handle.
template <class Body>
int of_stub(const void* stub, Body&& body) {
  return guarded([&]() -> int {
    const auto function = function_of_stub(stub);
    return function ? body(**function) : function.error();
  });
}
template <class Body>
int of_function(const void* handle, Body&& body) {
  return guarded([&]() -> int {
    return is_function(handle) ? body(*static_cast<const Function*>(handle)) : kInvalidHandle;
  });
}

int attribute_of(const Function& function, int attribute, int* value) {
  if (value == nullptr) return kInvalidValue;
  const binpatch::Kernel& kernel = *function.kernel;
  const auto lds = static_cast<int>(kernel.descriptor.group_segment_fixed_size);
  switch (attribute) {
    case 0: *value = static_cast<int>(kernel.max_flat_workgroup_size); return kSuccess;
    case 1: *value = lds; return kSuccess;
    case 2: *value = 0; return kSuccess;  // constants lie in global memory
    case 3:
      *value = static_cast<int>(kernel.descriptor.private_segment_fixed_size);
      return kSuccess;
    case 4: *value = static_cast<int>(kernel.vgpr_count); return kSuccess;
    case 5:
    case 6: {
      const auto target = function.module->object->target();
      *value = target.major * 10 + target.minor;
      return kSuccess;
    }
    case 7: *value = 0; return kSuccess;
    case 8:
      *value = static_cast<int>(device().chip().architecture().lds_bytes_per_cu) - lds;
      return kSuccess;
    case 9: *value = 0; return kSuccess;
    default: return kInvalidValue;
  }
}

}  // namespace

tl::expected<std::uint64_t, int> resident_blocks(const Function& function, const Dim3& threads,
                                                 std::size_t dynamic_lds) {
  if (dynamic_lds > UINT32_MAX) return tl::unexpected<int>(kInvalidValue);
  const auto groups = device().groups_per_cu(function.module->program, function.kernel->name,
                                             {threads.x, threads.y, threads.z},
                                             static_cast<std::uint32_t>(dynamic_lds));
  if (!groups) return tl::unexpected<int>(kInvalidValue);
  return *groups;
}

WW_HIP_EXPORT int hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                               int threads,
                                                               std::size_t dynamic_lds) {
  return of_stub(stub,
                 [&](const Function& f) { return max_active(blocks, f, threads, dynamic_lds); });
}
WW_HIP_EXPORT int hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int threads, std::size_t dynamic_lds, unsigned flags) {
  if (flags > kMaxOccupancyFlag) return finish(kInvalidValue);
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, threads, dynamic_lds);
}
WW_HIP_EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                     const void* function,
                                                                     int threads,
                                                                     std::size_t dynamic_lds) {
  return of_function(
      function, [&](const Function& f) { return max_active(blocks, f, threads, dynamic_lds); });
}
WW_HIP_EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, std::size_t dynamic_lds, unsigned flags) {
  if (flags > kMaxOccupancyFlag) return finish(kInvalidValue);
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_lds);
}
WW_HIP_EXPORT int hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* stub,
                                                    std::size_t dynamic_lds, int limit) {
  return of_stub(
      stub, [&](const Function& f) { return potential_block(f, dynamic_lds, limit, grid, block); });
}
WW_HIP_EXPORT int hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block,
                                                          const void* function,
                                                          std::size_t dynamic_lds, int limit) {
  return of_function(function, [&](const Function& f) {
    return potential_block(f, dynamic_lds, limit, grid, block);
  });
}
WW_HIP_EXPORT int hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                                   const void* function,
                                                                   std::size_t dynamic_lds,
                                                                   int limit, unsigned flags) {
  if (flags > kMaxOccupancyFlag) return finish(kInvalidValue);
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, function, dynamic_lds, limit);
}
WW_HIP_EXPORT int hipFuncGetAttribute(int* value, int attribute, const void* function) {
  return of_function(function,
                     [&](const Function& f) { return attribute_of(f, attribute, value); });
}
WW_HIP_EXPORT int hipFuncGetAttributes(FunctionAttributes* attributes, const void* stub) {
  return of_stub(stub, [&](const Function& f) -> int {
    if (attributes == nullptr) return kInvalidValue;
    const binpatch::Kernel& kernel = *f.kernel;
    const auto target = f.module->object->target();
    *attributes = {};
    attributes->binaryVersion = attributes->ptxVersion = target.major * 10 + target.minor;
    attributes->localSizeBytes = kernel.descriptor.private_segment_fixed_size;
    attributes->sharedSizeBytes = kernel.descriptor.group_segment_fixed_size;
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(device().chip().architecture().lds_bytes_per_cu) -
        static_cast<int>(kernel.descriptor.group_segment_fixed_size);
    attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_flat_workgroup_size);
    attributes->numRegs = static_cast<int>(kernel.vgpr_count);
    return kSuccess;
  });
}
// Hints that AMD's devices do not take; a kernel has the LDS that it asks for.
WW_HIP_EXPORT int hipFuncSetAttribute(const void* stub, int attribute, int value) {
  return of_stub(stub, [&](const Function& f) -> int {
    if (attribute < 0 || attribute > kLastFuncAttribute) return kInvalidValue;
    if (attribute == kMaxDynamicLds) {
      const auto lds = static_cast<int>(f.kernel->descriptor.group_segment_fixed_size);
      const auto all = static_cast<int>(device().chip().architecture().lds_bytes_per_cu);
      return value < 0 || value > all - lds ? kInvalidValue : kSuccess;
    }
    const bool carveout = attribute == kLdsCarveout;
    return carveout && (value < -1 || value > 100) ? kInvalidValue : kSuccess;
  });
}
WW_HIP_EXPORT int hipFuncSetCacheConfig(const void* stub, int config) {
  return of_stub(stub, [&](const Function&) -> int {
    return config < 0 || config > kLastCacheConfig ? kInvalidValue : kSuccess;
  });
}
WW_HIP_EXPORT int hipFuncSetSharedMemConfig(const void* stub, int config) {
  return of_stub(stub, [&](const Function&) -> int {
    return config < 0 || config > kLastBankConfig ? kInvalidValue : kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
