#include "exec/l2_cache.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "ww/core/hash.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::uint64_t kWhole = ~std::uint64_t{0};

// The loops over a set, compiled for the host's vector registers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define WW_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WW_VECTOR_CLONES
#endif

// Index of the first of `count` words that has the value, or `count`. With a constant count of at
// most 32 it is a few vector instructions.
[[gnu::always_inline]] inline std::uint32_t index_of(const std::uint32_t* words,
                                                     std::uint32_t count, std::uint32_t value) {
  if (__builtin_constant_p(count)) {
    std::uint32_t equal = 0;
    for (std::uint32_t i = 0; i < count; ++i) equal |= (words[i] == value ? 1U : 0U) << i;
    return equal == 0 ? count : static_cast<std::uint32_t>(std::countr_zero(equal));
  }
  std::uint32_t i = 0;
  while (i < count && words[i] != value) ++i;
  return i;
}
// Way of the line among the set's tags, else, marked, the least recent way.
constexpr std::uint32_t kAbsent = 1U << 31;
[[gnu::always_inline]] inline std::uint32_t way_of(const std::uint32_t* tags,
                                                   const std::uint32_t* stamps, std::uint32_t ways,
                                                   std::uint32_t line) {
  const std::uint32_t way = index_of(tags, ways, line);
  if (way != ways) return way;
  std::uint32_t smallest = ~std::uint32_t{0};
  for (std::uint32_t i = 0; i < ways; ++i) smallest = std::min(smallest, stamps[i]);
  return index_of(stamps, ways, smallest) | kAbsent;
}
WW_VECTOR_CLONES std::uint32_t look_up(const std::uint32_t* tags, const std::uint32_t* stamps,
                                       std::uint32_t ways, std::uint32_t line) {
  return ways == 16 ? way_of(tags, stamps, 16, line) : way_of(tags, stamps, ways, line);
}
// By way, its place among the set's when ordered by stamp; equal ones keep their order.
WW_VECTOR_CLONES void rank(const std::uint32_t* stamps, std::uint32_t ways, std::uint32_t* ranks) {
  for (std::uint32_t i = 0; i < ways; ++i) ranks[i] = 0;
  for (std::uint32_t j = 0; j < ways; ++j) {
    const std::uint32_t other = stamps[j];
    for (std::uint32_t i = 0; i < ways; ++i) {
      ranks[i] += other < stamps[i] || (other == stamps[i] && j < i) ? 1U : 0U;
    }
  }
}
}  // namespace

L2Cache::L2Cache(const Architecture& architecture)
    : channels_(static_cast<std::uint32_t>(architecture.l2_channels)),
      channel_mask_(std::has_single_bit(channels_) ? channels_ - 1 : 0),
      channel_shift_(static_cast<std::uint32_t>(std::countr_zero(channels_))),
      interleave_shift_(static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint32_t>(
          architecture.channel_interleave_bytes / architecture.line_bytes)))),
      ways_(static_cast<std::uint32_t>(architecture.l2_ways)),
      sets_(static_cast<std::uint32_t>(architecture.l2_bytes / architecture.line_bytes) /
            channels_ / ways_),
      set_mask_(std::has_single_bit(sets_) ? sets_ - 1 : 0),
      tag_(std::size_t{channels_} * sets_ * ways_, kNone),
      stamp_(tag_.size(), 0),
      ready_(tag_.size(), 0),
      dirty_(tag_.size(), 0),
      hint_(kHints) {}

L2Cache::Place L2Cache::find(std::uint32_t line) const {
  const std::uint32_t first = set_of(line);
  const std::uint32_t way = look_up(&tag_[first], &stamp_[first], ways_, line);
  return {first + (way & ~kAbsent), (way & kAbsent) == 0};
}

void L2Cache::evict(std::uint32_t line, std::uint32_t place, Access& access) {
  if (dirty_[place] != 0) {
    access.writeback = true;
    access.victim = tag_[place];
    access.victim_dirty = dirty_[place];
    dirty_[place] = 0;
  }
  ready_[place] = 0;
  tag_[place] = line;
  used(place);
  access.ready = &ready_[place];
  hint_[line % kHints] = place;
}

L2Cache::Access L2Cache::read_slowly(std::uint32_t line) {
  Access access;
  const auto [place, found] = find(line);
  if (!found) {
    access.fill = true;
    evict(line, place, access);
    return access;
  }
  hint_[line % kHints] = place;
  used(place);
  access.ready = &ready_[place];
  access.fill = ready_[place] == kPartial;
  access.hit = !access.fill;
  if (access.fill) ready_[place] = 0;
  return access;
}

L2Cache::Access L2Cache::write(std::uint32_t line, std::uint64_t written) {
  Access access;
  std::uint32_t place = hint_[line % kHints];
  bool found = tag_[place] == line;
  if (!found) {
    const Place searched = find(line);
    place = searched.slot;
    found = searched.found;
  }
  if (!found) {
    evict(line, place, access);
    if (written != kWhole) ready_[place] = kPartial;
  } else {
    used(place);
    access.hit = true;
    access.ready = &ready_[place];
  }
  dirty_[place] |= written;
  if (dirty_[place] == kWhole) ready_[place] = std::max<std::int64_t>(ready_[place], 0);
  return access;
}

void L2Cache::renumber() {
  std::vector<std::uint32_t> order(ways_);
  for (std::uint32_t first = 0; first < tag_.size(); first += ways_) {
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(),
              [this](std::uint32_t a, std::uint32_t b) { return stamp_[a] < stamp_[b]; });
    for (std::uint32_t age = 0; age < ways_; ++age) {
      std::uint32_t& stamp = stamp_[order[age]];
      if (stamp != 0) stamp = age + 1;
    }
  }
  clock_ = ways_ + 1;
}

void L2Cache::begin_launch() {
  for (std::int64_t& ready : ready_) ready = std::min<std::int64_t>(ready, 0);
}

std::shared_ptr<const L2Snapshot> L2Cache::snapshot() const {
  auto snapshot = std::make_shared<L2Snapshot>();
  snapshot->lines.resize(tag_.size());
  std::vector<std::uint32_t> ranks(ways_);
  std::vector<std::uint64_t> words(tag_.size() * 2);
  for (std::uint32_t first = 0; first < tag_.size(); first += ways_) {
    rank(&stamp_[first], ways_, ranks.data());
    for (std::uint32_t way = 0; way < ways_; ++way) {
      const std::uint32_t slot = first + way;
      const bool partial = ready_[slot] == kPartial;
      const std::uint32_t place = first + ranks[way];
      snapshot->lines[place] = {tag_[slot], partial, dirty_[slot]};
      words[2 * place] = std::uint64_t{tag_[slot]} << 1 | (partial ? 1U : 0U);
      words[2 * place + 1] = dirty_[slot];
    }
  }
  snapshot->hash = hash64(std::as_bytes(std::span<const std::uint64_t>(words)));
  return snapshot;
}

void L2Cache::restore(const L2Snapshot& snapshot) {
  for (std::uint32_t first = 0; first < tag_.size(); first += ways_) {
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const L2Snapshot::Line& line = snapshot.lines[first + age];
      ready_[first + age] = line.partial ? kPartial : 0;
      dirty_[first + age] = line.dirty;
      tag_[first + age] = line.tag;
      stamp_[first + age] = line.tag == kNone ? 0U : age + 1U;
    }
  }
  clock_ = ways_ + 1;
}

}  // namespace ww::sim::gpu::exec
