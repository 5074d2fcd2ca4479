// Allocation: device, pinned, managed, pitched, from pools; and what a pointer is.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "hip/device_pointer.hpp"
#include "hip/memory_table.hpp"
#include "hip/module.hpp"
#include "hip/stream.hpp"

namespace ww::sim::icd::hip {
namespace {

constexpr std::uint64_t kPitch = 256;

int allocate(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags = 0,
             int ordinal = chosen_device()) {
  if (pointer == nullptr) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  const auto address = allocate_memory(bytes, kind, flags, ordinal);
  if (!address) return address.error();
  *pointer = device_pointer(*address);
  return kSuccess;
}

int free_of(const void* pointer, bool host) {
  if (pointer == nullptr) return kSuccess;
  const auto found = find_allocation(address_of(pointer));
  if (!found || (found->kind == MemoryKind::host) != host) return kInvalidValue;
  if (found->kind == MemoryKind::managed_variable || found->kind == MemoryKind::array) {
    return kInvalidValue;
  }
  if (found->kind == MemoryKind::graph) return end_use_of_graph_memory(address_of(pointer));
  return free_memory(address_of(pointer));
}

// Memory in stream order; in a capture a node of its graph.
int allocate_on(void** pointer, std::size_t bytes, const void* stream, int ordinal) {
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
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  if (*capture == nullptr) return free_of(pointer, false);
  auto work = release_work(pointer);
  if (!work) return work.error();
  note_work(stream, NodeKind::release, std::move(*work));
  return kSuccess;
}

int allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return kInvalidValue;
  if (width == 0 || rows == 0) {
    *pointer = nullptr;
    *pitch = 0;
    return kSuccess;
  }
  if (width > SIZE_MAX - kPitch) return kOutOfMemory;
  const std::size_t step = (width + kPitch - 1) / kPitch * kPitch;
  if (rows > SIZE_MAX / step) return kOutOfMemory;
  *pitch = step;
  return allocate(pointer, step * rows, MemoryKind::device);
}

int allocate_host(void** pointer, std::size_t bytes, unsigned flags) {
  if ((flags & ~kHostAllocKnownFlags) != 0) return kInvalidValue;
  return allocate(pointer, bytes, MemoryKind::host, flags);
}

// Host memory that the program had before and declared to HIP: copies need nothing of it, and
// kernels cannot reach it.
std::map<std::uint64_t, std::uint64_t>& registered_host() {
  static auto& ranges = *new std::map<std::uint64_t, std::uint64_t>;
  return ranges;
}

// HIP 6 numbers the kinds of memory anew.
int memory_type(MemoryKind kind) {
  const bool old = hip_major() < 6;
  switch (kind) {
    case MemoryKind::host: return old ? 0 : 1;
    case MemoryKind::device:
    case MemoryKind::graph:
    case MemoryKind::array: return old ? 1 : 2;
    case MemoryKind::managed:
    case MemoryKind::managed_variable: return old ? 1 : 3;
  }
  return 0;
}

}  // namespace

