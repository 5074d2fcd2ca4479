// Answers questions about a pointer.
#include <cstring>

#include "hip/memory/array_table.hpp"
#include "hip/memory/memory_table.hpp"
#include "hip/memory/registered_host.hpp"
#include "hip/session/device_pointer.hpp"

namespace ww::sim::driver::hip {
namespace {

// HIP 6 numbers the kinds of memory anew.
int memory_type(MemoryKind kind) {
  const bool old = hip_major() < 6;
  switch (kind) {
    case MemoryKind::registered:
    case MemoryKind::host: return old ? 0 : 1;
    case MemoryKind::device:
    case MemoryKind::graph:
    case MemoryKind::mapped:
    case MemoryKind::array: return old ? 1 : 2;
    case MemoryKind::managed:
    case MemoryKind::managed_variable: return old ? 1 : 3;
  }
  return 0;
}

// hipPointer_attribute.
enum PointerAttribute : int {
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemoryOperations = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kAccessFlags = 16,
  kLastAttribute = 17,
};

// Writes an attribute as large as the program's variable for it.
template <class Value>
int give(void* to, Value value) {
  std::memcpy(to, &value, sizeof value);
  return kSuccess;
}
// Gives the value for memory that is not HIP's, which is an error.
template <class Value>
int give_none(void* to, Value value) {
  static_cast<void>(give(to, value));
  return kInvalidValue;
}

// Errors: kInvalidValue for memory of the host alone, and for attributes that are none;
// kNotSupported for those that AMD's library does not have either.
int attribute_of(void* to, int attribute, const void* pointer) {
  const auto found = find_allocation(address_of(pointer));
  const void* const host = found && host_must_see(found->kind) ? pointer : nullptr;
  switch (attribute) {
    case kMemoryType:
      if (!found && find_array(pointer) != nullptr) {
        return give(to, std::uint32_t{hip_major() < 6 ? 2U : 10U});
      }
      if (!found) return give_none(to, std::uint32_t{0});
      return give(to, static_cast<std::uint32_t>(
                          memory_type(host == nullptr ? MemoryKind::device : MemoryKind::host)));
    case kDevicePointer:
      return found ? give(to, pointer) : give_none(to, static_cast<const void*>(nullptr));
    case kHostPointer: return host != nullptr ? give(to, host) : give_none(to, host);
    case kSyncMemoryOperations:
    case kMapped: return found ? give(to, true) : give_none(to, false);
    case kBufferId: return found ? give(to, found->number) : give_none(to, std::uint32_t{0});
    case kIsManaged:
      if (!found) return give_none(to, false);
      return give(to, host != nullptr && found->kind != MemoryKind::host);
    case kDeviceOrdinal: return found ? give(to, found->device) : give_none(to, int{-2});
    case kRangeStart:
      if (!found) return give_none(to, static_cast<const void*>(nullptr));
      return give(to, static_cast<const void*>(device_pointer(found->address)));
    case kRangeSize:
      return found ? give(to, static_cast<std::uint32_t>(found->bytes))
                   : give_none(to, std::uint32_t{0});
    case kAccessFlags: return give(to, std::uint32_t{found ? found->flags : 0});
    default: return attribute >= 1 && attribute <= kLastAttribute ? kNotSupported : kInvalidValue;
  }
}

}  // namespace

WW_HIP_EXPORT int hipPointerGetAttribute(void* to, int attribute, const void* pointer) {
  return guarded([&]() -> int {
    if (to == nullptr || pointer == nullptr) return kInvalidValue;
    return attribute_of(to, attribute, pointer);
  });
}
// An attribute that a pointer lacks is no error of the call, as with AMD's library.
WW_HIP_EXPORT int hipDrvPointerGetAttributes(unsigned count, const int* attributes, void** to,
                                             const void* pointer) {
  return guarded([&]() -> int {
    if (count == 0 || attributes == nullptr || to == nullptr || pointer == nullptr) {
      return kInvalidValue;
    }
    for (unsigned i = 0; i < count; ++i) {
      if (to[i] == nullptr) return kInvalidValue;
      static_cast<void>(attribute_of(to[i], attributes[i], pointer));
    }
    return kSuccess;
  });
}
// Memory operations wait for each other anyway.
WW_HIP_EXPORT int hipPointerSetAttribute(const void* value, int attribute, const void* pointer) {
  return guarded([&]() -> int {
    if (value == nullptr || pointer == nullptr) return kInvalidValue;
    if (attribute != kSyncMemoryOperations) return kInvalidValue;
    if (*static_cast<const unsigned*>(value) > 1) return kInvalidValue;
    return find_allocation(address_of(pointer)) ? kSuccess : kInvalidDevicePointer;
  });
}
WW_HIP_EXPORT int hipPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return guarded([&]() -> int {
    if (attributes == nullptr || pointer == nullptr) return kInvalidValue;
    const auto found = find_allocation(address_of(pointer));
    *attributes = {};
    if (const auto range = find_registered(address_of(pointer))) {
      attributes->memoryType = memory_type(MemoryKind::registered);
      const std::uint64_t offset = address_of(pointer) - range->address;
      if (range->twin != 0) attributes->devicePointer = device_pointer(range->twin + offset);
      attributes->hostPointer = const_cast<void*>(pointer);
      attributes->device = range->device;
      attributes->allocationFlags = range->flags;
      return kSuccess;
    }
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

}  // namespace ww::sim::driver::hip
