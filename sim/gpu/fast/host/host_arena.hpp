// Memory of the host for what every quantum goes through: the state of waves, of caches and of what
// is in flight, megabytes of it in small pieces. On large pages, where the host has them, one entry
// of its address caches serves hundreds of pieces, and one interrupt brings as many pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "fast/host/host_cache.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;  // of the host [bytes]

class HostArena {
 public:
  HostArena() = default;
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena();

  // Where a piece lies: what many users leave untouched lies apart from the rest, because the first
  // use of a large page clears all of it.
  enum class Pages : std::uint8_t { common, rare };

  // Begins with a line of the host's caches; zeros; for as long as the arena lives. From any
  // thread. Pages that nobody touches cost nothing. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes, Pages pages = Pages::common);
  // A T there, which nobody destroys.
  template <class T>
  [[nodiscard]] T* make() {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kHostLine);
    return new (allocate(sizeof(T))) T;
  }
  // Returns `count` numbers, all 0.
  template <class T>
  [[nodiscard]] std::span<T> zeros(std::size_t count) {
    static_assert(std::is_arithmetic_v<T>);
    return {static_cast<T*>(allocate(count * sizeof(T))), count};
  }

 private:
  struct Chunk {
    std::byte* begin;
    std::size_t bytes;
  };
  // Chunks that are handed out one after the other.
  struct Row {
    std::vector<Chunk> chunks;
    std::size_t used{};  // of the last one
  };
  std::mutex mutex_;
  std::array<Row, 2> rows_;  // by Pages
};

// Allocates vectors that soon are as large as they get: their outgrown parts stay with the arena.
template <class T>
class ArenaAllocator {
 public:
  using value_type = T;
  explicit ArenaAllocator(HostArena& arena) : arena_(&arena) {}
  template <class U>
  explicit ArenaAllocator(const ArenaAllocator<U>& other) : arena_(other.arena()) {}
  T* allocate(std::size_t count) { return static_cast<T*>(arena_->allocate(count * sizeof(T))); }
  void deallocate(T*, std::size_t) {}
  [[nodiscard]] HostArena* arena() const { return arena_; }
  bool operator==(const ArenaAllocator&) const = default;

 private:
  HostArena* arena_;
};
template <class T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

}  // namespace ww::sim::gpu::exec
