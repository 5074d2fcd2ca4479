// Device memory: one linear range of device virtual addresses over lazily committed host memory,
// with a bounds check to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "compute_unit/content_version.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/channel_map.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::uint64_t kPageBytes = 4096;

class DeviceMemory {
 public:
  // Reserves address space only; where asked for and free, at the device's own addresses. Error
  // device_error when the system refuses.
  static Result<std::unique_ptr<DeviceMemory>> create(std::uint64_t bytes,
                                                      bool at_device_addresses = false);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // First fit, aligned to 4096, zeroed, with an unmapped page behind it. Error out_of_range.
  Result<std::uint64_t> allocate(std::uint64_t bytes);
  Status release(std::uint64_t address);

  // Whether [address, address + bytes) lies inside one allocation.
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const {
    const std::uint64_t offset = address - kDeviceBase;
    if (offset >= size_ || bytes > size_ - offset) return false;
    const std::uint64_t first = offset / kPageBytes;
    const std::uint64_t inside = offset % kPageBytes;
    if (inside + bytes <= kPageBytes) return inside + bytes <= valid_[first];
    return contains_slow(offset, bytes);
  }
  // Whether the bytes lie on the pages of an allocation or on the one behind it: a card's driver
  // hands out memory in large units, and programs that go a little too far run there.
  [[nodiscard]] bool exists(std::uint64_t address, std::uint64_t bytes) const;
  // What an address belongs to that no allocation contains.
  struct Neighbour {
    std::uint64_t address{};
    std::uint64_t bytes{};  // 0: there is none
    bool released{};        // and not allocated again since
  };
  // The allocation around the address; else the nearer one of those before and behind it, where
  // that is less than a page away; else the one before it.
  [[nodiscard]] Neighbour neighbour(std::uint64_t address) const;
  // Released memory is not used again while there is other room, so that uses of it are noticed.
  void keep_released(bool keep) { keep_released_ = keep; }

  // Host bytes of a device address that contains() or exists() accepted.
  [[nodiscard]] std::byte* host(std::uint64_t address) const {
    return base_ + (address - kDeviceBase);
  }
  [[nodiscard]] bool at_device_addresses() const {
    return reinterpret_cast<std::uintptr_t>(base_) == kDeviceBase;
  }
  // First device address past the reserved range.
  [[nodiscard]] std::uint64_t limit() const { return kDeviceBase + size_; }

  // Another number whenever the contents are others; changes are told to it.
  [[nodiscard]] ContentVersion& version() { return version_; }
  void touch() { version_.renew(); }
  // Writes bytes that contain() accepted. Few of them are followed by the version.
  void replace(std::uint64_t address, const std::byte* bytes, std::size_t count);

 private:
  DeviceMemory() = default;
  [[nodiscard]] bool contains_slow(std::uint64_t offset, std::uint64_t bytes) const;
  void mark(std::uint64_t offset, std::uint64_t bytes, bool valid);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  void empty_quarantine();

  std::byte* base_{};
  std::uint16_t* valid_{};  // valid bytes at the start of each page
  std::uint64_t size_{};
  ContentVersion version_;
  std::map<std::uint64_t, std::uint64_t> allocated_;  // offset -> bytes asked for
  std::map<std::uint64_t, std::uint64_t> free_;       // offset -> bytes, page multiples
  std::map<std::uint64_t, std::uint64_t> released_;   // offset -> bytes asked for, until used again
  std::deque<std::uint64_t> quarantine_;              // offsets of released_ not in free_, in order
  bool keep_released_{};
};

}  // namespace ww::sim::gpu::exec
