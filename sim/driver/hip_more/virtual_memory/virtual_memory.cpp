// Memory at addresses of the program's choice: it reserves addresses, makes memory, maps it there
// and says which devices may use it.
//
// A piece of memory is a file of the host without a name, so that several addresses can have it at
// once. Equally usable pieces side by side are one allocation to copies and kernels.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/session/types.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::uint64_t kGranularity = 4096;
constexpr int kPosixFile = 1;  // hipMemHandleTypePosixFileDescriptor

// Memory behind a hipMemGenericAllocationHandle_t.
struct Physical {
  ~Physical() {
    close(file);
    count_bytes(properties.location.number, -static_cast<std::int64_t>(bytes));
  }
  PhysicalProperties properties{};
  std::uint64_t bytes{};
  int file{-1};
  unsigned held{1};  // times that the program holds it
};

struct Mapped {
  std::shared_ptr<Physical> physical;
  std::uint64_t bytes{};
  std::map<int, int> access{};  // by device, where it has any

  // Returns what all devices together may do, as copies ask for no device.
  [[nodiscard]] int most_access() const {
    int most = kAccessNone;
    for (const auto& [device, access_of_device] : access) most = std::max(most, access_of_device);
    return most;
  }
};

struct Range {
  std::uint64_t bytes{};
  std::map<std::uint64_t, Mapped> mapped{};  // by address
  std::vector<std::uint64_t> allocations{};  // addresses of what the memory table has of it
};

struct VirtualMemory {
  std::map<std::uint64_t, Range> ranges;  // by address
  std::map<const void*, std::shared_ptr<Physical>> handles;
};

VirtualMemory& virtual_memory() {
  static auto& instance = *new VirtualMemory;
  return instance;
}

// The entry around an address, of maps by address whose values have `bytes`; end() if there is
// none.
template <class Map>
auto around(Map& map, std::uint64_t address) {
  auto next = map.upper_bound(address);
  if (next == map.begin()) return map.end();
  --next;
  return address - next->first < next->second.bytes ? next : map.end();
}

std::shared_ptr<Physical> find_handle(const void* handle) {
  const auto& handles = virtual_memory().handles;
  const auto found = handles.find(handle);
  return found == handles.end() ? nullptr : found->second;
}

// Returns the pieces mapped from `address` on, if whole ones make up these bytes; else nothing.
std::vector<std::map<std::uint64_t, Mapped>::iterator> whole_pieces(Range& range,
                                                                    std::uint64_t address,
                                                                    std::uint64_t bytes) {
  std::vector<std::map<std::uint64_t, Mapped>::iterator> pieces;
  auto piece = range.mapped.find(address);
  std::uint64_t found = 0;
  while (found < bytes && piece != range.mapped.end() && piece->first == address + found) {
    pieces.push_back(piece);
    found += piece->second.bytes;
    ++piece;
  }
  if (found != bytes) pieces.clear();
  return pieces;
}

// Reports to the memory table what of the range can be used, in pieces as large as they come.
void tell_of(Range& range) {
  for (const std::uint64_t address : range.allocations) forget_mapped(address);
  range.allocations.clear();
  Allocation run;
  const auto end_run = [&] {
    if (run.bytes == 0) return;
    put_mapped(run);
    range.allocations.push_back(run.address);
    run = {};
  };
  for (const auto& [address, mapped] : range.mapped) {
    const auto access = static_cast<unsigned>(mapped.most_access());
    const int ordinal = mapped.physical->properties.location.number;
    if (address != run.address + run.bytes || access != run.flags || ordinal != run.device) {
      end_run();
    }
    if (access == kAccessNone) continue;
    if (run.bytes == 0) run = {.address = address, .flags = access, .device = ordinal};
    run.bytes += mapped.bytes;
  }
  end_run();
}

bool is_device(const MemoryLocation& location) {
  return location.type == kLocationDevice && is_ordinal(location.number);
}

bool are_good(const PhysicalProperties* properties) {
  return properties != nullptr && properties->allocation_type == kAllocationPinned &&
         is_device(properties->location);
}

