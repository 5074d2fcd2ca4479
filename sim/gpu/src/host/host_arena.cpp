#include "host/host_arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace ww::sim::gpu::exec {
namespace {
constexpr std::size_t kChunk = 16 * kHugePage;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
}  // namespace

HostArena::~HostArena() {
  for (const Chunk& chunk : chunks_) munmap(chunk.begin, chunk.bytes);
}

void* HostArena::allocate(std::size_t bytes) {
  bytes = round_up(bytes, kHostLine);
  const std::lock_guard lock(mutex_);
  if (chunks_.empty() || bytes > chunks_.back().bytes - used_) {
    const std::size_t size = round_up(std::max(bytes, kChunk) + kHugePage, kHugePage);
    void* const begin = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(begin, size, MADV_HUGEPAGE);
#endif
    chunks_.push_back({static_cast<std::byte*>(begin), size});
    used_ = round_up(reinterpret_cast<std::uintptr_t>(begin), kHugePage) -
            reinterpret_cast<std::uintptr_t>(begin);
  }
  void* const piece = chunks_.back().begin + used_;
  used_ += bytes;
  return piece;
}

}  // namespace ww::sim::gpu::exec