// hipMalloc and its kin wait for nothing, but a device that failed has no memory to give.
WW_HIP_EXPORT int hipMalloc(void** pointer, std::size_t bytes) {
  return guarded_work([&] { return allocate(pointer, bytes, MemoryKind::device); });
}
WW_HIP_EXPORT int hipExtMallocWithFlags(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_work([&] { return allocate(pointer, bytes, MemoryKind::device, flags); });
}
WW_HIP_EXPORT int hipFree(void* pointer) {
  return guarded([&] { return free_of(pointer, false); });
}
WW_HIP_EXPORT int hipHostMalloc(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_work([&] { return allocate_host(pointer, bytes, flags); });
}
WW_HIP_EXPORT int hipHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
WW_HIP_EXPORT int hipMallocHost(void** pointer, std::size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
WW_HIP_EXPORT int hipMemAllocHost(void** pointer, std::size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
WW_HIP_EXPORT int hipHostFree(void* pointer) {
  return guarded([&] { return free_of(pointer, true); });
}
WW_HIP_EXPORT int hipFreeHost(void* pointer) {
  return hipHostFree(pointer);
}
WW_HIP_EXPORT int hipHostGetDevicePointer(void** device_pointer, void* host, unsigned flags) {
  return guarded([&]() -> int {
    if (device_pointer == nullptr || flags != 0) return kInvalidValue;
    const auto found = find_allocation(address_of(host));
    if (!found || !host_must_see(found->kind)) return kInvalidValue;
    *device_pointer = host;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipHostGetFlags(unsigned* flags, void* host) {
  return guarded([&]() -> int {
    const auto found = find_allocation(address_of(host));
    if (flags == nullptr || !found || found->kind != MemoryKind::host) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipHostRegister(void* host, std::size_t bytes, unsigned) {
  return guarded([&]() -> int {
    if (host == nullptr || bytes == 0) return kInvalidValue;
    return registered_host().emplace(address_of(host), bytes).second ? kSuccess
                                                                     : kHostMemoryAlreadyRegistered;
  });
}
WW_HIP_EXPORT int hipHostUnregister(void* host) {
  return guarded([&]() -> int {
    return registered_host().erase(address_of(host)) != 0 ? kSuccess : kHostMemoryNotRegistered;
  });
}
WW_HIP_EXPORT int hipMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_work([&]() -> int {
    if (flags != kMemAttachGlobal && flags != kMemAttachHost) return kInvalidValue;
    if (bytes == 0) return kInvalidValue;
    return allocate(pointer, bytes, MemoryKind::managed, flags);
  });
}
WW_HIP_EXPORT int hipMemPrefetchAsync(const void* pointer, std::size_t bytes, int, void* stream) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    const auto found = find_allocation(address_of(pointer));
    if (!found || !host_must_see(found->kind)) return kInvalidValue;
    return bytes <= found->address + found->bytes - address_of(pointer) ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipMemAdvise(const void* pointer, std::size_t bytes, int, int) {
  return guarded([&]() -> int {
    return find_allocation(address_of(pointer)) && bytes != 0 ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipStreamAttachMemAsync(void* stream, void* pointer, std::size_t, unsigned) {
  return guarded([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    return find_allocation(address_of(pointer)) ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                 std::size_t height) {
  return guarded_work([&] { return allocate_pitched(pointer, pitch, width, height); });
}
WW_HIP_EXPORT int hipMalloc3D(PitchedPointer* memory, Extent extent) {
  return guarded_work([&]() -> int {
    if (memory == nullptr) return kInvalidValue;
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth) return kOutOfMemory;
    *memory = {nullptr, 0, extent.width, extent.height};
    return allocate_pitched(&memory->pointer, &memory->pitch, extent.width,
                            extent.height * extent.depth);
  });
}
WW_HIP_EXPORT int hipMemAllocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                   std::size_t height, unsigned) {
  return hipMallocPitch(pointer, pitch, width, height);
}
WW_HIP_EXPORT int hipMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return guarded([&]() -> int {
    if (free_bytes == nullptr && total == nullptr) return kInvalidValue;
    const auto all =
        static_cast<std::size_t>(device().chip().architecture().memory_bytes_of_device());
    if (total != nullptr) *total = all;
    if (free_bytes != nullptr) *free_bytes = all - std::min<std::size_t>(all, allocated_bytes());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemPtrGetInfo(void* pointer, std::size_t* bytes) {
  return guarded([&]() -> int {
    const auto found = find_allocation(address_of(pointer));
    if (bytes == nullptr || !found || found->address != address_of(pointer)) return kInvalidValue;
    *bytes = found->bytes;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipMemGetAddressRange(void** base, std::size_t* bytes, void* pointer) {
  return guarded([&]() -> int {
    const auto found = find_allocation(address_of(pointer));
    if (!found) return kNotFound;
    if (base != nullptr) *base = device_pointer(found->address);
    if (bytes != nullptr) *bytes = found->bytes;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return guarded([&]() -> int {
    if (attributes == nullptr || pointer == nullptr) return kInvalidValue;
    const auto found = find_allocation(address_of(pointer));
    *attributes = {};
    if (!found)
      return hip_major() < 6 ? kInvalidValue : kSuccess;  // from 6 on: unregistered memory
    const bool host = host_must_see(found->kind);
    attributes->memoryType = memory_type(found->kind);
    attributes->devicePointer = const_cast<void*>(pointer);
    attributes->hostPointer = host ? const_cast<void*>(pointer) : nullptr;
    attributes->device = found->device;
    attributes->isManaged = host && found->kind != MemoryKind::host ? 1 : 0;
    attributes->allocationFlags = found->flags;
    return kSuccess;
  });
}

// --- pools: every pool is its device's memory; freed memory goes back at once ---

namespace {

struct MemoryPool {
  int device{};
  std::uint64_t release_threshold{};
};

std::map<const void*, std::unique_ptr<MemoryPool>>& memory_pools() {
  static auto& pools = *new std::map<const void*, std::unique_ptr<MemoryPool>>;
  return pools;
}

MemoryPool* make_pool(int ordinal) {
  auto made = std::make_unique<MemoryPool>(MemoryPool{ordinal, 0});
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
    if (pool == nullptr) return kInvalidValue;
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    *pool = current_pool(ordinal);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceSetMemPool(int ordinal, void* pool) {
  return guarded([&]() -> int {
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    MemoryPool* found = pool_of(pool);
    if (found == nullptr || found->device != ordinal) return kInvalidValue;
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
