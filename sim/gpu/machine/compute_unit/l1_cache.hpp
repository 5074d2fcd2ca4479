// Tags of one CU's vector L1 or of its scalar cache, LRU. Data always comes from device memory; the
// tags decide what crosses to the L2 and when data is there. It writes through and keeps nothing on
// writes, or it is kept coherent: then it may own lines, whose stores stay in it until the line is
// written back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "fast/host/host_cache.hpp"

namespace ww::sim::gpu::exec {

class L1Cache {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // A line on its way; its arrival is known once the L2 has answered.
  static constexpr std::int64_t kPending = std::numeric_limits<std::int64_t>::max();

  L1Cache(std::int64_t bytes, int ways, int line_bytes)
      : ways_(static_cast<std::uint32_t>(ways)),
        sets_(static_cast<std::uint32_t>(bytes / line_bytes) / ways_),
        set_mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
        columns_(ways_ == 4 && set_mask_ >= kRow - 1 ? kRow : 1),
        tag_(sets_ * ways_, kNone),
        stamp_(sets_ * ways_, 0),
        ready_(sets_ * ways_, 0),
        asked_(sets_ * ways_, 0),
        fill_time_(sets_ * ways_, 0),
        state_(sets_ * ways_, kShared) {}

  void invalidate_all() {
    if (empty_) return;
    std::fill(tag_.begin(), tag_.end(), kNone);
    std::fill(stamp_.begin(), stamp_.end(), 0U);
    std::fill(state_.begin(), state_.end(), kShared);
    clock_ = 0;
    empty_ = true;
  }

  // A coherent L1 at a new launch, whose time begins at 0: what it holds stays; what was on its way
  // is lost.
  void keep_over_launch() {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (ready_[slot] == kPending) drop(slot);
      ready_[slot] = 0;
      fill_time_[slot] = 0;
      asked_[slot] = 0;
    }
    victim_ = kNone;
  }
  // Whether stores to the slot's line may stay in this L1.
  [[nodiscard]] bool owned(std::uint32_t slot) const { return state_[slot] != kShared; }
  void own(std::uint32_t slot) { state_[slot] = kOwned; }
  void store(std::uint32_t slot) { state_[slot] = kDirty; }
  // Another has the line, too, from now on: the slices have what was stored.
  void share(std::uint32_t line) {
    const std::uint32_t slot = holder(line, first_of(line));
    if (slot != kNone) state_[slot] = kShared;
  }
  // The line with stores that the last allocation threw out, or kNone. It is returned once.
  std::uint32_t take_victim() { return std::exchange(victim_, kNone); }

  // The slot that holds the line, or kNone. A hit makes it the most recent.
  std::uint32_t find(std::uint32_t line) {
    const std::uint32_t slot = holder(line, first_of(line));
    if (slot != kNone) stamp_[slot] = tick();
    return slot;
  }
  // Takes the least recent slot of the line's set for it; the data is pending, asked for by the
  // request that departs then.
  std::uint32_t allocate(std::uint32_t line, std::int64_t departure) {
    return take(least_recent(first_of(line)), line, departure);
  }
  // The one where it is here, else the other.
  struct Found {
    std::uint32_t slot{};
    bool hit{};
  };
  Found find_or_allocate(std::uint32_t line, std::int64_t departure) {
    const std::uint32_t first = first_of(line);
    const std::uint32_t slot = holder(line, first);
    if (slot == kNone) return {take(least_recent(first), line, departure), false};
    stamp_[slot] = tick();
    return {slot, true};
  }
  [[nodiscard]] bool empty() const { return empty_; }

