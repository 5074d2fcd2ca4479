#include "machine/caches/l2_tags.hpp"

#include <algorithm>
#include <span>

#include "machine/isa/lane_table.hpp"
#include "ww/core/hash.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::uint32_t kCommonWays = 16;

// The loops over a set, compiled for the host's vector registers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define WW_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WW_VECTOR_CLONES
#endif

// Slot of the line among a set's, counted from the first of all that lie side by side, else,
// marked, that of the least recent one; `column` is the set's.
constexpr std::uint32_t kAbsent = 1U << 31;
constexpr std::uint64_t kEveryFourth = 0x1111'1111'1111'1111;

std::uint32_t first_slot(std::uint64_t slots) {
  return static_cast<std::uint32_t>(std::countr_zero(slots));
}
std::uint32_t look_up_in_group(const std::uint32_t* tags, const std::uint32_t* stamps,
                               std::uint32_t line, std::uint32_t column) {
  const LaneTable& table = lanes();
  const std::uint64_t here = table.equal_by_column(tags, line, 0);  // in no other column
  if (here != 0) return first_slot(here);
  return first_slot(table.least_by_column(stamps) & kEveryFourth << column) | kAbsent;
}
// Looks up four lines in a row, one in each column.
void look_up_row(const std::uint32_t* tags, const std::uint32_t* stamps, std::uint32_t line,
                 std::uint32_t* found) {
  const LaneTable& table = lanes();
  const std::uint64_t here = table.equal_by_column(tags, line, 1);
  const std::uint64_t oldest = table.least_by_column(stamps);
  for (std::uint32_t column = 0; column < 4; ++column) {
    const std::uint64_t at = here & kEveryFourth << column;
    found[column] =
        at != 0 ? first_slot(at) : first_slot(oldest & kEveryFourth << column) | kAbsent;
  }
}
// Looks up a line in sets of any other shape.
std::uint32_t look_up(const std::uint32_t* tags, const std::uint32_t* stamps, std::uint32_t ways,
                      std::uint32_t columns, std::uint32_t line, std::uint32_t column) {
  std::uint32_t oldest = column;
  for (std::uint32_t i = column; i < ways * columns; i += columns) {
    if (tags[i] == line) return i;
    if (stamps[i] < stamps[oldest]) oldest = i;
  }
  return oldest | kAbsent;
}
// Ranks each way among its set's by stamp; equal ones keep their order.
[[gnu::always_inline]] inline void rank_ways(const std::uint32_t* stamps, std::uint32_t ways,
                                             std::uint32_t* ranks) {
  for (std::uint32_t i = 0; i < ways; ++i) ranks[i] = 0;
  for (std::uint32_t j = 0; j < ways; ++j) {
    const std::uint32_t other = stamps[j];
    for (std::uint32_t i = 0; i < ways; ++i) {
      ranks[i] += other < stamps[i] || (other == stamps[i] && j < i) ? 1U : 0U;
    }
  }
}
WW_VECTOR_CLONES void rank(const std::uint32_t* stamps, std::uint32_t ways, std::uint32_t* ranks) {
  if (ways == kCommonWays) {  // whose ranks stay in the host's registers
    std::uint32_t kept[kCommonWays];
    rank_ways(stamps, kCommonWays, kept);
    std::copy_n(kept, kCommonWays, ranks);
  } else {
    rank_ways(stamps, ways, ranks);
  }
}

std::uint64_t hash_of(const L2Snapshot& snapshot) {
  const std::uint64_t tags = hash64(std::as_bytes(std::span(snapshot.tags)));
  if (snapshot.unclean.empty()) return tags;
  std::vector<std::uint64_t> words{tags};
  words.reserve(2 * snapshot.unclean.size() + 1);
  for (const L2Snapshot::Unclean& line : snapshot.unclean) {
    words.push_back(std::uint64_t{line.place} << 1 | (line.partial ? 1U : 0U));
    words.push_back(line.dirty);
  }
  return hash64(std::as_bytes(std::span<const std::uint64_t>(words)));
}

