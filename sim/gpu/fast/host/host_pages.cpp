#include "fast/host/host_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "fast/host/host_arena.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::size_t kMinPage = 4096;

// Documentation/admin-guide/mm/pagemap.rst: bit 63 is set where the page is in memory and bit 62
// where it is swapped out. Others may be set in entries of pages that nobody has used.
bool used(std::uint64_t entry) {
  return entry >> 62 != 0;
}

}  // namespace

HostPages::HostPages(bool ask)
    : map_(ask ? ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1) {}

bool HostPages::untouched(const std::byte* begin, std::size_t bytes) const {
  if (!map_.open() || bytes == 0) return false;
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = reinterpret_cast<std::uintptr_t>(begin) / page;
  const std::size_t end = (reinterpret_cast<std::uintptr_t>(begin) + bytes - 1) / page + 1;
  std::array<std::uint64_t, kHugePage / kMinPage> entries{};
  if (end - first > entries.size()) return false;
  const auto unused = [&](std::size_t count) {
    const std::size_t wanted = count * sizeof entries[0];
    return ::pread(map_.number(), entries.data(), wanted,
                   static_cast<off_t>(first * sizeof entries[0])) == static_cast<ssize_t>(wanted) &&
           std::none_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                        used);
  };
  // The others are most often as the first one is.
  return unused(1) && unused(end - first);
}

}  // namespace ww::sim::gpu::exec
