// Hints to the host's caches. GCC takes a function that does nothing but __builtin_prefetch for one
// without effects and drops every call of it: the empty statements keep them.
#pragma once

#include <cstddef>

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kHostLine = 64;

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

}  // namespace ww::sim::gpu::exec