// The lines of one set that are not clean, from `next` on, which moves behind them.
std::span<const L2Snapshot::Unclean> unclean_before(std::size_t place,
                                                    const std::vector<L2Snapshot::Unclean>& all,
                                                    std::size_t& next) {
  const std::size_t first = next;
  while (next < all.size() && all[next].place < place) ++next;
  return std::span(all).subspan(first, next - first);
}

// Appends the lines of one set that are not clean to `result`. In `tags` the set now has `ways`
// lines from `first` on, the last `used` as in `after`. Returns false where a line that was used
// differs from the one in `before`, or a dirty one is gone.
bool add_unclean(std::size_t first, std::size_t ways, std::size_t used, const L2Snapshot& before,
                 std::span<const L2Snapshot::Unclean> old,
                 std::span<const L2Snapshot::Unclean> recent, L2Outcome outcome,
                 L2Snapshot& result) {
  const std::size_t first_recent = first + ways - used;
  while (!recent.empty() && recent.front().place < first_recent) recent = recent.subspan(1);
  std::size_t met = 0;
  for (L2Snapshot::Unclean line : old) {
    const auto begin = result.tags.begin() + static_cast<std::ptrdiff_t>(first);
    const auto found = std::find(begin, result.tags.end(), before.tags[line.place]);
    if (found == result.tags.end()) {
      if (line.dirty != 0) return false;
      continue;
    }
    line.place = static_cast<std::uint32_t>(found - result.tags.begin());
    if (line.place < first_recent) {
      result.unclean.push_back(line);
    } else if (std::ranges::find(recent, line) == recent.end()) {
      return false;
    } else {
      ++met;
    }
  }
  if (outcome == L2Outcome::hits && met != recent.size()) return false;
  result.unclean.insert(result.unclean.end(), recent.begin(), recent.end());
  return true;
}
}  // namespace

std::shared_ptr<const L2Snapshot> tags_after(L2Outcome outcome, const L2Snapshot& before,
                                             const L2Snapshot& after,
                                             std::span<const std::uint8_t> used) {
  auto result = std::make_shared<L2Snapshot>();
  std::vector<std::uint32_t>& tags = result->tags;
  tags.reserve(before.tags.size());
  const std::size_t ways = before.tags.size() / used.size();
  std::size_t next_before = 0;
  std::size_t next_after = 0;
  for (std::size_t set = 0; set < used.size(); ++set) {
    const std::size_t first = set * ways;
    const std::size_t end = first + ways;
    const std::span old = std::span(before.tags).subspan(first, ways);
    const std::span recent = std::span(after.tags).subspan(end - used[set], used[set]);
    if (outcome == L2Outcome::hits) {
      for (const std::uint32_t tag : old) {
        if (std::ranges::find(recent, tag) == recent.end()) tags.push_back(tag);
      }
      if (tags.size() != end - used[set]) return nullptr;
    } else {
      for (const std::uint32_t tag : recent) {
        if (std::ranges::find(old, tag) != old.end()) return nullptr;
      }
      tags.insert(tags.end(), old.begin() + used[set], old.end());
    }
    tags.insert(tags.end(), recent.begin(), recent.end());
    const auto unclean = unclean_before(end, before.unclean, next_before);
    const auto unclean_after = unclean_before(end, after.unclean, next_after);
    if (unclean.empty() && unclean_after.empty()) continue;
    if (!add_unclean(first, ways, used[set], before, unclean, unclean_after, outcome, *result)) {
      return nullptr;
    }
  }
  result->hash = hash_of(*result);
  return result;
}

