// Memory of the host for what every quantum goes through: the state of waves and of what they have
// in flight, megabytes of it in small pieces. On large pages, where the host has them, one entry of
// its address caches serves hundreds of pieces.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "host/host_cache.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;  // of the host [bytes]

class HostArena {
 public:
  HostArena() = default;
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena();

  // Begins with a line of the host's caches; zeros; for as long as the arena lives. From any
  // thread. Pages that nobody touches cost nothing. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);
  // A T there, which nobody destroys.
  template <class T>
  [[nodiscard]] T* make() {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kHostLine);
    return new (allocate(sizeof(T))) T;
  }

 private:
  struct Chunk {
    std::byte* begin;
    std::size_t bytes;
  };
  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  std::size_t used_{};  // of the last one
};

}  // namespace ww::sim::gpu::exec
