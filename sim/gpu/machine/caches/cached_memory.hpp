// Models the far side of the L2 on a chip of one die with an Infinity Cache: on the way of each L2
// channel to memory a slice of it, and the memory channel behind. On RDNA 3 both stand on a memory
// die (MCD), which the L2 channel reaches over a link.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/caches/behind_l2.hpp"
#include "machine/caches/infinity_cache.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/channel_map.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

class CachedMemory final : public BehindL2 {
 public:
  explicit CachedMemory(const Architecture& architecture);

  void begin_launch();
  std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) override;
  void write(int die, std::uint32_t line, std::int64_t cycle) override;
  void wrote(int, std::uint32_t, std::int64_t) override {}
  // Returns a hash of the cache's content.
  [[nodiscard]] std::uint64_t hash() { return cache_.hash(); }
  // Since begin_launch(), as of die 0 and home 0.
  [[nodiscard]] const IoDieActivity& activity() const { return activity_; }

 private:
  struct Place {
    std::uint32_t slice{};
    std::size_t line{};  // number of the line among those of the slice
  };
  [[nodiscard]] Place place_of(std::uint32_t line) const;

  const Architecture& architecture_;
  ChannelLookup channels_;
  InfinityCache cache_;
  std::uint32_t lines_of_block_;
  std::int64_t slice_line_time_;
  std::int64_t memory_line_time_;
  std::vector<std::int64_t> slice_free_, memory_free_;  // by slice
  IoDieActivity activity_;
};

}  // namespace ww::sim::gpu::exec
