// The L2: one write-back, write-allocate, LRU cache for each channel, tags and dirty bytes only.
// Contents outlive launches. A write that misses allocates without a fill (dirty bytes are known by
// mask); a read that finds such a partial line fills it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "exec/host_cache.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// The tags of the whole L2 in least-recently-used order: equal states behave alike.
struct L2Snapshot {
  struct Line {
    std::uint32_t tag{};
    bool partial{};
    std::uint64_t dirty{};
  };
  std::vector<Line> lines;  // [channel][set][age]
  std::uint64_t hash{};
};

class L2Cache {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit L2Cache(const Architecture& architecture);

  struct Access {
    bool hit{};
    bool fill{};             // a line has to come from memory
    bool writeback{};        // a dirty line has to go there
    std::uint32_t victim{};  // line number of the written-back line
    std::uint64_t victim_dirty{};
    std::int64_t* ready{};  // when the line's data is there [cycles in this launch]
  };
  // `line` is the line number from the start of device memory; `written` the bytes a write touches.
  Access read(std::uint32_t line) {
    const std::uint32_t place = hint_[line % kHints];
    if (tag_[place] == line && ready_[place] != kPartial) {  // the common case, without a search
      used(place);
      return {.hit = true, .ready = &ready_[place]};
    }
    return read_slowly(line);
  }
  // Reads lines in a row, the first at `cycle` and each `apart` later, as long as they are found
  // without a search; returns how many, and when each one's data leaves.
  unsigned hits(std::uint32_t line, unsigned lines, std::int64_t* leaves, std::int64_t cycle,
                std::int64_t apart) {
    if (clock_ > std::numeric_limits<std::uint32_t>::max() - lines) renumber();
    const std::uint32_t* const hint = hint_.data();
    const std::uint32_t* const tag = tag_.data();
    const std::int64_t* const ready = ready_.data();
    std::uint32_t* const stamp = stamp_.data();
    unsigned found = 0;
    for (; found < lines; ++found, ++line, cycle += apart) {
      const std::uint32_t place = hint[line % kHints];
      if (tag[place] != line || ready[place] == kPartial) break;
      stamp[place] = ++clock_;
      leaves[found] = std::max(ready[place], cycle);
    }
    return found;
  }
  Access write(std::uint32_t line, std::uint64_t written);

  // Brings to the host's caches what an access to these lines, in a row on one channel, will look
  // at: their slots where those are known, else their sets.
  void look_ahead(std::uint32_t line, unsigned lines) const {
    for (; lines != 0; --lines, ++line) {
      const std::uint32_t place = hint_[line % kHints];
      if (tag_[place] == line) {
        prefetch_to_write(&stamp_[place]);
        prefetch_to_write(&ready_[place]);
      } else {
        const std::uint32_t first = set_of(line);
        prefetch_to_write(&tag_[first]);
        prefetch_to_write(&stamp_[first]);
      }
    }
  }
  // The next step, once the sets are there: the slot that a line will be given that is not here,
  // else kNone.
  [[nodiscard]] std::uint32_t look_for_victim(std::uint32_t line) const {
    if (tag_[hint_[line % kHints]] == line) return kNone;
    const Place place = find(line);
    prefetch_to_write(&ready_[place.slot]);
    prefetch_to_write(&dirty_[place.slot]);
    return place.found ? kNone : place.slot;
  }
  // The line that a slot will write back when it is given to another, else kNone.
  [[nodiscard]] std::uint32_t to_write_back(std::uint32_t slot) const {
    return dirty_[slot] != 0 ? tag_[slot] : kNone;
  }
  [[nodiscard]] std::uint32_t channel(std::uint32_t line) const {
    const std::uint32_t block = line >> interleave_shift_;
    return channel_mask_ != 0 ? block & channel_mask_ : block % channels_;
  }
  // Number of the run of lines that one channel holds in a row.
  [[nodiscard]] std::uint32_t block(std::uint32_t line) const { return line >> interleave_shift_; }

  void begin_launch();  // forgets arrival times
  [[nodiscard]] std::shared_ptr<const L2Snapshot> snapshot() const;
  void restore(const L2Snapshot& snapshot);

 private:
  static constexpr std::uint32_t kHints = 1U << 15;
  // Instead of an arrival time: some bytes of the line were never fetched nor written.
  static constexpr std::int64_t kPartial = -1;
  Access read_slowly(std::uint32_t line);
  // The slot is now its set's most recent.
  void used(std::uint32_t place) {
    if (clock_ == std::numeric_limits<std::uint32_t>::max()) renumber();
    stamp_[place] = ++clock_;
  }
  void renumber();  // stamps from 1 on, in the same order
  // First slot of the line's set.
  [[nodiscard]] std::uint32_t set_of(std::uint32_t line) const {
    const std::uint32_t in_block = line & ((1U << interleave_shift_) - 1);
    const std::uint32_t of_channel =
        channel_mask_ != 0 ? block(line) >> channel_shift_ : block(line) / channels_;
    const std::uint32_t in_channel = of_channel << interleave_shift_ | in_block;
    const std::uint32_t set = set_mask_ != 0 ? in_channel & set_mask_ : in_channel % sets_;
    return (channel(line) * sets_ + set) * ways_;
  }
  // The slot that holds the line, and, where none does, the one to be given up for it.
  struct Place {
    std::uint32_t slot{};
    bool found{};
  };
  [[nodiscard]] Place find(std::uint32_t line) const;
  void evict(std::uint32_t line, std::uint32_t place, Access& access);

  std::uint32_t channels_;
  std::uint32_t channel_mask_;   // channels - 1 where that is a power of two, else 0
  std::uint32_t channel_shift_;  // of that power of two
  std::uint32_t interleave_shift_;
  std::uint32_t ways_;
  std::uint32_t sets_;      // of one channel
  std::uint32_t set_mask_;  // sets - 1 where that is a power of two, else 0
  std::uint32_t clock_{1};
  // By slot, [channel][set][way]: each access touches few of the host's cache lines.
  std::vector<std::uint32_t> tag_;    // kNone: nothing
  std::vector<std::uint32_t> stamp_;  // of the last use; 0: never
  std::vector<std::int64_t> ready_;   // when the data is there [cycles in this launch], or kPartial
  std::vector<std::uint64_t> dirty_;  // bytes that memory does not have, by bit
  std::vector<std::uint32_t> hint_;   // where a line was last seen
};

}  // namespace ww::sim::gpu::exec
