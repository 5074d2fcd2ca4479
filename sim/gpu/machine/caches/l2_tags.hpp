// The model of the L2: one write-back, write-allocate, LRU cache for each channel, tags and dirty
// bytes only. Contents outlive launches. A write that misses allocates without a fill (dirty bytes
// are known by mask); a read that finds such a partial line fills it.
//
// The model consists of read(), write() and the snapshot. The rest of this class keeps them fast on
// the host: sets of lines in a row lie side by side, the way in which a line was last found is
// remembered, and bits say whether memory lacks a line's bytes. None of it changes an answer.
// L2Prefetch (l2_prefetch.hpp) brings what an access will look at to the host's caches.
//
// Between begin_launch() and the next call that is not about one line, several threads may use it
// if each has channels of its own and channels_are_apart().
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fast/host/host_arena.hpp"
#include "fast/host/host_cache.hpp"
#include "machine/caches/line_holders.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// The tags of the whole L2 in least-recently-used order: equal states behave equally.
struct L2Snapshot {
  // A line of which memory does not have some bytes, or the L2 itself: few are.
  struct Unclean {
    std::uint32_t place{};  // in `tags`
    bool partial{};
    std::uint64_t dirty{};
    bool operator==(const Unclean&) const = default;
  };
  std::vector<std::uint32_t> tags;  // [channel][set][age], the most recent last
  std::vector<Unclean> unclean;     // by place
  std::uint64_t hash{};
  [[nodiscard]] std::size_t bytes() const {
    return tags.size() * sizeof tags[0] + unclean.size() * sizeof(Unclean);
  }
};

// A launch all of whose accesses hit, or one that brings every line it uses exactly once, does the
// same from every state of the tags that allows it: no order of earlier uses matters.
enum class L2Outcome { hits, misses };

// The tags after such a launch, given them before it and after an earlier run of the same accesses.
// `used`: by [channel][set], how many lines these use; they are the set's most recent ones in
// `after`. Null where the outcome may be another one: for hits, where one of the lines is absent
// from `before` or differs there; for misses, where one is present, or a dirty line would have to
// leave.
[[nodiscard]] std::shared_ptr<const L2Snapshot> tags_after(L2Outcome outcome,
                                                           const L2Snapshot& before,
                                                           const L2Snapshot& after,
                                                           std::span<const std::uint8_t> used);