int create(void** handle, std::uint64_t bytes, const PhysicalProperties& properties) {
  const int ordinal = properties.location.number;
  const auto all =
      static_cast<std::uint64_t>(device().chip().architecture().memory_bytes_of_device());
  if (bytes > all - std::min(all, allocated_bytes(ordinal))) return kOutOfMemory;
  const int file = memfd_create("wirewatt-hip", MFD_CLOEXEC);
  if (file < 0) return kOutOfMemory;
  auto made = std::make_shared<Physical>();
  made->properties = properties;
  made->bytes = bytes;
  made->file = file;
  count_bytes(ordinal, static_cast<std::int64_t>(bytes));
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  *handle = made.get();
  virtual_memory().handles[made.get()] = std::move(made);
  return kSuccess;
}

int map(std::uint64_t address, std::uint64_t bytes, const std::shared_ptr<Physical>& physical) {
  auto& ranges = virtual_memory().ranges;
  const auto found = around(ranges, address);
  if (found == ranges.end() || address % kGranularity != 0 || bytes % kGranularity != 0 ||
      bytes > physical->bytes || bytes > found->first + found->second.bytes - address) {
    return kInvalidValue;
  }
  auto& mapped = found->second.mapped;
  const auto next = mapped.lower_bound(address);
  if (around(mapped, address) != mapped.end() ||
      (next != mapped.end() && next->first - address < bytes)) {
    return kInvalidValue;  // something is there
  }
  device().select_device(physical->properties.location.number);
  if (!device().map(address, bytes, physical->file)) return kOutOfMemory;
  mapped[address] = {physical, bytes};
  return kSuccess;
}

// Calls change(range, piece) for each of the whole pieces that make up these bytes, until one gives
// an error, and reports what is left. Error kInvalidValue: there are no such pieces.
template <class F>
int change_pieces(std::uint64_t address, std::uint64_t bytes, F&& change) {
  auto& ranges = virtual_memory().ranges;
  const auto range = around(ranges, address);
  if (range == ranges.end()) return kInvalidValue;
  const auto pieces = whole_pieces(range->second, address, bytes);
  if (pieces.empty()) return kInvalidValue;
  int code = kSuccess;
  for (const auto& piece : pieces) {
    code = change(range->second, piece);
    if (code != kSuccess) break;
  }
  tell_of(range->second);
  return code;
}

int unmap(std::uint64_t address, std::uint64_t bytes) {
  return change_pieces(address, bytes, [](Range& range, auto piece) -> int {
    if (!device().unmap(piece->first, piece->second.bytes)) return kOutOfMemory;
    range.mapped.erase(piece);
    return kSuccess;
  });
}

int set_access(std::uint64_t address, std::uint64_t bytes, const MemoryAccess* wanted,
               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const int access = wanted[i].access;
    if (!is_device(wanted[i].location) ||
        (access != kAccessNone && access != kAccessRead && access != kAccessAll)) {
      return kInvalidValue;
    }
  }
  return change_pieces(address, bytes, [&](Range&, auto piece) -> int {
    Mapped& mapped = piece->second;
    for (std::size_t i = 0; i < count; ++i) {
      mapped.access[wanted[i].location.number] = wanted[i].access;
    }
    device().permit(piece->first, mapped.bytes, mapped.most_access() != kAccessNone);
    return kSuccess;
  });
}

// Returns the piece mapped at that address; null if there is none.
const Mapped* find_mapped(const void* pointer) {
  auto& ranges = virtual_memory().ranges;
  const auto range = around(ranges, address_of(pointer));
  if (range == ranges.end()) return nullptr;
  const auto found = around(range->second.mapped, address_of(pointer));
  return found == range->second.mapped.end() ? nullptr : &found->second;
}

}  // namespace

