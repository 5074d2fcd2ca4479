// Memory from pools and in the order of a stream. Every pool is its device's memory; freed memory
// goes back at once.
#include <map>
#include <memory>
#include <set>

#include "hip/device_pointer.hpp"
#include "hip/memory.hpp"
#include "hip/stream.hpp"

namespace ww::sim::icd::hip {
namespace {

// Memory in stream order; in a capture a node of its graph.
int allocate_on(void** pointer, std::size_t bytes, const void* stream, int ordinal) {
  if (!is_stream(stream)) return kInvalidHandle;
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  if (*capture == nullptr || bytes == 0) {
    return allocate(pointer, bytes, MemoryKind::device, 0, ordinal);
  }
  auto work = allocation_work(pointer, bytes, ordinal);
  if (!work) return work.error();
  note_work(stream, NodeKind::allocate, std::move(*work));
  return kSuccess;
}

int free_on(void* pointer, const void* stream) {
  if (pointer == nullptr) return kInvalidValue;
  if (!is_stream(stream)) return kInvalidHandle;
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  if (*capture == nullptr) return free_of(pointer, false);
  auto work = release_work(pointer);
  if (!work) return work.error();
  note_work(stream, NodeKind::release, std::move(*work));
  return kSuccess;
}

struct MemoryPool {
  int device{};
  std::uint64_t release_threshold{};
  std::map<int, int> access;  // of other devices, as the program set it
};

std::map<const void*, std::unique_ptr<MemoryPool>>& memory_pools() {
  static auto& pools = *new std::map<const void*, std::unique_ptr<MemoryPool>>;
  return pools;
}

MemoryPool* make_pool(int ordinal) {
  auto made = std::make_unique<MemoryPool>(MemoryPool{ordinal, 0, {}});
  MemoryPool* handle = made.get();
  memory_pools().emplace(handle, std::move(made));
  return handle;
}

// By device.
std::map<int, MemoryPool*>& default_pools() {
  static auto& pools = *new std::map<int, MemoryPool*>;
  return pools;
}

MemoryPool* default_pool(int ordinal) {
  MemoryPool*& pool = default_pools()[ordinal];
  if (pool == nullptr) pool = make_pool(ordinal);
  return pool;
}

MemoryPool*& current_pool(int ordinal) {
  static auto& pools = *new std::map<int, MemoryPool*>;
  MemoryPool*& pool = pools[ordinal];
  if (pool == nullptr) pool = default_pool(ordinal);
  return pool;
}

// Null where the handle is none.
MemoryPool* pool_of(const void* handle) {
  const auto found = memory_pools().find(handle);
  return found == memory_pools().end() ? nullptr : found->second.get();
}

constexpr int kPoolReleaseThreshold = 4;
constexpr int kPoolLastAttribute = 8;

}  // namespace

WW_HIP_EXPORT int hipMallocAsync(void** pointer, std::size_t bytes, void* stream) {
  return guarded_work(
      [&]() -> int { return allocate_on(pointer, bytes, stream, device_of_stream(stream)); });
}
WW_HIP_EXPORT int hipMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool,
                                         void* stream) {
  return guarded_work([&]() -> int {
    const MemoryPool* found = pool_of(pool);
    if (found == nullptr) return kInvalidValue;
    return allocate_on(pointer, bytes, stream, found->device);
  });
}
WW_HIP_EXPORT int hipFreeAsync(void* pointer, void* stream) {
  return guarded([&] { return free_on(pointer, stream); });
}
WW_HIP_EXPORT int hipDeviceGetDefaultMemPool(void** pool, int ordinal) {
  return guarded([&]() -> int {
    if (pool == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    *pool = default_pool(ordinal);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetMemPool(void** pool, int ordinal) {
  return guarded([&]() -> int {
    if (pool == nullptr || !is_ordinal(ordinal)) return kInvalidValue;
    *pool = current_pool(ordinal);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceSetMemPool(int ordinal, void* pool) {
  return guarded([&]() -> int {
    MemoryPool* found = pool_of(pool);
    if (!is_ordinal(ordinal) || found == nullptr) return kInvalidValue;
    if (found->device != ordinal) return kInvalidDevice;
    current_pool(ordinal) = found;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolCreate(void** pool, const void* properties) {
  return guarded([&]() -> int {
    if (pool == nullptr || properties == nullptr) return kInvalidValue;
    const auto& wanted = *static_cast<const PoolProperties*>(properties);
    if (wanted.location_type != kLocationDevice || !is_ordinal(wanted.location)) {
      return kInvalidValue;
    }
    *pool = make_pool(wanted.location);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolDestroy(void* pool) {
  return guarded([&]() -> int {
    const MemoryPool* found = pool_of(pool);
    if (found == nullptr || found == default_pool(found->device)) return kInvalidValue;
    MemoryPool*& current = current_pool(found->device);
    if (current == found) current = default_pool(found->device);
    memory_pools().erase(pool);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolTrimTo(void* pool, std::size_t) {
  return guarded([&]() -> int { return pool_of(pool) != nullptr ? kSuccess : kInvalidValue; });
}
// Kernels of every device reach the memory anyway.
WW_HIP_EXPORT int hipMemPoolSetAccess(void* pool, const MemoryAccess* wanted, std::size_t count) {
  return guarded([&]() -> int {
    MemoryPool* found = pool_of(pool);
    if (found == nullptr || wanted == nullptr) return kInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [location, access] = wanted[i];
      if (location.type != kLocationDevice) return kInvalidValue;
      if (!is_ordinal(location.number) || access == kAccessNone) return kInvalidDevice;
      if (access < kAccessNone || access > kAccessAll) return kInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i)
      found->access[wanted[i].location.number] = wanted[i].access;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolGetAccess(int* access, void* pool, const MemoryLocation* location) {
  return guarded([&]() -> int {
    const MemoryPool* found = pool_of(pool);
    if (found == nullptr || location == nullptr || access == nullptr) return kInvalidValue;
    if (location->type != kLocationDevice || !is_ordinal(location->number)) return kInvalidValue;
    const auto set = found->access.find(location->number);
    const int unset = location->number == found->device ? kAccessAll : kAccessNone;
    *access = set == found->access.end() ? unset : set->second;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return guarded([&]() -> int {
    MemoryPool* found = pool_of(pool);
    if (found == nullptr || value == nullptr) return kInvalidValue;
    if (attribute < 1 || attribute > kPoolLastAttribute) return kInvalidValue;
    if (attribute == kPoolReleaseThreshold) {
      found->release_threshold = *static_cast<const std::uint64_t*>(value);
    }
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return guarded([&]() -> int {
    const MemoryPool* found = pool_of(pool);
    if (found == nullptr || value == nullptr) return kInvalidValue;
    if (attribute < 1 || attribute > kPoolLastAttribute) return kInvalidValue;
    if (attribute < kPoolReleaseThreshold) {
      *static_cast<int*>(value) = 1;  // reuse is as good as allowed
    } else if (attribute == kPoolReleaseThreshold) {
      *static_cast<std::uint64_t*>(value) = found->release_threshold;
    } else {
      *static_cast<std::uint64_t*>(value) = allocated_bytes(found->device);
    }
    return kSuccess;
  });
}

}  // namespace ww::sim::icd::hip
