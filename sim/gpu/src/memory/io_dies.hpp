// What lies behind the L2s of several compute dies: four I/O dies in a ring, on each of them two
// compute dies, 32 slices of the Infinity Cache and the channels of two HBM stacks.
//
// A request of a die enters the I/O die that it stands on, crosses links to its home (no, one or
// two hops), and is served there by the slice, or by memory behind it. Links, slices and channels
// of memory are each busy for a line's time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "caches/infinity_cache.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu::exec {

class IoDies {
 public:
  explicit IoDies(const Architecture& architecture);

  void begin_launch();
  // A die's L2 asks for a line at `cycle`, or writes it; returns when its data is there.
  std::int64_t read(int die, std::uint32_t line, std::int64_t cycle);
  void write(int die, std::uint32_t line, std::int64_t cycle);
  // Of the Infinity Cache's content.
  [[nodiscard]] std::uint64_t cache_hash() { return cache_.hash(); }
  // Since begin_launch().
  [[nodiscard]] const IoDieActivity& activity() const { return activity_; }

  // On the ring 0-1-2-3-0.
  [[nodiscard]] static int hops(int from, int to) {
    const int apart = (to - from + MemoryHome::kIoDies) % MemoryHome::kIoDies;
    return apart == 3 ? 1 : apart;
  }

 private:
  // The links from one I/O die to another; returns when the first word is there, hops not counted.
  std::int64_t cross(int from, int to, std::int64_t at);

  const Architecture& architecture_;
  InfinityCache cache_;
  std::int64_t slice_line_time_;
  std::int64_t memory_line_time_;
  std::int64_t link_line_time_;
  std::array<std::int64_t, MemoryHome::kSlices> slice_free_{};
  std::array<std::int64_t, MemoryHome::kSlices> memory_free_{};
  std::array<std::array<std::int64_t, 2>, MemoryHome::kIoDies> link_free_{};  // [from][direction]
  IoDieActivity activity_;
};

}  // namespace ww::sim::gpu::exec
