// Hints to the host's caches. GCC takes a function that does nothing but __builtin_prefetch for one
// without effects and drops every call of it: the empty statements keep them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kHostLine = 64;
// State of waves that a core's own caches keep from turn to turn; much of it is not touched again.
inline constexpr std::size_t kHostCacheBytes = std::size_t{4} << 20;

// Allocates arrays that begin with a line.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kHostLine}));
  }
  void deallocate(T* begin, std::size_t) { ::operator delete (begin, std::align_val_t{kHostLine}); }
  bool operator==(const LineAllocator&) const = default;
};
template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

// Will be read.
inline void prefetch(const void* place) {
  __builtin_prefetch(place);
  __asm__ volatile("");
}

// Will be written: the line comes with the right to.
inline void prefetch_to_write(const void* place) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
  __asm__ volatile("");
#endif
}

// Prefetches `lines` lines in a row.
inline void prefetch(const void* begin, std::size_t lines) {
  const auto* line = static_cast<const char*>(begin);
  for (; lines != 0; --lines, line += kHostLine) prefetch(line);
}
inline void prefetch_to_write(const void* begin, std::size_t lines) {
  const auto* line = static_cast<const char*>(begin);
  for (; lines != 0; --lines, line += kHostLine) prefetch_to_write(line);
}

}  // namespace ww::sim::gpu::exec