L2Tags::L2Tags(const Architecture& architecture, HostArena& arena)
    : map_(architecture.channel_map.plain()
               ? nullptr
               : std::make_shared<ChannelLookup>(architecture.channel_map, architecture.l2_channels,
                                                 architecture.channel_interleave_bytes)),
      channels_(static_cast<std::uint32_t>(architecture.l2_channels)),
      channel_mask_(std::has_single_bit(channels_) ? channels_ - 1 : 0),
      channel_shift_(static_cast<std::uint32_t>(std::countr_zero(channels_))),
      interleave_shift_(static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint32_t>(
          architecture.channel_interleave_bytes / architecture.line_bytes)))),
      ways_(static_cast<std::uint32_t>(architecture.l2_ways)),
      sets_(static_cast<std::uint32_t>(architecture.l2_bytes / architecture.line_bytes) /
            channels_ / ways_),
      set_mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
      set_bits_(static_cast<std::uint32_t>(std::countr_zero(sets_))),
      hash_shift_(set_bits_ - static_cast<std::uint32_t>(architecture.l2_set_hash_bits)),
      hash_mask_(architecture.l2_set_hash_bits == 0 ? 0 : set_mask_ & ~((1U << hash_shift_) - 1)),
      columns_((1U << interleave_shift_) % kColumns == 0 && sets_ % kColumns == 0 ? kColumns : 1),
      banks_(channels_, Bank(arena)),
      tag_(arena.zeros<std::uint32_t>(std::size_t{channels_} * sets_ * ways_)),
      stamp_(arena.zeros<std::uint32_t>(tag_.size())),
      ready_(arena.zeros<std::int64_t>(tag_.size())),
      partly_dirty_(arena.zeros<std::uint64_t>(tag_.size())),
      chunks_((tag_.size() + kChunk - 1) / kChunk),
      hint_shift_(static_cast<std::uint32_t>(std::bit_width(channels_ * sets_ / columns_ - 1))),
      hint_mask_((std::bit_floor(ways_) - 1) * columns_),
      last_way_(arena.zeros<std::uint8_t>(tag_.size())) {
  std::ranges::fill(tag_, kNone);
}

L2Tags::Place L2Tags::find(std::uint32_t line, std::uint32_t first) const {
  const std::uint32_t column = first & (columns_ - 1);
  const std::uint32_t begin = first - column;
  const std::uint32_t found =
      can_search_rows() ? look_up_in_group(&tag_[begin], &stamp_[begin], line, column)
                        : look_up(&tag_[begin], &stamp_[begin], ways_, columns_, line, column);
  return {begin + (found & ~kAbsent), (found & kAbsent) == 0};
}

void L2Tags::evict(Bank& bank, std::uint32_t line, std::uint32_t first, std::uint32_t place,
                   Access& access) {
  use_chunk(bank, place);
  if (holders_ != nullptr) {
    if (tag_[place] != kNone) holders_->left(tag_[place], die_);
    holders_->came(line, die_);
  }
  if (const std::uint64_t dirty = dirty_bytes(place); dirty != 0) {
    access.writeback = true;
    access.victim = tag_[place];
    access.victim_dirty = dirty;
    set_dirty(place, 0);
  }
  ready_[place] = 0;
  tag_[place] = line;
  mark_used(bank, place);
  access.ready = &ready_[place];
  remember(line, first, place);
}

std::uint64_t L2Tags::drop(std::uint32_t line) {
  Bank& bank = bank_of(line);
  const Place place = find(line, first_of(line));
  const std::uint64_t dirty = dirty_bytes(place.slot);
  use_chunk(bank, place.slot);
  if (holders_ != nullptr) holders_->left(line, die_);
  tag_[place.slot] = kNone;
  stamp_[place.slot] = 0;
  ready_[place.slot] = 0;
  set_dirty(place.slot, 0);
  ++bank.numbering;  // what was used since the launch began cannot be counted any more
  return dirty;
}

L2Tags::Access L2Tags::read_at(Bank& bank, std::uint32_t line, std::uint32_t first, Place place) {
  Access access;
  if (!place.found) {
    access.fill = true;
    evict(bank, line, first, place.slot, access);
    return access;
  }
  remember(line, first, place.slot);
  mark_used(bank, place.slot);
  access.ready = &ready_[place.slot];
  access.fill = ready_[place.slot] == kPartial;
  access.hit = !access.fill;
  if (access.fill) ready_[place.slot] = 0;
  return access;
}

bool L2Tags::read_run(std::uint32_t line, std::uint32_t first, std::uint32_t channel,
                      unsigned lines, Access* accesses, ReplacedRow* replaced) {
  if (!fills_row(line, lines) || !can_search_rows()) {
    for (unsigned i = 0; i < lines; ++i) accesses[i] = read(line + i);
    return false;
  }
  Bank& bank = banks_[channel];
  if (replaced != nullptr && bring_new_row(line, first, channel, lines, false, *replaced))
    return true;
  const Row row = find_row(line, first);
  for (unsigned i = 0; i < lines; ++i) {
    accesses[i] = read_at(bank, line + i, first + i, row.place(i));
  }
  return false;
}

