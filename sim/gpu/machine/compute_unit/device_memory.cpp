#include "machine/compute_unit/device_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "fast/host/host_arena.hpp"
#include "fast/host/host_pages.hpp"

namespace ww::sim::gpu::exec {
namespace {

std::uint64_t pages_of(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes;
}

void* lazy_pages(std::uint64_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

// Maps lazy pages at an address of choice, or where the system likes if that is not free.
void* lazy_pages_at(std::uint64_t address, std::uint64_t bytes) {
#ifdef MAP_FIXED_NOREPLACE
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is of the device's choice
  void* base = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (base != MAP_FAILED) return base;
#else
  static_cast<void>(address);
#endif
  return lazy_pages(bytes);
}

// Allocations get large pages from the host where it has them: whoever writes a buffer for the
// first time would else stop for each 4 KiB of it. To clear a large page takes a host about as long
// as some hundred such stops, fewer on virtual machines. Ends of allocations, too, lie in large
// pages, as far as the whole range of `room` bytes goes.
constexpr std::uint64_t kWorthHugePages = kHugePage / 2;

void ask_for_huge_pages(std::byte* base, std::uint64_t room, std::uint64_t offset,
                        std::uint64_t bytes) {
#ifdef MADV_HUGEPAGE
  const std::uint64_t skew = reinterpret_cast<std::uintptr_t>(base) % kHugePage;
  const std::uint64_t first = (offset + skew) / kHugePage * kHugePage;
  const std::uint64_t end = (offset + skew + bytes + kHugePage - 1) / kHugePage * kHugePage;
  const std::uint64_t from = std::max(first, skew) - skew;
  madvise(base + from, std::min(end - skew, room) - from, MADV_HUGEPAGE);
#else
  static_cast<void>(base);
  static_cast<void>(room);
  static_cast<void>(offset);
  static_cast<void>(bytes);
#endif
}

bool are_zeros(const std::byte* bytes, std::size_t count) {
  return bytes[0] == std::byte{} && std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

// Writes copies of the block one after the other; returns whether there was anything else.
bool overwrite(std::byte* place, std::size_t bytes, std::span<const std::byte> block) {
  bool changed = false;
  for (std::size_t done = 0; done < bytes; done += block.size()) {
    const std::size_t count = std::min(block.size(), bytes - done);
    if (std::memcmp(place + done, block.data(), count) == 0) continue;
    std::memcpy(place + done, block.data(), count);
    changed = true;
  }
  return changed;
}

}  // namespace

template <class Part>
bool DeviceMemory::each_part(std::uint64_t address, std::size_t bytes, Part part) const {
  const HostPages pages(bytes >= kWorthHugePages && !is_mapped(address - kDeviceBase));
  std::byte* const place = host(address);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t into = reinterpret_cast<std::uintptr_t>(place + done) % kHugePage;
    const std::size_t count = std::min(bytes - done, kHugePage - into);
    if (!part(done, count, pages.untouched(place + done, count))) return false;
    done += count;
  }
  return true;
}

Result<std::unique_ptr<DeviceMemory>> DeviceMemory::create(std::uint64_t bytes,
                                                           bool at_device_addresses, int domains) {
  auto memory = std::unique_ptr<DeviceMemory>(new DeviceMemory);
  const std::uint64_t pages = pages_of(bytes);
  void* base = at_device_addresses ? lazy_pages_at(kDeviceBase, pages * kPageBytes)
                                   : lazy_pages(pages * kPageBytes);
  if (base == MAP_FAILED) {
    return fail(
        ErrorCode::device_error,
        fmt::format("cannot reserve {} bytes of address space for device memory; `ulimit -v` "
                    "prints how many KiB a process may have",
                    bytes));
  }
  memory->base_ = static_cast<std::byte*>(base);
  memory->size_ = pages * kPageBytes;
  void* valid = lazy_pages(pages * sizeof(std::uint16_t));
  if (valid == MAP_FAILED) {
    return fail(ErrorCode::device_error, "cannot reserve the page table of device memory");
  }
  memory->valid_ = static_cast<std::uint16_t*>(valid);
  memory->free_[0] = memory->size_;
  if (domains > 1) {
    void* homes = lazy_pages(pages);
    if (homes == MAP_FAILED) {
      return fail(ErrorCode::device_error, "cannot reserve the homes of device memory");
    }
    memory->homes_ = static_cast<std::uint8_t*>(homes);
    memory->domains_ = domains;
  }
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (homes_ != nullptr) munmap(homes_, size_ / kPageBytes);
  if (valid_ != nullptr) munmap(valid_, size_ / kPageBytes * sizeof(std::uint16_t));
  if (base_ != nullptr) munmap(base_, size_);
}

Status DeviceMemory::settle(std::uint64_t offset, std::uint64_t bytes, int domain) {
  if (homes_ == nullptr || domain == kNowhere) return {};
  const std::uint64_t pages = pages_of(bytes);
  std::uint64_t& used = used_.at(static_cast<std::size_t>(domain));
  const std::uint64_t room = size_ / static_cast<std::uint64_t>(domains_);
  if (pages * kPageBytes > room - used) {
    return fail(ErrorCode::out_of_range,
                fmt::format("no room for {} bytes in memory domain {}", bytes, domain));
  }
  used += pages * kPageBytes;
  std::fill_n(homes_ + offset / kPageBytes, pages, static_cast<std::uint8_t>(domain + 1));
  return {};
}

void DeviceMemory::leave(std::uint64_t offset, std::uint64_t bytes) {
  const int domain = home(kDeviceBase + offset);
  if (domain == kNowhere) return;
  used_.at(static_cast<std::size_t>(domain)) -= pages_of(bytes) * kPageBytes;
  std::fill_n(homes_ + offset / kPageBytes, pages_of(bytes), std::uint8_t{0});
}

Status DeviceMemory::move(std::uint64_t address, int domain) {
  const auto found = allocated_.find(address - kDeviceBase);
  if (found == allocated_.end()) {
    return fail(ErrorCode::out_of_range, fmt::format("{:#x} is not an allocation", address));
  }
  const int before = home(address);
  if (before == domain) return {};
  leave(found->first, found->second);
  if (auto settled = settle(found->first, found->second, domain); !settled) {
    WW_TRY(settle(found->first, found->second, before));
    return settled;
  }
  touch();
  return {};
}

Result<std::uint64_t> DeviceMemory::take(std::uint64_t bytes, std::uint64_t alignment,
                                         std::optional<std::uint64_t> wanted) {
  // Bytes from the beginning of a hole to the first address in it that is aligned.
  const auto skipped = [&](std::uint64_t offset) {
    if (wanted) return *wanted - offset;
    return (0 - (kDeviceBase + offset)) & (alignment - 1);
  };
  const auto find = [&] {
    return std::find_if(free_.begin(), free_.end(), [&](const auto& entry) {
      return (!wanted || entry.first <= *wanted) && entry.second >= bytes &&
             entry.second - bytes >= skipped(entry.first);
    });
  };
  auto hole = find();
  if (hole == free_.end() && !quarantine_.empty()) {
    empty_quarantine();
    hole = find();
  }
  if (hole == free_.end() && wanted) return take(bytes, alignment, std::nullopt);
  if (hole == free_.end()) {
    return fail(ErrorCode::out_of_range,
                fmt::format("no room for {} bytes in {} bytes of device memory", bytes, size_));
  }
  const std::uint64_t skip = skipped(hole->first);
  const std::uint64_t offset = hole->first + skip;
  const std::uint64_t rest = hole->second - skip - bytes;
  if (skip != 0) {
    hole->second = skip;
  } else {
    free_.erase(hole);
  }
  if (rest != 0) free_[offset + bytes] = rest;
  // Forgets earlier releases in the range that is now allocated.
  auto old = released_.upper_bound(offset);
  if (old != released_.begin() && std::prev(old)->first + std::prev(old)->second > offset) --old;
  while (old != released_.end() && old->first < offset + bytes) old = released_.erase(old);
  return offset;
}

Result<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, int domain,
                                             std::uint64_t alignment, Use use) {
  if (bytes == 0 || bytes > size_) {
    return fail(ErrorCode::out_of_range, fmt::format("cannot allocate {} bytes", bytes));
  }
  const std::uint64_t need = (pages_of(bytes) + 1) * kPageBytes;
  WW_ASSIGN(offset, take(need, alignment, std::nullopt));
  if (auto settled = settle(offset, bytes, domain); !settled) {
    give_back(offset, need);
    return tl::unexpected<Error>(settled.error());
  }
  allocated_[offset] = bytes;
  mark(offset, bytes, true);
  if (bytes >= kWorthHugePages) {
    if (use == Use::whole) {
      ask_for_huge_pages(base_, size_, offset, bytes);
    } else {
#ifdef MADV_NOHUGEPAGE
      madvise(base_ + offset, bytes, MADV_NOHUGEPAGE);  // an earlier allocation may have asked
#endif
    }
  } else {
    small_bytes_ += pages_of(bytes) * kPageBytes;
#ifdef MADV_POPULATE_WRITE
    // All of its pages at once take a host a tenth of the time and less. Older kernels refuse.
    if (keeps_small_pages()) madvise(base_ + offset, bytes, MADV_POPULATE_WRITE);
#endif
  }
  touch();
  return kDeviceBase + offset;
}

Status DeviceMemory::release(std::uint64_t address) {
  const auto found = allocated_.find(address - kDeviceBase);
  if (found == allocated_.end()) {
    return fail(ErrorCode::out_of_range, fmt::format("{:#x} is not an allocation", address));
  }
  const std::uint64_t offset = found->first;
  const std::uint64_t asked = found->second;
  const std::uint64_t bytes = pages_of(asked) * kPageBytes;
  mark(offset, asked, false);
  leave(offset, asked);
  allocated_.erase(found);
  // Zeroes the memory, and the page behind it, which is there for tolerated accesses. Pages that
  // are kept for the next allocation cost less than new ones.
  std::uint64_t kept = 0;
  if (asked < kWorthHugePages) {
    if (keeps_small_pages()) {
      kept = bytes;
      std::memset(base_ + offset, 0, kept);
    }
    small_bytes_ -= bytes;
  }
  madvise(base_ + offset + kept, bytes + kPageBytes - kept, MADV_DONTNEED);
  touch();
  released_[offset] = asked;
  if (keep_released_) {
    quarantine_.push_back(offset);
  } else {
    give_back(offset, bytes + kPageBytes);
    // Names of released memory cost room of their own; the oldest addresses go.
    constexpr std::size_t kMaxNames = 4096;
    if (released_.size() > kMaxNames) released_.erase(released_.begin());
  }
  return {};
}

void DeviceMemory::replace(std::uint64_t address, const std::byte* bytes, std::size_t count) {
  std::byte* const place = host(address);
  const bool same = each_part(address, count, [&](std::size_t done, std::size_t part, bool zeros) {
    return zeros ? are_zeros(bytes + done, part)
                 : std::memcmp(place + done, bytes + done, part) == 0;
  });
  if (same) return;
  const std::uint64_t begin = address / ContentVersion::kLine * ContentVersion::kLine;
  const std::size_t lines =
      (address + count - begin + ContentVersion::kLine - 1) / ContentVersion::kLine;
  if (lines > ContentVersion::kMaxChanges) {
    std::memcpy(place, bytes, count);
    touch();
    return;
  }
  const std::vector<std::byte> before(host(begin), host(begin) + lines * ContentVersion::kLine);
  std::memcpy(place, bytes, count);
  for (std::size_t at = 0; at < before.size(); at += ContentVersion::kLine) {
    version_.replace(begin + at, before.data() + at, host(begin + at));
  }
}

void DeviceMemory::fill(std::uint64_t address, std::size_t bytes,
                        std::span<const std::byte> pattern) {
  constexpr std::size_t kBlock = 64 << 10;  // of patterns, written at a time
  const std::size_t most = std::max<std::size_t>(1, kBlock / pattern.size()) * pattern.size();
  std::vector<std::byte> block(std::min(bytes, most));
  std::ranges::copy(pattern, block.begin());
  for (std::size_t made = pattern.size(); made < block.size(); made *= 2) {
    std::memcpy(block.data() + made, block.data(), std::min(made, block.size() - made));
  }
  if (bytes == block.size()) {
    replace(address, block.data(), bytes);
    return;
  }
  bool changed = false;
  if (are_zeros(block.data(), block.size())) {
    each_part(address, bytes, [&](std::size_t done, std::size_t part, bool zeros) {
      if (!zeros) changed |= overwrite(host(address) + done, part, block);
      return true;
    });
  } else {
    changed = overwrite(host(address), bytes, block);
  }
  if (changed) touch();
}

void DeviceMemory::read(std::uint64_t address, std::span<std::byte> bytes) const {
  each_part(address, bytes.size(), [&](std::size_t done, std::size_t part, bool zeros) {
    if (zeros) {
      std::memset(bytes.data() + done, 0, part);
    } else {
      std::memcpy(bytes.data() + done, host(address) + done, part);
    }
    return true;
  });
}

void DeviceMemory::empty_quarantine() {
  for (const std::uint64_t offset : quarantine_) {
    give_back(offset, (pages_of(released_[offset]) + 1) * kPageBytes);
  }
  quarantine_.clear();
}

void DeviceMemory::give_back(std::uint64_t offset, std::uint64_t bytes) {
  auto here = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(here);
      next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here != free_.begin()) {
    const auto before = std::prev(here);
    if (before->first + before->second == here->first) {
      before->second += here->second;
      free_.erase(here);
    }
  }
}