WW_HIP_EXPORT int hipMemGetAllocationGranularity(std::size_t* granularity,
                                                 const PhysicalProperties* properties,
                                                 unsigned option) {
  constexpr unsigned kRecommended = 1;
  return guarded([&]() -> int {
    if (granularity == nullptr || !are_good(properties) || option > kRecommended) {
      return kInvalidValue;
    }
    *granularity = kGranularity;
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipMemAddressReserve(void** pointer, std::size_t bytes, std::size_t alignment,
                                       void* wanted, unsigned long long flags) {
  return guarded([&]() -> int {
    if (pointer == nullptr || flags != 0) return kInvalidValue;
    if (bytes == 0 || bytes % kGranularity != 0 || (alignment & (alignment - 1)) != 0) {
      return kOutOfMemory;
    }
    const auto address = device().reserve(bytes, alignment, address_of(wanted));
    if (!address) return kOutOfMemory;
    virtual_memory().ranges[*address] = {bytes};
    *pointer = device_pointer(*address);
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipMemAddressFree(void* pointer, std::size_t bytes) {
  return guarded([&]() -> int {
    auto& ranges = virtual_memory().ranges;
    const auto found = ranges.find(address_of(pointer));
    if (found == ranges.end() || found->second.bytes != bytes || !found->second.mapped.empty()) {
      return kInvalidValue;
    }
    ranges.erase(found);
    return device().release_reserved(address_of(pointer)) ? kSuccess : kInvalidValue;
  });
}

WW_HIP_EXPORT int hipMemCreate(void** handle, std::size_t bytes,
                               const PhysicalProperties* properties, unsigned long long flags) {
  return guarded([&]() -> int {
    if (handle == nullptr || bytes == 0 || bytes % kGranularity != 0 || flags != 0 ||
        !are_good(properties)) {
      return kInvalidValue;
    }
    if (properties->handle_type != 0 && properties->handle_type != kPosixFile) return kNotSupported;
    return create(handle, bytes, *properties);
  });
}

WW_HIP_EXPORT int hipMemRelease(void* handle) {
  return guarded([&]() -> int {
    const auto physical = find_handle(handle);
    if (physical == nullptr) return kInvalidValue;
    if (--physical->held == 0) virtual_memory().handles.erase(handle);
    return kSuccess;
  });
}

// The program then has to release the handle once more.
WW_HIP_EXPORT int hipMemRetainAllocationHandle(void** handle, void* pointer) {
  return guarded([&]() -> int {
    const Mapped* const found = find_mapped(pointer);
    if (handle == nullptr || found == nullptr) return kInvalidValue;
    ++found->physical->held;
    virtual_memory().handles[found->physical.get()] = found->physical;
    *handle = found->physical.get();
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipMemGetAllocationPropertiesFromHandle(PhysicalProperties* properties,
                                                          void* handle) {
  return guarded([&]() -> int {
    const auto physical = find_handle(handle);
    if (properties == nullptr || physical == nullptr) return kInvalidValue;
    *properties = physical->properties;
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipMemMap(void* pointer, std::size_t bytes, std::size_t offset, void* handle,
                            unsigned long long flags) {
  return guarded([&]() -> int {
    const auto physical = find_handle(handle);
    if (bytes == 0 || offset != 0 || flags != 0 || physical == nullptr) return kInvalidValue;
    return map(address_of(pointer), bytes, physical);
  });
}

WW_HIP_EXPORT int hipMemUnmap(void* pointer, std::size_t bytes) {
  return guarded_work([&]() -> int { return unmap(address_of(pointer), bytes); });
}

WW_HIP_EXPORT int hipMemSetAccess(void* pointer, std::size_t bytes, const MemoryAccess* wanted,
                                  std::size_t count) {
  return guarded_work([&]() -> int {
    if (bytes == 0 || wanted == nullptr || count == 0) return kInvalidValue;
    return set_access(address_of(pointer), bytes, wanted, count);
  });
}

WW_HIP_EXPORT int hipMemGetAccess(unsigned long long* access, const MemoryLocation* location,
                                  void* pointer) {
  return guarded([&]() -> int {
    if (access == nullptr || location == nullptr || !is_device(*location)) return kInvalidValue;
    const Mapped* const found = find_mapped(pointer);
    if (found == nullptr) return kInvalidValue;
    const auto of_device = found->access.find(location->number);
    *access =
        of_device == found->access.end() ? 0 : static_cast<unsigned long long>(of_device->second);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