bool L2Tags::bring_new_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel,
                           unsigned lines, bool dirty, ReplacedRow& replaced) {
  if (!fills_row(line, lines) || !can_search_rows() || holders_ != nullptr) return false;
  const std::uint32_t place = place_for_row(line, first);
  if (place == kNone) return false;
  replace_row(banks_[channel], line, first, place, dirty, replaced);
  return true;
}

std::uint32_t L2Tags::place_for_row(std::uint32_t line, std::uint32_t first) const {
  const LaneTable& table = lanes();
  if (table.equal_by_column(&tag_[first], line, 1) != 0) return kNone;
  const std::uint64_t oldest = table.least_by_column(&stamp_[first]);
  // Gives up the first of slots that are equally old.
  const std::uint32_t slot = first_slot(oldest);
  return slot % kColumns == 0 && (oldest >> slot & kRow) == kRow ? first + slot : kNone;
}

void L2Tags::replace_row(Bank& bank, std::uint32_t line, std::uint32_t first, std::uint32_t place,
                         bool dirty, ReplacedRow& replaced) {
  if (bank.clock > std::numeric_limits<std::uint32_t>::max() - kColumns) renumber(bank);
  use_chunk(bank, place);
  std::memcpy(replaced.victim, &tag_[place], sizeof replaced.victim);
  const Chunk& chunk = chunks_[place / kChunk];
  if ((chunk.partly_dirty() >> place % kChunk & kRow) == 0) {  // most often; no jumps
    const std::uint64_t dirty_slots = chunk.dirty >> place % kChunk;
    for (std::uint32_t i = 0; i < kColumns; ++i) {
      replaced.dirty[i] = std::uint64_t{0} - (dirty_slots >> i & 1U);
    }
  } else {
    for (std::uint32_t i = 0; i < kColumns; ++i) replaced.dirty[i] = dirty_bytes(place + i);
  }
  replaced.ready = &ready_[place];
  const std::uint64_t tags[] = {two_words(line), two_words(line + 2)};
  std::memcpy(&tag_[place], tags, sizeof tags);
  set_row_dirty(place, dirty);
  std::fill_n(&ready_[place], kColumns, 0);
  stamp_row(bank, place);
  const auto way = static_cast<std::uint8_t>((place - first) / kColumns);
  std::fill_n(&last_way_[hint(line, first)], kColumns, way);
}

bool L2Tags::overwrite_row(std::uint32_t line, std::uint32_t first, std::uint32_t channel,
                           unsigned lines) {
  const std::uint32_t place = side_by_side(line, lines, first);
  if (place == kNone || holders_ != nullptr) return false;
  Bank& bank = banks_[channel];
  if (bank.clock > std::numeric_limits<std::uint32_t>::max() - kColumns) renumber(bank);
  use_chunk(bank, place);
  stamp_row(bank, place);
  set_row_dirty(place, true);
  for (std::uint32_t i = place; i < place + kColumns; ++i) {
    ready_[i] = std::max<std::int64_t>(ready_[i], 0);
  }
  return true;
}

L2Tags::Row L2Tags::find_row(std::uint32_t line, std::uint32_t first) const {
  std::uint32_t found[kColumns];
  look_up_row(&tag_[first], &stamp_[first], line, found);
  Row row{};
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    row.slot[i] = first + (found[i] & ~kAbsent);
    row.absent |= found[i] / kAbsent << i;
  }
  return row;
}

L2Tags::Access L2Tags::write(std::uint32_t line, std::uint64_t written) {
  Access access;
  Bank& bank = bank_of(line);
  const std::uint32_t first = first_of(line);
  std::uint32_t place = last_place(line, first);
  bool found = tag_[place] == line;
  if (!found) {
    const Place searched = find(line, first);
    place = searched.slot;
    found = searched.found;
  }
  if (!found) {
    evict(bank, line, first, place, access);
    if (written != kWhole) ready_[place] = kPartial;
  } else {
    mark_used(bank, place);
    access.hit = true;
    access.ready = &ready_[place];
  }
  if (written == 0) return access;
  if (holders_ != nullptr) holders_->written(line, die_);
  const std::uint64_t dirty = dirty_bytes(place) | written;
  set_dirty(place, dirty);
  if (dirty == kWhole) ready_[place] = std::max<std::int64_t>(ready_[place], 0);
  return access;
}