  // --- rows: kRow lines, the first a multiple of kRow. What is done with a row is what would be
  // done with its lines, one after the other. ---
  static constexpr std::uint32_t kRow = 4;
  // Whether the sets of a row lie side by side, way by way; without that there are no rows.
  [[nodiscard]] bool has_rows() const { return columns_ == kRow; }
  struct FoundRow {
    bool any{};                 // some of its lines are here
    std::uint32_t slot{kNone};  // of the first, where all are, slot by slot
  };
  // Finds a row; this is no use of its lines.
  [[nodiscard]] FoundRow find_row(std::uint32_t line) const {
    const std::uint32_t first = first_of(line);
    const Words wanted = Words{0, 1, 2, 3} + line;
    Words here[kRow];
    Words any{};
    for (std::uint32_t way = 0; way < kRow; ++way) {
      here[way] = static_cast<Words>(words(&tag_[first + way * kRow]) == wanted);
      any |= here[way];
    }
    if (!is_any(any)) return {};
    for (std::uint32_t way = 0; way < kRow; ++way) {
      if (!is_any(~here[way])) return {true, first + way * kRow};
    }
    return {true, kNone};
  }
  // When the data of the last one of a row's slots is (or was) there; kPending while that of one is
  // not known.
  [[nodiscard]] std::int64_t row_ready(std::uint32_t slot) const {
    const std::int64_t* const ready = &ready_[slot];
    return std::max(std::max(ready[0], ready[1]), std::max(ready[2], ready[3]));
  }
  // The row's lines, which are in these slots, become the most recent.
  void use_row(std::uint32_t slot) {
    const Words stamps = next_stamps();
    std::memcpy(&stamp_[slot], &stamps, sizeof stamps);
  }
  // allocate() for each line of a row that is not here, departing one cycle after the other; never
  // in a coherent L1.
  void allocate_row(std::uint32_t line, std::int64_t departure, std::uint32_t* slots) {
    const std::uint32_t first = first_of(line);
    Words least = words(&stamp_[first]);
    Words place{};
    for (std::uint32_t way = 1; way < kRow; ++way) {
      const Words stamps = words(&stamp_[first + way * kRow]);
      const auto older = static_cast<Words>(stamps < least);
      least = (stamps & older) | (least & ~older);
      place = ((Words{} + way * kRow) & older) | (place & ~older);
    }
    place += Words{0, 1, 2, 3} + first;
    std::memcpy(slots, &place, sizeof place);
    const Words stamps = next_stamps();
    const Words tags = Words{0, 1, 2, 3} + line;
    const Words asked = Words{0, 1, 2, 3} + static_cast<std::uint32_t>(departure);
    empty_ = false;
    if (slots[3] - slots[0] == 3 && slots[2] - slots[1] == 1 && slots[1] - slots[0] == 1) {
      std::memcpy(&tag_[slots[0]], &tags, sizeof tags);
      std::memcpy(&stamp_[slots[0]], &stamps, sizeof stamps);
      std::memcpy(&asked_[slots[0]], &asked, sizeof asked);
      std::fill_n(&ready_[slots[0]], kRow, kPending);
      return;
    }
    for (std::uint32_t i = 0; i < kRow; ++i) {
      tag_[slots[i]] = tags[i];
      stamp_[slots[i]] = stamps[i];
      asked_[slots[i]] = asked[i];
      ready_[slots[i]] = kPending;
    }
  }
  void invalidate(std::uint32_t line) {
    if (empty_) return;
    const std::uint32_t slot = holder(line, first_of(line));
    if (slot == kNone) return;
    drop(slot);
  }
  // When the data of a slot is (or was) there; kPending while that is not known.
  [[nodiscard]] std::int64_t ready(std::uint32_t slot) const { return ready_[slot]; }
  // The data of a line that the request of this departure asked for through this slot comes at
  // `time`. The slot may hold another line by now, or the same one anew because a store came
  // between: what was asked for before the store must not stand for what comes behind it. Requests
  // that joined the old one are behind it in the queue and still ask for its time.
  void filled(std::uint32_t slot, std::uint32_t line, std::int64_t departure, std::int64_t time) {
    fill_time_[slot] = time;
    if (tag_[slot] == line && asked_[slot] == static_cast<std::uint32_t>(departure))
      ready_[slot] = time;
  }
  // A line that another one's request brought is there from `time` on.
  void put(std::uint32_t line, std::int64_t time) {
    const std::uint32_t first = first_of(line);
    if (holder(line, first) == kNone) ready_[take(least_recent(first), line, time)] = time;
  }
  // Fills the lines of a row, each of which departed a cycle after the one before it.
  void row_filled(const std::uint32_t* slots, std::uint32_t line, std::int64_t departure,
                  const std::int64_t* times) {
    const std::uint32_t slot = slots[0];
    const Words places = Words{0, 1, 2, 3} + slot;
    const Words tags = Words{0, 1, 2, 3} + line;
    const Words asked = Words{0, 1, 2, 3} + static_cast<std::uint32_t>(departure);
    if (!is_any(words(slots) ^ places)) {
      std::memcpy(&fill_time_[slot], times, kRow * sizeof *times);
      if (!is_any((words(&tag_[slot]) ^ tags) | (words(&asked_[slot]) ^ asked))) {
        std::memcpy(&ready_[slot], times, kRow * sizeof *times);
        return;
      }
    }
    for (std::uint32_t i = 0; i < kRow; ++i) filled(slots[i], line + i, departure + i, times[i]);
  }
  [[nodiscard]] bool holds(std::uint32_t slot, std::uint32_t line) const {
    return tag_[slot] == line;
  }
  [[nodiscard]] std::uint32_t slots() const { return sets_ * ways_; }
  [[nodiscard]] std::int64_t fill_time(std::uint32_t slot) const { return fill_time_[slot]; }

 private:
  static constexpr std::uint8_t kShared = 0;
  static constexpr std::uint8_t kOwned = 1;
  static constexpr std::uint8_t kDirty = 2;  // owned, with stores that the slices do not have

