// Device memory: one linear range of device virtual addresses over lazily committed host memory,
// with a bounds check to the byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fast/contents/content_version.hpp"
#include "fast/contents/used_pages.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/channel_map.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::uint64_t kPageBytes = 4096;
static_assert(kPageBytes == UsedPages::kLinesOfPage * ContentVersion::kLine);

class DeviceMemory {
 public:
  // Reserves address space only; where asked for and free, at the device's own addresses. Each of
  // `domains` has an equal part of the bytes. Error device_error when the system refuses.
  static Result<std::unique_ptr<DeviceMemory>> create(std::uint64_t bytes,
                                                      bool at_device_addresses = false,
                                                      int domains = 1);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // First fit, aligned to `alignment` (a power of 2 from 4096 on), zeroed, with an unmapped page
  // behind it. Error out_of_range. `domain` is its home; kNowhere: every die finds it in its own
  // domain, as code and private memory, of which each device has its own.
  static constexpr int kNowhere = -1;
  // `scattered`: few bytes of it are used, far from each other, so that large pages of the host
  // would be cleared for a small part of each.
  enum class Use : std::uint8_t { whole, scattered };
  Result<std::uint64_t> allocate(std::uint64_t bytes, int domain = kNowhere,
                                 std::uint64_t alignment = kPageBytes, Use use = Use::whole);
  Status release(std::uint64_t address);
  // Gives an allocation another home, as a page table does: no address changes. Error out_of_range:
  // no allocation begins there, or the domain has no room for it.
  Status move(std::uint64_t address, int domain);

  // Addresses without memory, which nobody may use before some is mapped there: whole pages,
  // aligned as allocations are, at `wanted` where these are free. Error out_of_range.
  Result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted);
  // Takes back what reserve() gave; no memory is mapped there. Error out_of_range.
  Status release_reserved(std::uint64_t address);
  // Maps the first bytes of a file of the host, which is memory of that domain, to reserved
  // addresses. It may be mapped several times. Whole pages. Errors: out_of_range (the domain has no
  // room), device_error (the host refuses).
  Status map(std::uint64_t address, std::uint64_t bytes, int file, int domain);
  Status unmap(std::uint64_t address, std::uint64_t bytes);
  // Whether mapped memory may be used; at first it may not.
  void permit(std::uint64_t address, std::uint64_t bytes, bool permitted);

  // The domain that the page is at home in. Memory of one domain is at home nowhere.
  [[nodiscard]] int home(std::uint64_t address) const {
    return homes_ == nullptr ? kNowhere : int{homes_[(address - kDeviceBase) / kPageBytes]} - 1;
  }

  // Whether [address, address + bytes) lies inside one allocation.
  [[nodiscard, gnu::always_inline]] bool contains(std::uint64_t address,
                                                  std::uint64_t bytes) const {
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
  // Describes the nearest allocation of an address that no allocation contains.
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

  // Another number whenever the contents are others; changes are reported to it.
  [[nodiscard]] ContentVersion& version() { return version_; }
  [[nodiscard]] const ContentVersion& version() const { return version_; }
  void touch() { version_.renew(); }
  // Pages of the present launch, or of the last one.
  [[nodiscard]] UsedPages& used_pages() { return used_pages_; }
  void use_line(std::uint32_t line) { used_pages_.use(line, base_, kDeviceBase); }
  [[nodiscard]] std::uint64_t pages() const { return size_ / kPageBytes; }
  // Writes bytes that contain() accepted. Few of them are followed by the version. Zeros over the
  // zeros of a new allocation take no memory of the host, however large its pages are: with a
  // megabyte or more, pages that nobody has used are not even read (HostPages).
  void replace(std::uint64_t address, const std::byte* bytes, std::size_t count);
  // Writes a multiple of a pattern, as replace() writes bytes.
  void fill(std::uint64_t address, std::size_t bytes, std::span<const std::byte> pattern);
  // Reads bytes that contain() accepted; those of a new allocation take no memory of the host, too.
  void read(std::uint64_t address, std::span<std::byte> bytes) const;

 private:
  DeviceMemory() = default;
  [[nodiscard]] bool contains_slow(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] bool is_mapped(std::uint64_t offset) const;  // to a file, or at least reserved
  // Calls part(done, bytes, untouched) for the parts of a range that each lie in one large page of
  // the host, until it returns false; returns whether it never did. `done` is what came before, and
  // `untouched` parts are zeros that nobody has used.
  template <class Part>
  bool each_part(std::uint64_t address, std::size_t bytes, Part part) const;
  void mark(std::uint64_t offset, std::uint64_t bytes, bool valid);
  // Takes whole pages out of a hole that has them at `wanted`, or else anywhere, aligned. Returns
  // their offset. Error out_of_range.
  Result<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment,
                             std::optional<std::uint64_t> wanted);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  void empty_quarantine();
  // Charges an allocation's pages to a domain, or takes them back.
  Status settle(std::uint64_t offset, std::uint64_t bytes, int domain);
  void leave(std::uint64_t offset, std::uint64_t bytes);
  // Whether small allocations, with this one, are to have their pages before they are used, and to
  // leave them to the next ones. Not where they take much of the host, which has fewer pages than
  // the device, nor where nobody comes to use what is left.
  [[nodiscard]] bool keeps_small_pages() const {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;
    return small_bytes_ <= kMaxBytes && !keep_released_;
  }

  std::byte* base_{};
  std::uint16_t* valid_{};  // valid bytes at the start of each page
  std::uint8_t* homes_{};   // of each page, domain + 1; null: there is one domain
  std::uint64_t size_{};
  int domains_{1};
  std::array<std::uint64_t, 4> used_{};  // bytes of each domain
  ContentVersion version_;
  UsedPages used_pages_;
  std::map<std::uint64_t, std::uint64_t> allocated_;  // offset -> bytes asked for
  std::map<std::uint64_t, std::uint64_t> reserved_;   // offset -> bytes of reserved addresses
  std::map<std::uint64_t, std::uint64_t> free_;       // offset -> bytes, page multiples
  std::map<std::uint64_t, std::uint64_t> released_;   // offset -> bytes asked for, until used again
  std::uint64_t small_bytes_{};  // of allocations too small for large pages, by whole pages
  std::deque<std::uint64_t> quarantine_;  // offsets of released_ not in free_, in order
  bool keep_released_{};
};

}  // namespace ww::sim::gpu::exec