std::uint32_t L2Tags::stamps_of(std::uint32_t set, std::uint32_t* stamps) const {
  const std::uint32_t first = first_of_set(set);
  for (std::uint32_t way = 0; way < ways_; ++way) stamps[way] = stamp_[slot(first, way)];
  return first;
}

void L2Tags::renumber(Bank& bank) {
  const auto first_set = static_cast<std::uint32_t>(&bank - banks_.data()) * sets_;
  const std::uint32_t end = (first_set + sets_) * ways_;
  for (std::uint32_t place = first_set * ways_; place < end; place += kChunk) {
    use_chunk(bank, place);
  }
  use_chunk(bank, end - 1);
  std::vector<std::uint32_t> stamps(ways_);
  std::vector<std::uint32_t> ranks(ways_);
  for (std::uint32_t set = first_set; set < first_set + sets_; ++set) {
    const std::uint32_t first = stamps_of(set, stamps.data());
    rank(stamps.data(), ways_, ranks.data());
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (stamps[way] != 0) stamp_[slot(first, way)] = ranks[way] + 1;
    }
  }
  bank.clock = ways_ + 1;
  ++bank.numbering;
}

void L2Tags::begin_launch() {
  launch_period_ = ++period_;
  for (Bank& bank : banks_) {
    bank.at_begin.clear();
    bank.clock_at_begin = bank.clock;
    bank.numbering_at_begin = bank.numbering;
  }
}

