// Device memory that programs map to addresses of their choice (HIP's virtual memory management).
#include <fmt/format.h>
#include <sys/mman.h>

#include "machine/compute_unit/device_memory.hpp"

namespace ww::sim::gpu::exec {

Result<std::uint64_t> DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment,
                                            std::uint64_t wanted) {
  if (bytes == 0 || bytes % kPageBytes != 0 || bytes >= size_) {
    return fail(ErrorCode::out_of_range, fmt::format("cannot reserve {} bytes", bytes));
  }
  std::optional<std::uint64_t> there;
  if (wanted >= kDeviceBase && wanted % kPageBytes == 0) there = wanted - kDeviceBase;
  WW_ASSIGN(offset, take(bytes + kPageBytes, alignment, there));
  reserved_[offset] = bytes;
  return kDeviceBase + offset;
}

Status DeviceMemory::release_reserved(std::uint64_t address) {
  const auto found = reserved_.find(address - kDeviceBase);
  if (found == reserved_.end()) {
    return fail(ErrorCode::out_of_range, fmt::format("{:#x} is not reserved", address));
  }
  give_back(found->first, found->second + kPageBytes);
  reserved_.erase(found);
  return {};
}

Status DeviceMemory::map(std::uint64_t address, std::uint64_t bytes, int file, int domain) {
  const std::uint64_t offset = address - kDeviceBase;
  WW_TRY(settle(offset, bytes, domain));
  if (mmap(base_ + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
      MAP_FAILED) {
    leave(offset, bytes);
    return fail(ErrorCode::device_error, fmt::format("the host cannot map {} bytes", bytes));
  }
  touch();
  return {};
}

Status DeviceMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - kDeviceBase;
  permit(address, bytes, false);
  leave(offset, bytes);
  if (mmap(base_ + offset, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return fail(ErrorCode::device_error, fmt::format("the host cannot unmap {} bytes", bytes));
  }
  return {};
}

void DeviceMemory::permit(std::uint64_t address, std::uint64_t bytes, bool permitted) {
  mark(address - kDeviceBase, bytes, permitted);
  touch();
}

}  // namespace ww::sim::gpu::exec
