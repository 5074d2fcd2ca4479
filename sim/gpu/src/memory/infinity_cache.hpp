// The Infinity Cache: a cache on the memory's side, one slice before each memory channel. Tags
// only, first in, first out: a hit changes nothing.
//
// The order of replacement is not published. Ways and bytes are (AMD CDNA 3 white paper: 256 MB,
// 128 slices of 2 MB, 16 ways).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu::exec {

class InfinityCache {
 public:
  // `bytes` of all slices. A power of two of sets, at least one, in each.
  InfinityCache(std::int64_t bytes, int ways)
      : ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes) / (kLine * MemoryHome::kSlices) / ways_),
        tags_(sets_ * MemoryHome::kSlices * ways_),
        dirty_(tags_.size()),
        next_(sets_ * MemoryHome::kSlices) {}

  struct Access {
    bool hit{};
    bool writeback{};  // a dirty line left for memory
  };
  // `line`: number of 64 bytes from the start of device memory; `slice` is its home's.
  Access read(std::uint32_t line, int slice) { return use(line, slice, false); }
  // The slice holds the line from here on, whole or in part.
  Access write(std::uint32_t line, int slice) { return use(line, slice, true); }

 private:
  static constexpr std::size_t kLine = 64;

  Access use(std::uint32_t line, int slice, bool dirty) {
    // Four lines of a block of 256 B, and 128 blocks to each slice's next.
    const std::size_t in_slice = std::size_t{line >> 9U} << 2U | (line & 3U);
    const std::size_t set = static_cast<std::size_t>(slice) * sets_ + in_slice % sets_;
    std::uint32_t* const tags = &tags_[set * ways_];
    std::uint8_t* const dirts = &dirty_[set * ways_];
    const std::uint32_t tag = line + 1;  // 0: nothing
    for (std::size_t way = 0; way < ways_; ++way) {
      if (tags[way] != tag) continue;
      if (dirty) dirts[way] = 1;
      return {.hit = true};
    }
    const std::size_t way = next_[set];
    next_[set] = static_cast<std::uint8_t>(way + 1 < ways_ ? way + 1 : 0);
    const Access access{.writeback = dirts[way] != 0};
    tags[way] = tag;
    dirts[way] = dirty ? 1 : 0;
    return access;
  }

  std::size_t ways_;
  std::size_t sets_;  // of a slice
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint8_t> dirty_;
  std::vector<std::uint8_t> next_;  // way of each set that is given up next
};

}  // namespace ww::sim::gpu::exec