void L2Tags::begin_chunk(Bank& bank, std::uint32_t chunk) {
  const bool first_of_launch = chunks_[chunk].used_in < launch_period_;
  chunks_[chunk].used_in = period_;
  if (!first_of_launch) return;
  const std::uint32_t first = chunk * kChunk;
  const std::size_t count = slots_of(chunk);
  if (keeps_begin_) {
    ChunkAtBegin& kept = bank.at_begin.emplace_back();
    kept.chunk = chunks_[chunk];
    kept.first = first;
    std::copy_n(&tag_[first], count, kept.tag.begin());
    std::copy_n(&stamp_[first], count, kept.stamp.begin());
    std::copy_n(&ready_[first], count, kept.ready.begin());
    if (kept.chunk.partly_dirty() != 0) {
      std::copy_n(&partly_dirty_[first], count, kept.partly_dirty.begin());
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    ready_[first + i] = std::min<std::int64_t>(ready_[first + i], 0);
  }
}

void L2Tags::keep_begin(bool keep) {
  keeps_begin_ = keep;
  if (!keep) return;
  // Room for all of them: a page of it that no launch needs is never touched.
  const std::size_t chunks = std::size_t{sets_} * ways_ / kChunk + 1;
  for (Bank& bank : banks_) bank.at_begin.reserve(chunks);
}

void L2Tags::trade_chunks_at_begin() {
  for (Bank& bank : banks_) {
    for (ChunkAtBegin& kept : bank.at_begin) {
      const std::size_t count = slots_of(kept.first / kChunk);
      std::swap_ranges(&tag_[kept.first], &tag_[kept.first] + count, kept.tag.begin());
      std::swap_ranges(&stamp_[kept.first], &stamp_[kept.first] + count, kept.stamp.begin());
      std::swap_ranges(&ready_[kept.first], &ready_[kept.first] + count, kept.ready.begin());
      Chunk& chunk = chunks_[kept.first / kChunk];
      if ((chunk.partly_dirty() | kept.chunk.partly_dirty()) != 0) {
        std::swap_ranges(&partly_dirty_[kept.first], &partly_dirty_[kept.first] + count,
                         kept.partly_dirty.begin());
      }
      std::swap(chunk, kept.chunk);
      chunk.used_in = period_;  // differs from the last snapshot
    }
  }
}

std::shared_ptr<const L2Snapshot> L2Tags::snapshot_at_begin() {
  trade_chunks_at_begin();
  auto before = snapshot();
  trade_chunks_at_begin();
  return before;
}

std::vector<std::uint8_t> L2Tags::lines_used() const {
  for (const Bank& bank : banks_) {
    if (bank.numbering != bank.numbering_at_begin) return {};
  }
  std::vector<std::uint8_t> used(std::size_t{channels_} * sets_);
  std::vector<std::uint32_t> stamps(ways_);
  for (std::uint32_t set = 0; set < used.size(); ++set) {
    if (!used_since(first_of_set(set), launch_period_)) continue;
    stamps_of(set, stamps.data());
    used[set] = static_cast<std::uint8_t>(std::ranges::count_if(
        stamps, [begin = banks_[set / sets_].clock_at_begin](std::uint32_t stamp) {
          return stamp > begin;
        }));
  }
  return used;
}

std::shared_ptr<const L2Snapshot> L2Tags::snapshot() {
  auto snapshot = std::make_shared<L2Snapshot>();
  std::span<const L2Snapshot::Unclean> old;
  if (last_snapshot_ != nullptr) {
    snapshot->tags = last_snapshot_->tags;
    old = last_snapshot_->unclean;
  } else {
    snapshot->tags.resize(tag_.size());
  }
  std::vector<L2Snapshot::Unclean>& unclean = snapshot->unclean;
  if (last_snapshot_ == nullptr) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < tag_.size(); ++at) {
      count +=
          (dirty_bytes(static_cast<std::uint32_t>(at)) != 0 || ready_[at] == kPartial) ? 1U : 0U;
    }
    unclean.reserve(count);
  } else {
    unclean.reserve(old.size());
  }
  std::vector<std::uint32_t> stamps(ways_);
  std::vector<std::uint32_t> ranks(ways_);
  for (std::uint32_t set = 0; set < channels_ * sets_; ++set) {
    const std::uint32_t first = first_of_set(set);
    const std::uint32_t end = (set + 1) * ways_;
    const bool stays = last_snapshot_ != nullptr && !used_since(first, snapshot_period_);
    for (; !old.empty() && old.front().place < end; old = old.subspan(1)) {
      if (stays) unclean.push_back(old.front());
    }
    if (stays) continue;
    const std::ptrdiff_t of_set = std::ssize(unclean);
    stamps_of(set, stamps.data());
    rank(stamps.data(), ways_, ranks.data());
    for (std::uint32_t way = 0; way < ways_; ++way) {
      const std::uint32_t from = slot(first, way);
      const std::uint32_t place = set * ways_ + ranks[way];
      snapshot->tags[place] = tag_[from];
      const bool partial = ready_[from] == kPartial;
      const std::uint64_t dirty = dirty_bytes(from);
      if (partial || dirty != 0) unclean.push_back({place, partial, dirty});
    }
    std::sort(unclean.begin() + of_set, unclean.end(),
              [](const auto& a, const auto& b) { return a.place < b.place; });
  }
  snapshot->hash = hash_of(*snapshot);
  last_snapshot_ = snapshot;
  snapshot_period_ = ++period_;
  return snapshot;
}

void L2Tags::restore(const L2Snapshot& snapshot) {
  last_snapshot_ = nullptr;
  cleaned_in_ = 0;
  for (std::uint32_t set = 0; set < channels_ * sets_; ++set) {
    const std::uint32_t first = first_of_set(set);
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const std::uint32_t tag = snapshot.tags[set * ways_ + age];
      const std::uint32_t to = slot(first, age);
      ready_[to] = 0;
      set_dirty(to, 0);
      tag_[to] = tag;
      stamp_[to] = tag == kNone ? 0U : age + 1U;
    }
  }
  for (const L2Snapshot::Unclean& line : snapshot.unclean) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a chip's L2 has at least one way
    const std::uint32_t at = slot(first_of_set(line.place / ways_), line.place % ways_);
    if (line.partial) ready_[at] = kPartial;
    set_dirty(at, line.dirty);
  }
  for (Bank& bank : banks_) {
    bank.clock = ways_ + 1;
    ++bank.numbering;
  }
}

#undef WW_VECTOR_CLONES

}  // namespace ww::sim::gpu::exec
