// Hints to the host's caches about the L2's tags. The tags of a large L2 do not stay in the host's
// caches, so the memory system asks for what an access will look at some accesses ahead. Nothing
// here changes what the model does.
#pragma once

#include <cstdint>

#include "fast/host/host_cache.hpp"
#include "machine/caches/l2_tags.hpp"

namespace ww::sim::gpu::exec {

class L2Prefetch {
 public:
  explicit L2Prefetch(L2Tags& tags) : tags_(tags) {}

  // Brings what an access to these lines, in a row on one channel, will look at: their
  // slots where those are known, else their sets. `first` is L2Tags::first_of(line).
  void bring_sets(std::uint32_t line, std::uint32_t first, unsigned lines) {
    if (const std::uint32_t place = tags_.side_by_side(line, lines, first);
        place != L2Tags::kNone) {
      bring_slot(place);
      return;
    }
    for (; lines != 0; --lines, first = tags_.first_of_next(++line, first)) {
      const std::uint32_t place = tags_.last_place(line, first);
      if (tags_.tag_[place] != line) {
        bring_set(first);  // of the whole run, most often
        return;
      }
      bring_slot(place);
    }
  }

 private:
  void bring_slot(std::uint32_t place) {
    prefetch_to_write(&tags_.stamp_[place]);
    prefetch_to_write(&tags_.ready_[place]);
  }
  // Stores ask for line after line: the set that was asked for last is on its way.
  void bring_set(std::uint32_t first) {
    const std::uint32_t begin = first & ~(tags_.columns_ - 1);
    if (begin == latest_set_) {
      return;
    }
    latest_set_ = begin;
    const std::size_t lines =
        (tags_.ways_ * tags_.columns_ * sizeof(std::uint32_t) + kHostLine - 1) / kHostLine;
    prefetch_to_write(&tags_.tag_[begin], lines);
    prefetch_to_write(&tags_.stamp_[begin], lines);
  }

  L2Tags& tags_;
  std::uint32_t latest_set_{L2Tags::kNone};  // first slot of the sets that were asked for last
};

}  // namespace ww::sim::gpu::exec
