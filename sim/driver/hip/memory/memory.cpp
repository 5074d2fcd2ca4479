// Allocation: device, pinned, managed, pitched.
#include <algorithm>

#include "hip/memory/memory.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/stream/stream.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::uint64_t kPitch = 256;

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
  const bool both = (flags & kHostCoherent) != 0 && (flags & kHostNonCoherent) != 0;
  if ((flags & ~kHostAllocKnownFlags) != 0 || both) return kInvalidValue;
  return allocate(pointer, bytes, MemoryKind::host, flags);
}

// A call that gives memory. A device that failed has none to give, and what waits for nothing here
// may wait on AMD's devices, which captures do not allow.
template <class Body>
int guarded_allocation(Body&& body) {
  return guarded_work([&]() -> int {
    const int bad = refuse_unsafe_in_capture();
    return bad != kSuccess ? bad : body();
  });
}

int free_outside_capture(const void* pointer, bool host) {
  if (const int bad = refuse_unsafe_in_capture(); bad != kSuccess) return bad;
  return free_of(pointer, host);
}

}  // namespace

int allocate(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags, int ordinal) {
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
  if (!found || (host && found->kind != MemoryKind::host)) return kInvalidValue;
  if (found->kind == MemoryKind::managed_variable || found->kind == MemoryKind::array ||
      found->kind == MemoryKind::registered || found->kind == MemoryKind::mapped) {
    return kInvalidValue;
  }
  if (found->owner != nullptr) return found->owner->free_for_program(address_of(pointer));
  return free_memory(address_of(pointer));
}

WW_HIP_EXPORT int hipMalloc(void** pointer, std::size_t bytes) {
  return guarded_allocation([&] { return allocate(pointer, bytes, MemoryKind::device); });
}
WW_HIP_EXPORT int hipExtMallocWithFlags(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_allocation([&]() -> int {
    if (flags > kMaxMallocFlag) return kInvalidValue;
    if (flags == kMallocSignal && bytes != kSignalBytes) return kInvalidValue;
    return allocate(pointer, bytes, MemoryKind::device, flags);
  });
}
WW_HIP_EXPORT int hipFree(void* pointer) {
  return guarded([&] { return free_outside_capture(pointer, false); });
}
WW_HIP_EXPORT int hipHostMalloc(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_allocation([&] { return allocate_host(pointer, bytes, flags); });
}
// hipHostMalloc() of C++ programs that were compiled over some of HIP 6.3's headers.
WW_HIP_EXPORT int hipExtHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
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
  return guarded([&] { return free_outside_capture(pointer, true); });
}
WW_HIP_EXPORT int hipFreeHost(void* pointer) {
  return hipHostFree(pointer);
}
WW_HIP_EXPORT int hipMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded_allocation([&]() -> int {
    if (flags != kMemAttachGlobal && flags != kMemAttachHost) return kInvalidValue;
    if (bytes == 0) return kInvalidValue;
    return allocate(pointer, bytes, MemoryKind::managed, flags);
  });
}
WW_HIP_EXPORT int hipStreamAttachMemAsync(void* stream, void* pointer, std::size_t bytes,
                                          unsigned flags) {
  return guarded([&]() -> int {
    if (!is_stream(stream)) return kContextIsDestroyed;
    if (flags != kMemAttachGlobal && flags != kMemAttachHost && flags != kMemAttachSingle) {
      return kInvalidValue;
    }
    if (flags == kMemAttachSingle && stream == nullptr) return kInvalidValue;
    const auto found = find_allocation(address_of(pointer));
    if (!found) return kInvalidValue;
    // Managed memory, by all of it.
    const bool part = host_must_see(found->kind) && bytes != 0 && bytes != found->bytes;
    return part ? kInvalidValue : kSuccess;
  });
}
WW_HIP_EXPORT int hipMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                                 std::size_t height) {
  return guarded_allocation([&] { return allocate_pitched(pointer, pitch, width, height); });
}
WW_HIP_EXPORT int hipMalloc3D(PitchedPointer* memory, Extent extent) {
  return guarded_allocation([&]() -> int {
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

}  // namespace ww::sim::driver::hip
