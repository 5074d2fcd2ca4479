#include "fast/host/host_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace ww::sim::gpu::exec {
namespace {
constexpr std::size_t kChunk = 16 * kHugePage;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kGap = kHostLine;  // behind each piece, that nobody may touch
#else
constexpr std::size_t kGap = 0;
#endif

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
}  // namespace

HostArena::~HostArena() {
  for (const Row& row : rows_) {
    for (const Chunk& chunk : row.chunks) {
#if defined(__SANITIZE_ADDRESS__)
      ASAN_UNPOISON_MEMORY_REGION(chunk.begin, chunk.bytes);
#endif
      munmap(chunk.begin, chunk.bytes);
    }
  }
}

void* HostArena::allocate(std::size_t asked, Pages pages) {
  const std::size_t bytes = round_up(asked, kHostLine) + kGap;
  const std::lock_guard lock(mutex_);
  Row& row = rows_[static_cast<std::size_t>(pages)];
  if (row.chunks.empty() || bytes > row.chunks.back().bytes - row.used) {
    const std::size_t size = round_up(std::max(bytes, kChunk) + kHugePage, kHugePage);
    void* const begin = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(begin, size, MADV_HUGEPAGE);
#endif
    row.chunks.push_back({static_cast<std::byte*>(begin), size});
    row.used = round_up(reinterpret_cast<std::uintptr_t>(begin), kHugePage) -
               reinterpret_cast<std::uintptr_t>(begin);
  }
  std::byte* const piece = row.chunks.back().begin + row.used;
  row.used += bytes;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(piece + asked, bytes - asked);
#endif
  return piece;
}

}  // namespace ww::sim::gpu::exec