  void drop(std::uint32_t slot) {
    tag_[slot] = kNone;
    stamp_[slot] = 0;
    state_[slot] = kShared;
  }
  // The next stamp. Stamps that would run out begin anew, the sets' slots in the same order.
  std::uint32_t tick() {
    if (clock_ == std::numeric_limits<std::uint32_t>::max()) [[unlikely]]
      renumber();
    return ++clock_;
  }
  void renumber() {
    std::vector<std::uint32_t> order(ways_);
    for (std::uint32_t set = 0; set < sets_; ++set) {
      const std::uint32_t first = first_of_set(set);
      for (std::uint32_t way = 0; way < ways_; ++way) order[way] = first + way * columns_;
      std::sort(order.begin(), order.end(),
                [this](std::uint32_t a, std::uint32_t b) { return stamp_[a] < stamp_[b]; });
      for (std::uint32_t age = 0; age < ways_; ++age) stamp_[order[age]] = age + 1;
    }
    clock_ = ways_;
  }
  // The slot of the set from `first` on that holds the line, else kNone.
  [[nodiscard]] std::uint32_t holder(std::uint32_t line, std::uint32_t first) const {
    const std::uint32_t* const tags = &tag_[first];
    if (columns_ == kRow) {  // most often nothing is found: one jump
      const unsigned here = (tags[0] == line ? 1U : 0U) | (tags[kRow] == line ? 1U << kRow : 0U) |
                            (tags[2 * kRow] == line ? 1U << 2 * kRow : 0U) |
                            (tags[3 * kRow] == line ? 1U << 3 * kRow : 0U);
      return here != 0 ? first + static_cast<std::uint32_t>(std::countr_zero(here)) : kNone;
    }
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (tags[way] == line) return first + way;
    }
    return kNone;
  }
  // The host can predict which way that is in no stream: no jumps.
  [[nodiscard]] std::uint32_t least_recent(std::uint32_t first) const {
    const std::uint32_t* const stamps = &stamp_[first];
    std::uint64_t least = std::uint64_t{stamps[0]} << 32;
    for (std::uint32_t way = 1; way < ways_; ++way) {
      const std::uint32_t place = way * columns_;
      least = std::min(least, std::uint64_t{stamps[place]} << 32 | place);
    }
    return first + static_cast<std::uint32_t>(least);
  }
  std::uint32_t take(std::uint32_t slot, std::uint32_t line, std::int64_t departure) {
    if (state_[slot] != kShared) [[unlikely]] {
      if (state_[slot] == kDirty) victim_ = tag_[slot];
      state_[slot] = kShared;
    }
    tag_[slot] = line;
    empty_ = false;
    stamp_[slot] = tick();
    ready_[slot] = kPending;
    asked_[slot] = static_cast<std::uint32_t>(departure);
    return slot;
  }
  // First slot of the line's set.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t line) const {
    return first_of_set(set_mask_ != 0 ? line & set_mask_ : line % sets_);
  }
  [[nodiscard]] std::uint32_t first_of_set(std::uint32_t set) const {
    const std::uint32_t column = set & (columns_ - 1);
    return (set - column) * ways_ + column;
  }

  // A row's numbers, one for each line, in one of the host's registers.
  using Words = std::uint32_t __attribute__((vector_size(kRow * sizeof(std::uint32_t))));
  static Words words(const std::uint32_t* from) {
    Words row;
    std::memcpy(&row, from, sizeof row);
    return row;
  }
  static bool is_any(const Words& row) {
    std::uint64_t halves[2];
    std::memcpy(halves, &row, sizeof row);
    return (halves[0] | halves[1]) != 0;
  }
  // Ticks as tick() does, once for each line of a row.
  Words next_stamps() {
    if (clock_ > std::numeric_limits<std::uint32_t>::max() - kRow) [[unlikely]]
      renumber();
    const Words stamps = Words{1, 2, 3, 4} + clock_;
    clock_ += kRow;
    return stamps;
  }

  std::uint32_t ways_;
  std::uint32_t sets_;
  std::uint32_t set_mask_;  // sets - 1 where that is a power of two, else 0
  std::uint32_t columns_;   // sets side by side: kRow, or 1 where there are no rows
  bool empty_{true};        // nothing was put in since everything was thrown out
  std::uint32_t clock_{};
  // Arrays by slot, [set / columns][way][column].
  LineVector<std::uint32_t> tag_;
  LineVector<std::uint32_t> stamp_;  // of the last use; 0: holds nothing
  LineVector<std::int64_t> ready_;
  // Departure of the request that fills it, as much of it as distinguishes those on their way.
  LineVector<std::uint32_t> asked_;
  LineVector<std::int64_t> fill_time_;
  LineVector<std::uint8_t> state_;
  std::uint32_t victim_{kNone};
};

}  // namespace ww::sim::gpu::exec
