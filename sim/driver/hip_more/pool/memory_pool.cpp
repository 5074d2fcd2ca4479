// Memory from pools and in the order of a stream. Every pool is its device's memory; freed memory
// goes back at once.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "hip/memory/memory.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/stream/stream.hpp"
#include "hip_more/graph/graph.hpp"

namespace ww::sim::driver::hip {
namespace {

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
  std::uint32_t number{};  // no other one has it, also later
  int device{};
  std::uint64_t most{};  // bytes; 0: any number
  std::array<int, 3> reuse{1, 1, 1};
  std::uint64_t release_threshold{};
  std::uint64_t used{};
  std::uint64_t max_used{};
  std::uint64_t max_reserved{};
  std::map<int, int> access;  // of other devices, as the program set it
};

std::map<const void*, std::unique_ptr<MemoryPool>>& memory_pools() {
  static auto& pools = *new std::map<const void*, std::unique_ptr<MemoryPool>>;
  return pools;
}

MemoryPool* make_pool(int ordinal, std::uint64_t most = 0) {
  auto made = std::make_unique<MemoryPool>();
  static std::uint32_t last = 0;
  made->number = ++last;
  made->device = ordinal;
  made->most = most;
  MemoryPool* handle = made.get();
  memory_pools().emplace(handle, std::move(made));
  return handle;
}

// Default pools by device.
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

// Counts of the memory that pools gave.
class Pools final : public MemoryOwner {
 public:
  void forget(const Allocation& allocation) override {
    for (auto& [handle, pool] : memory_pools()) {  // the pool may be gone
      if (pool->number == allocation.pool) pool->used -= allocation.bytes;
    }
  }
};

Pools& pools_as_owner() {
  static auto& instance = *new Pools;
  return instance;
}

// Null where the handle is none.
MemoryPool* pool_of(const void* handle) {
  const auto found = memory_pools().find(handle);
  return found == memory_pools().end() ? nullptr : found->second.get();
}

// hipMemPoolAttr. The first three say how freed memory may be given again.
enum PoolAttribute : int {
  kPoolReuse = 1,
  kPoolReleaseThreshold = 4,
  kPoolReserved = 5,
  kPoolMaxReserved = 6,
  kPoolUsed = 7,
  kPoolMaxUsed = 8,
};

// Memory in stream order; in a capture a node of its graph.
int allocate_on(void** pointer, std::size_t bytes, const void* stream, MemoryPool& pool) {
  if (!is_stream(stream)) return kInvalidHandle;
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  if (*capture != nullptr && bytes != 0) {
    auto work = allocation_work(pointer, bytes, pool.device);
    if (!work) return work.error();
    note_work(stream, NodeKind::allocate, std::move(*work));
    return kSuccess;
  }
  if (pool.most != 0 && bytes > pool.most - std::min(pool.used, pool.most)) return kOutOfMemory;
  const int code = allocate(pointer, bytes, MemoryKind::device, 0, pool.device);
  if (code != kSuccess || bytes == 0) return code;
  give_to(address_of(*pointer), pools_as_owner(), pool.number);
  pool.used += bytes;
  pool.max_used = std::max(pool.max_used, pool.used);
  pool.max_reserved = std::max(pool.max_reserved, pool.used);
  return kSuccess;
}

int set_attribute(MemoryPool& pool, int attribute, const void* value) {
  std::uint64_t wide = 0;
  if (attribute >= kPoolReuse && attribute < kPoolReleaseThreshold) {
    int narrow = 0;
    std::memcpy(&narrow, value, sizeof narrow);
    if (narrow != 0 && narrow != 1) return kInvalidValue;
    pool.reuse[static_cast<std::size_t>(attribute - kPoolReuse)] = narrow;
    return kSuccess;
  }
  if (attribute < kPoolReuse || attribute > kPoolMaxUsed) return kInvalidValue;
  std::memcpy(&wide, value, sizeof wide);
  if (attribute == kPoolReleaseThreshold) {
    pool.release_threshold = wide;
    return kSuccess;
  }
  // The highest values so far can be forgotten, and the present ones are what they are.
  if (wide != 0) return kInvalidValue;
  if (attribute == kPoolMaxUsed) {
    pool.max_used = pool.used;
    return kSuccess;
  }
  if (attribute != kPoolMaxReserved) return kInvalidValue;
  pool.max_reserved = pool.used;
  return kSuccess;
}

int get_attribute(const MemoryPool& pool, int attribute, void* value) {
  const auto give = [value](std::uint64_t wide) {
    std::memcpy(value, &wide, sizeof wide);
    return int{kSuccess};
  };
  switch (attribute) {
    case kPoolReleaseThreshold: return give(pool.release_threshold);
    case kPoolReserved:
    case kPoolUsed: return give(pool.used);
    case kPoolMaxReserved: return give(pool.max_reserved);
    case kPoolMaxUsed: return give(pool.max_used);
    default: break;
  }
  if (attribute < kPoolReuse || attribute > kPoolReleaseThreshold) return kInvalidValue;
  const int narrow = pool.reuse[static_cast<std::size_t>(attribute - kPoolReuse)];
  std::memcpy(value, &narrow, sizeof narrow);
  return kSuccess;
}

}  // namespace

WW_HIP_EXPORT int hipMallocAsync(void** pointer, std::size_t bytes, void* stream) {
  return guarded_work(
      [&] { return allocate_on(pointer, bytes, stream, *current_pool(device_of_stream(stream))); });
}
WW_HIP_EXPORT int hipMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool,
                                         void* stream) {
  return guarded_work([&]() -> int {
    MemoryPool* found = pool_of(pool);
    return found == nullptr ? kInvalidValue : allocate_on(pointer, bytes, stream, *found);
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
    if (wanted.allocation_type != kAllocationPinned || wanted.location_type != kLocationDevice ||
        !is_ordinal(wanted.location)) {
      return kInvalidValue;
    }
    *pool = make_pool(wanted.location, wanted.most_bytes);
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
WW_HIP_EXPORT int hipMemPoolSetAttribute(void* pool, int attribute, const void* value) {
  return guarded([&]() -> int {
    MemoryPool* found = pool_of(pool);
    if (found == nullptr || value == nullptr) return kInvalidValue;
    return set_attribute(*found, attribute, value);
  });
}
WW_HIP_EXPORT int hipMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return guarded([&]() -> int {
    const MemoryPool* found = pool_of(pool);
    if (found == nullptr || value == nullptr) return kInvalidValue;
    return get_attribute(*found, attribute, value);
  });
}

}  // namespace ww::sim::driver::hip