bool DeviceMemory::is_mapped(std::uint64_t offset) const {
  const auto next = reserved_.upper_bound(offset);
  return next != reserved_.begin() && offset - std::prev(next)->first < std::prev(next)->second;
}

bool DeviceMemory::contains_slow(std::uint64_t offset, std::uint64_t bytes) const {
  // A guard page follows every allocation, so a run of valid pages is one allocation.
  std::uint64_t page = offset / kPageBytes;
  const std::uint64_t last = (offset + bytes - 1) / kPageBytes;
  for (; page < last; ++page) {
    if (valid_[page] != kPageBytes) return false;
  }
  return (offset + bytes - 1) % kPageBytes < valid_[last];
}

bool DeviceMemory::exists(std::uint64_t address, std::uint64_t bytes) const {
  const std::uint64_t offset = address - kDeviceBase;
  if (offset >= size_ || bytes > size_ - offset) return false;
  for (std::uint64_t page = offset / kPageBytes; page <= (offset + bytes - 1) / kPageBytes;
       ++page) {
    if (valid_[page] == 0 && (page == 0 || valid_[page - 1] == 0)) return false;
  }
  return true;
}

DeviceMemory::Neighbour DeviceMemory::neighbour(std::uint64_t address) const {
  const std::uint64_t offset = address - kDeviceBase;
  if (offset >= size_) return {};
  const auto before = [&](const auto& map) {
    auto next = map.upper_bound(offset);
    return next == map.begin() ? map.end() : std::prev(next);
  };
  if (const auto gone = before(released_); gone != released_.end() &&
                                           offset < gone->first + gone->second &&
                                           valid_[offset / kPageBytes] == 0) {
    return {kDeviceBase + gone->first, gone->second, true};
  }
  const auto next = allocated_.upper_bound(offset);
  const auto last = before(allocated_);
  if (next != allocated_.end() && next->first - offset < kPageBytes &&
      (last == allocated_.end() || offset >= last->first + last->second + (next->first - offset))) {
    return {kDeviceBase + next->first, next->second, false};
  }
  if (last == allocated_.end()) return {};
  return {kDeviceBase + last->first, last->second, false};
}

void DeviceMemory::mark(std::uint64_t offset, std::uint64_t bytes, bool valid) {
  for (std::uint64_t done = 0; done < bytes; done += kPageBytes) {
    const std::uint64_t part = std::min(kPageBytes, bytes - done);
    valid_[(offset + done) / kPageBytes] = valid ? static_cast<std::uint16_t>(part) : 0;
  }
}

}  // namespace ww::sim::gpu::exec
