// Hints to the host's caches about the L2's tags. The tags of a large L2 do not stay in the host's
// caches, so the memory system asks for what an access will look at some accesses ahead, in two
// steps: first the sets, then, once those are there, the slots that will be given up. Nothing here
// changes what the model does.
#pragma once

#include <cstdint>

#include "caches/l2_tags.hpp"
#include "host/host_cache.hpp"

namespace ww::sim::gpu::exec {

class L2Prefetch {
 public:
  explicit L2Prefetch(L2Tags& tags) : tags_(tags) {}

  // First step. Brings what an access to these lines, in a row on one channel, will look at: their
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

  // Second step. For those of the lines that will miss, chooses the slots that they will get,
  // brings what the eviction looks at, and keeps the choice for chosen_victim() and for the access
  // itself.
  void choose_victims(std::uint32_t line, unsigned lines);

  // The slot that was chosen for a line and is still the right one, else kNone.
  [[nodiscard]] std::uint32_t chosen_victim(std::uint32_t line) const {
    const L2Tags::Bank& bank = tags_.bank_of(line);
    const L2Tags::Row& row = tags_.row_of(bank, line);
    if (!tags_.is_current(bank, row, line)) {
      return L2Tags::kNone;
    }
    const std::uint32_t slot = row.slot[line % L2Tags::kColumns];
    return tags_.tag_[slot] == line ? L2Tags::kNone : slot;
  }
  // The line that a slot will write back when it is given to another, else kNone.
  [[nodiscard]] std::uint32_t written_back(std::uint32_t slot) const {
    return tags_.dirty_[slot] != 0 ? tags_.tag_[slot] : L2Tags::kNone;
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