class L2Tags {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // `arena` keeps the tags.
  L2Tags(const Architecture& architecture, HostArena& arena);
  L2Tags(const L2Tags&) = delete;
  L2Tags& operator=(const L2Tags&) = delete;
  // Sets the filter that dies share, which outlives this and learns of each line that comes and
  // goes. To be called before any line has come; restore() must not be called afterwards.
  void set_snoop_filter(LineHolders* holders, LineHolders::Dies die) {
    holders_ = holders;
    die_ = die;
  }

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
    Bank& bank = bank_of(line);
    const std::uint32_t first = first_of(line);
    const std::uint32_t place = last_place(line, first);
    if (tag_[place] == line && ready_[place] != kPartial) {  // the common case, without a search
      mark_used(bank, place);
      return {.hit = true, .ready = &ready_[place]};
    }
    return read_at(bank, line, first, find(line, first));
  }
  // Does what hits() does for a whole row of lines, if they fill one and are there side by side;
  // returns false, having read none, otherwise.
  bool hits_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel,
                std::int64_t* leaves, std::int64_t cycle, std::int64_t apart) {
    const std::uint32_t place = side_by_side(line, kColumns, first);
    if (place == kNone) return false;
    Bank& bank = banks_[channel];
    if (bank.clock > std::numeric_limits<std::uint32_t>::max() - kColumns) renumber(bank);
    use_chunk(bank, place);
    const std::int64_t* const ready = &ready_[place];
    if ((ready[0] | ready[1] | ready[2] | ready[3]) < 0) return false;  // one is partial
    stamp_row(bank, place);
    for (std::uint32_t i = 0; i < kColumns; ++i, cycle += apart) {
      leaves[i] = std::max(ready[i], cycle);
    }
    return true;
  }
  // Reads lines in a row, the first at `cycle` and each `apart` later, as long as they are found
  // without a search; returns how many, and when each one's data leaves. `first` is first_of(line),
  // `channel` the lines' channel.
  unsigned hits(std::uint32_t line, std::uint32_t first, std::uint32_t channel, unsigned lines,
                std::int64_t* leaves, std::int64_t cycle, std::int64_t apart) {
    if (lines == kColumns && hits_row(line, first, channel, leaves, cycle, apart)) return kColumns;
    Bank& bank = banks_[channel];
    if (bank.clock > std::numeric_limits<std::uint32_t>::max() - lines) renumber(bank);
    unsigned found = 0;
    for (; found < lines; ++found, first = first_of_next(++line, first), cycle += apart) {
      const std::uint32_t place = last_place(line, first);
      if (tag_[place] != line || ready_[place] == kPartial) break;
      use_chunk(bank, place);
      stamp_[place] = ++bank.clock;
      leaves[found] = std::max(ready_[place], cycle);
    }
    return found;
  }
  // Describes the lines that four new ones, which fill a row, have replaced.
  struct ReplacedRow {
    static constexpr unsigned kLines = 4;
    std::uint32_t victim[kLines]{};  // line numbers
    std::uint64_t dirty[kLines]{};   // by victim: its bytes that have to go to memory, by bit
    std::int64_t* ready{};           // when the data of each of the four is there
  };
  // Reads up to four lines as hits() would, without looking for hits first. If they fill a row,
  // none of them is here and they get places side by side, it returns true and says what they
  // replaced; else `accesses` has each line's. With null for `replaced` that is always so.
  bool read_run(std::uint32_t line, std::uint32_t first, std::uint32_t channel, unsigned lines,
                Access* accesses, ReplacedRow* replaced);
  // Reads lines that fill a row, or writes all of their bytes, if none of them is here and they get
  // places side by side; else false, and nothing has changed. `first` and `channel` as for hits().
  bool read_new_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel, unsigned lines,
                    ReplacedRow& replaced) {
    return bring_new_row(line, first, channel, lines, false, replaced);
  }
  bool write_new_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel, unsigned lines,
                     ReplacedRow& replaced) {
    return bring_new_row(line, first, channel, lines, true, replaced);
  }
  // Writes all of their bytes if they are here side by side.
  bool overwrite_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel,
                     unsigned lines);
  Access write(std::uint32_t line, std::uint64_t written);

  [[nodiscard]] std::uint32_t channel(std::uint32_t line) const {
    const std::uint32_t block = line >> interleave_shift_;
    if (map_ != nullptr) [[unlikely]]
      return map_->channel(block);
    return channel_mask_ != 0 ? block & channel_mask_ : block % channels_;
  }
  // The line's set, and where its ways lie: sets of lines in a row lie side by side, way by way, so
  // that a run of lines, which most often has the same way in each, is found in one of the host's
  // lines.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t line) const {
    return first_of(line, channel(line));
  }
  // Given the line's channel.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t line, std::uint32_t channel) const {
    const std::uint32_t in_block = line & ((1U << interleave_shift_) - 1);
    const std::uint32_t of_channel =
        channel_mask_ != 0 ? block(line) >> channel_shift_ : block(line) / channels_;
    const std::uint32_t in_channel = of_channel << interleave_shift_ | in_block;
    std::uint32_t in_set = set_mask_ != 0 ? in_channel & set_mask_ : in_channel % sets_;
    if (hash_mask_ != 0) [[unlikely]]
      in_set ^= (in_channel >> set_bits_ << hash_shift_) & hash_mask_;
    return first_of_set(channel * sets_ + in_set);
  }
  // Number of the run of lines that one channel holds in a row.
  [[nodiscard]] std::uint32_t block(std::uint32_t line) const { return line >> interleave_shift_; }

  // Whether no chunk of slots belongs to two channels.
  [[nodiscard]] bool channels_are_apart() const { return std::size_t{sets_} * ways_ % kChunk == 0; }

  // Whether the line has a place; not a use of it.
  [[nodiscard]] bool holds(std::uint32_t line) const { return find(line, first_of(line)).found; }
  // Makes a line clean; returns the bytes that were dirty, none where it has no place.
  std::uint64_t clean_line(std::uint32_t line) {
    Bank& bank = bank_of(line);
    const Place place = find(line, first_of(line));
    if (!place.found) return 0;
    use_chunk(bank, place.slot);
    if (holders_ != nullptr) holders_->cleaned(line, die_);
    const std::uint64_t dirty = dirty_bytes(place.slot);
    set_dirty(place.slot, 0);
    return dirty;
  }
  // Forgets a line that has a place; returns its dirty bytes.
  std::uint64_t drop(std::uint32_t line);
  // Calls written(line, dirty bytes) for every dirty line, by place; all are clean then.
  template <class F>
  void clean(F&& written) {
    for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (chunks_[chunk].used_in < cleaned_in_) continue;
      for (std::uint64_t set = chunks_[chunk].dirty; set != 0; set &= set - 1) {
        const std::uint32_t place =
            chunk * kChunk + static_cast<std::uint32_t>(std::countr_zero(set));
        use_chunk(banks_[place / (sets_ * ways_)], place);
        if (holders_ != nullptr) holders_->cleaned(tag_[place], die_);
        written(tag_[place], dirty_bytes(place));
        set_dirty(place, 0);
      }
    }
    cleaned_in_ = period_;
  }

  void begin_launch();  // forgets arrival times
  // Whether snapshot_at_begin() will be asked for after the next launch.
  void keep_begin(bool keep);
  // How many lines of each set, [channel][set], were used since begin_launch(); empty where that is
  // not known.
  [[nodiscard]] std::vector<std::uint8_t> lines_used() const;
  // Takes from the last one what was not used since.
  [[nodiscard]] std::shared_ptr<const L2Snapshot> snapshot();
  // Returns what snapshot() would have returned when the last launch began.
  [[nodiscard]] std::shared_ptr<const L2Snapshot> snapshot_at_begin();
  void restore(const L2Snapshot& snapshot);

 private:
  friend class L2Prefetch;  // looks at the arrays, and searches ahead of an access
  static constexpr std::uint32_t kColumns = 4;
  static constexpr std::uint64_t kRow = (1U << kColumns) - 1;  // its slots, by bit
  static constexpr std::uint64_t kWhole = ~std::uint64_t{0};   // bytes of a line
  static constexpr std::uint32_t kSearchWords = 64;            // of four sets with 16 ways each
  // Instead of an arrival time: some bytes of the line were never fetched nor written.
  static constexpr std::int64_t kPartial = -1;
  // Slots that are brought into a launch together, when one of them is first used in it: most
  // launches of a program with many use few. Arrival times of other slots are an earlier launch's.
  static constexpr std::uint32_t kChunk = 64;
  struct Chunk {
    std::uint64_t used_in{};  // the period that used it last
    // Slots by bit: of whose line memory lacks bytes, and of whose line it lacks all.
    std::uint64_t dirty{};
    std::uint64_t wholly_dirty{};

    [[nodiscard]] std::uint64_t partly_dirty() const { return dirty & ~wholly_dirty; }
    void set_dirty(std::uint64_t slots, bool some, bool all) {
      dirty = some ? dirty | slots : dirty & ~slots;
      wholly_dirty = all ? wholly_dirty | slots : wholly_dirty & ~slots;
    }
  };
  struct ChunkAtBegin {
    Chunk chunk;
    std::uint32_t first{};  // slot
    std::array<std::uint32_t, kChunk> tag{};
    std::array<std::uint32_t, kChunk> stamp{};
    std::array<std::int64_t, kChunk> ready{};
    std::array<std::uint64_t, kChunk> partly_dirty{};
  };
  struct Bank;
  [[nodiscard]] Bank& bank_of(std::uint32_t line) { return banks_[channel(line)]; }
  [[nodiscard]] const Bank& bank_of(std::uint32_t line) const { return banks_[channel(line)]; }
  // Comes before every change of a slot, and before its arrival time is looked at.
  void use_chunk(Bank& bank, std::uint32_t place) {
    if (chunks_[place / kChunk].used_in != period_) [[unlikely]]
      begin_chunk(bank, place / kChunk);
  }
  void begin_chunk(Bank& bank, std::uint32_t chunk);
  // Bytes of the slot's line that memory does not have, by bit.
  [[nodiscard]] std::uint64_t dirty_bytes(std::uint32_t place) const {
    const Chunk& chunk = chunks_[place / kChunk];
    if ((chunk.dirty >> place % kChunk & 1U) == 0) return 0;
    return (chunk.wholly_dirty >> place % kChunk & 1U) != 0 ? kWhole : partly_dirty_[place];
  }
  void set_dirty(std::uint32_t place, std::uint64_t bytes) {
    const bool all = bytes == kWhole;
    chunks_[place / kChunk].set_dirty(std::uint64_t{1} << place % kChunk, bytes != 0, all);
    if (bytes != 0 && !all) partly_dirty_[place] = bytes;
  }
  // Marks all bytes of a row that lies side by side from `place` on as dirty, or none.
  void set_row_dirty(std::uint32_t place, bool dirty) {
    chunks_[place / kChunk].set_dirty(kRow << place % kChunk, dirty, dirty);
  }
  [[nodiscard]] std::size_t slots_of(std::uint32_t chunk) const {
    return std::min<std::size_t>(kChunk, tag_.size() - std::size_t{chunk} * kChunk);
  }
  // Exchanges the chunks that the launch used with their contents from before it.
  void trade_chunks_at_begin();
  // Whether a way of the set, whose first slot this is, was used in that period or later.
  [[nodiscard]] bool used_since(std::uint32_t first, std::uint64_t period) const {
    const std::uint32_t last = slot(first, ways_ - 1) / kChunk;
    for (std::uint32_t chunk = first / kChunk; chunk <= last; ++chunk) {
      if (chunks_[chunk].used_in >= period) return true;
    }
    return false;
  }
  // The slot is now its set's most recent.
  void mark_used(Bank& bank, std::uint32_t place) {
    use_chunk(bank, place);
    if (bank.clock == std::numeric_limits<std::uint32_t>::max()) renumber(bank);
    stamp_[place] = ++bank.clock;
  }
  // Stamps four slots side by side, while the clock has room for them.
  void stamp_row(Bank& bank, std::uint32_t place) {
    const std::uint64_t stamps[] = {two_words(bank.clock + 1), two_words(bank.clock + 3)};
    std::memcpy(&stamp_[place], stamps, sizeof stamps);
    bank.clock += kColumns;
  }
  // Copies the stamps of a set, by way; returns its first slot.
  std::uint32_t stamps_of(std::uint32_t set, std::uint32_t* stamps) const;
  void renumber(Bank& bank);  // its stamps from 1 on, in the same order
  [[nodiscard]] std::uint32_t first_of_set(std::uint32_t set) const {
    const std::uint32_t column = set & (columns_ - 1);
    return (set - column) * ways_ + column;
  }
  // Given the one of the line before it, in the same block.
  [[nodiscard]] std::uint32_t first_of_next(std::uint32_t line, std::uint32_t first) const {
    return columns_ == kColumns && line % kColumns != 0 ? first + 1 : first_of(line);
  }
  [[nodiscard]] std::uint32_t slot(std::uint32_t first, std::uint32_t way) const {
    return first + way * columns_;
  }
  [[nodiscard]] bool fills_row(std::uint32_t line, unsigned lines) const {
    return lines == kColumns && columns_ == kColumns && line % kColumns == 0;
  }
  // Where a run begins that fills a row of columns and lies side by side as far as is known; else
  // kNone.
  [[nodiscard]] std::uint32_t side_by_side(std::uint32_t line, unsigned lines,
                                           std::uint32_t first) const {
    if (!fills_row(line, lines)) return kNone;
    const std::uint32_t place = last_place(line, first);
    std::uint64_t tags[2];
    std::memcpy(tags, &tag_[place], sizeof tags);
    const std::uint64_t differs = (tags[0] ^ two_words(line)) | (tags[1] ^ two_words(line + 2));
    return differs == 0 ? place : kNone;
  }
  // A number and the next one, in a row.
  [[nodiscard]] static std::uint64_t two_words(std::uint32_t first) {
    return first | std::uint64_t{first + 1} << 32;
  }
  // Place where the line was last seen.
  [[nodiscard]] std::uint32_t last_place(std::uint32_t line, std::uint32_t first) const {
    return slot(first, last_way_[hint(line, first)]);
  }
  // A set has as many hints as ways: a piece of memory as large as the L2 has one for each of its
  // lines. None belongs to two channels, which may be looked up on different cores.
  [[nodiscard]] std::uint32_t hint(std::uint32_t line, std::uint32_t first) const {
    return first + (line >> hint_shift_ & hint_mask_);
  }
  // The slot that holds the line, and, where none does, the one to be given up for it.
  struct Place {
    std::uint32_t slot{};
    bool found{};
  };
  [[nodiscard]] Place find(std::uint32_t line, std::uint32_t first) const;
  // Slots of four lines in a row, in sets that lie side by side.
  struct Row {
    std::uint32_t slot[kColumns];
    std::uint32_t absent;  // bit i: line i is not here, and its slot is the one to be given up
    [[nodiscard]] Place place(std::uint32_t column) const {
      return {slot[column], (absent >> column & 1U) == 0};
    }
  };
  // State that each channel has for itself: stamps are compared within a set alone.
  struct alignas(kHostLine) Bank {
    explicit Bank(HostArena& arena) : at_begin(ArenaAllocator<ChunkAtBegin>(arena)) {}
    std::uint32_t clock{1};
    std::uint32_t numbering{};       // of the stamps: how often they began anew
    std::uint32_t clock_at_begin{};  // of the launch
    std::uint32_t numbering_at_begin{};
    ArenaVector<ChunkAtBegin> at_begin;  // of the chunks that this launch used
  };
  // One search for four lines of which the first begins a row, where that can be done. `first` is
  // first_of(line).
  [[nodiscard]] Row find_row(std::uint32_t line, std::uint32_t first) const;
  [[nodiscard]] bool can_search_rows() const {
    return columns_ == kColumns && ways_ * columns_ == kSearchWords;
  }
  // The first of the slots to be given up for them, where none is here and these lie side by side;
  // else kNone.
  [[nodiscard]] std::uint32_t place_for_row(std::uint32_t line, std::uint32_t first) const;
  // read_new_row() and write_new_row(); `dirty`: whether memory then has none of their bytes.
  bool bring_new_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel, unsigned lines,
                     bool dirty, ReplacedRow& replaced);
  // Lines that fill a row take the slots from `place` on; `dirty` as above.
  void replace_row(Bank& bank, std::uint32_t line, std::uint32_t first, std::uint32_t place,
                   bool dirty, ReplacedRow& replaced);
  // Reads the line, given its place.
  Access read_at(Bank& bank, std::uint32_t line, std::uint32_t first, Place place);
  void remember(std::uint32_t line, std::uint32_t first, std::uint32_t place) {
    last_way_[hint(line, first)] = static_cast<std::uint8_t>((place - first) / columns_);
  }
  void evict(Bank& bank, std::uint32_t line, std::uint32_t first, std::uint32_t place,
             Access& access);

  std::shared_ptr<const ChannelLookup> map_;  // null: plain interleaving
  std::uint32_t channels_;
  std::uint32_t channel_mask_;   // channels - 1 where that is a power of two, else 0
  std::uint32_t channel_shift_;  // of that power of two
  std::uint32_t interleave_shift_;
  std::uint32_t ways_;
  std::uint32_t sets_;      // of one channel
  std::uint32_t set_mask_;  // sets - 1 where that is a power of two, else 0
  // A hash of the sets: bits of the set's number that are XORed with the address bits above it.
  std::uint32_t set_bits_, hash_shift_, hash_mask_;
  std::uint32_t columns_;    // sets side by side: kColumns, or 1 where lines in a row share none
  std::vector<Bank> banks_;  // by channel
  // Arrays by slot, [channel][set / columns][way][column].
  std::span<std::uint32_t> tag_;    // kNone: nothing
  std::span<std::uint32_t> stamp_;  // of the last use; 0: never
  std::span<std::int64_t> ready_;   // when the data is there [cycles in this launch], or kPartial
  std::span<std::uint64_t> partly_dirty_;  // bytes that memory lacks, by bit, where it lacks some
  // A launch begins a period, and so does a snapshot.
  std::uint64_t period_{};
  std::uint64_t launch_period_{};  // the launch's first
  std::uint64_t cleaned_in_{};     // what was not used since then is clean
  LineVector<Chunk> chunks_;
  std::shared_ptr<const L2Snapshot> last_snapshot_;  // null: none that a new one can begin with
  std::uint64_t snapshot_period_{};                  // begun by it
  bool keeps_begin_{};
  std::uint32_t hint_shift_;
  std::uint32_t hint_mask_;
  std::span<std::uint8_t> last_way_;  // by hint: where a line was last seen in its set
  LineHolders* holders_{};            // null: nobody asks
  LineHolders::Dies die_{};
};

}  // namespace ww::sim::gpu::exec
