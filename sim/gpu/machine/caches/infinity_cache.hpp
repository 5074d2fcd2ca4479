// The Infinity Cache: a cache on the memory's side, one slice before each memory channel. Tags
// only, first in, first out: a hit changes nothing.
//
// The order of replacement is not published. Ways and bytes of MI300 are (AMD CDNA 3 white paper:
// 256 MB, 128 slices of 2 MB, 16 ways).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fast/host/host_arena.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::sim::gpu::exec {

class InfinityCache {
 public:
  // `bytes` of all slices. At least one set in each.
  InfinityCache(std::int64_t bytes, int ways, int slices)
      : ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes) / (kLine * static_cast<std::size_t>(slices)) / ways_),
        tags_(arena_.zeros<std::uint32_t>(sets_ * static_cast<std::size_t>(slices) * ways_)),
        dirty_(arena_.zeros<std::uint8_t>(tags_.size())),
        next_(arena_.zeros<std::uint8_t>(sets_ * static_cast<std::size_t>(slices))),
        hash_of_set_(arena_.zeros<std::uint64_t>(next_.size())),
        is_stale_(arena_.zeros<std::uint8_t>(next_.size())) {}

  struct Access {
    bool hit{};
    bool writeback{};  // a dirty line left for memory
  };
  // `line`: number of 64 bytes from the start of device memory; `in_slice`: its number among the
  // lines of its slice, as far as that chooses a set.
  Access read(std::uint32_t line, std::size_t slice, std::size_t in_slice) {
    return use(line, slice, in_slice, false);
  }
  // The slice holds the line from here on, whole or in part.
  Access write(std::uint32_t line, std::size_t slice, std::size_t in_slice) {
    return use(line, slice, in_slice, true);
  }

  // Equal states, which behave equally, have equal hashes: lines count in the order in which they
  // will be given up, whatever their ways.
  [[nodiscard]] std::uint64_t hash() {
    for (const std::uint32_t set : stale_) {
      std::uint64_t hash = set;
      for (std::size_t age = 0; age < ways_; ++age) {
        const std::size_t place = set * ways_ + (next_[set] + age) % ways_;
        hash = SplitMix(hash ^ (tags_[place] | std::uint64_t{dirty_[place]} << 32U)).next();
      }
      hash_ += hash - std::exchange(hash_of_set_[set], hash);
      is_stale_[set] = 0;
    }
    stale_.clear();
    return hash_;
  }

 private:
  static constexpr std::size_t kLine = 64;

  Access use(std::uint32_t line, std::size_t slice, std::size_t in_slice, bool dirty) {
    const std::size_t set = slice * sets_ + in_slice % sets_;
    std::uint32_t* const tags = &tags_[set * ways_];
    std::uint8_t* const dirts = &dirty_[set * ways_];
    const std::uint32_t tag = line + 1;  // 0: nothing
    for (std::size_t way = 0; way < ways_; ++way) {
      if (tags[way] != tag) continue;
      if (dirty && dirts[way] == 0) {
        dirts[way] = 1;
        note_change(set);
      }
      return {.hit = true};
    }
    note_change(set);
    const std::size_t way = next_[set];
    next_[set] = static_cast<std::uint8_t>(way + 1 < ways_ ? way + 1 : 0);
    const Access access{.writeback = dirts[way] != 0};
    tags[way] = tag;
    dirts[way] = dirty ? 1 : 0;
    return access;
  }

  void note_change(std::size_t set) {
    if (is_stale_[set] != 0) return;
    is_stale_[set] = 1;
    stale_.push_back(static_cast<std::uint32_t>(set));
  }

  HostArena arena_;  // 20 MB of MI300's: few processes use all of it
  std::size_t ways_;
  std::size_t sets_;  // of a slice
  std::span<std::uint32_t> tags_;
  std::span<std::uint8_t> dirty_;
  std::span<std::uint8_t> next_;  // way of each set that is given up next
  std::uint64_t hash_{};          // sum over sets, but for changes of stale ones
  std::span<std::uint64_t> hash_of_set_;
  std::span<std::uint8_t> is_stale_;
  std::vector<std::uint32_t> stale_;
};

}  // namespace ww::sim::gpu::exec
