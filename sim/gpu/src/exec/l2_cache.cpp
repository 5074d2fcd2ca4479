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
      slots_(std::size_t{channels_} * sets_ * ways_),
      tag_(slots_.size(), kNone),
      stamp_(slots_.size(), 0),
      hint_(kHints) {}

L2Cache::Place L2Cache::find(std::uint32_t line) const {
  const std::uint32_t first = set_of(line);
  const std::uint32_t way = look_up(&tag_[first], &stamp_[first], ways_, line);
  return {first + (way & ~kAbsent), (way & kAbsent) == 0};
}

L2Cache::Slot& L2Cache::evict(std::uint32_t line, std::uint32_t place, Access& access) {
  Slot& victim = slots_[place];
  if (victim.tag != kNone && victim.dirty != 0) {
    access.writeback = true;
    access.victim = victim.tag;
    access.victim_dirty = victim.dirty;
  }
  victim = Slot{.tag = line};
  tag_[place] = line;
  used(place);
  access.ready = &victim.ready;
  hint_[line % kHints] = place;
  return victim;
}

L2Cache::Access L2Cache::read_slowly(std::uint32_t line) {
  Access access;
  const auto [place, found] = find(line);
  if (!found) {
    access.fill = true;
    evict(line, place, access);
    return access;
  }
  Slot& slot = slots_[place];
  hint_[line % kHints] = place;
  used(place);
  access.ready = &slot.ready;
  access.hit = slot.partial == 0;
  access.fill = !access.hit;
  slot.partial = 0;
  return access;
}

L2Cache::Access L2Cache::write(std::uint32_t line, std::uint64_t written) {
  Access access;
  std::uint32_t place = hint_[line % kHints];
  bool found = slots_[place].tag == line;
  if (!found) {
    const Place searched = find(line);
    place = searched.slot;
    found = searched.found;
  }
  Slot* slot = nullptr;
  if (!found) {
    slot = &evict(line, place, access);
    slot->partial = written != kWhole;
  } else {
    slot = &slots_[place];
    used(place);
    access.hit = true;
    access.ready = &slot->ready;
  }
  slot->dirty |= written;
  if (slot->dirty == kWhole) slot->partial = 0;
  return access;
}

void L2Cache::renumber() {
  std::vector<std::uint32_t> order(ways_);
  for (std::uint32_t first = 0; first < slots_.size(); first += ways_) {
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
  for (Slot& slot : slots_) slot.ready = 0;
}

std::shared_ptr<const L2Snapshot> L2Cache::snapshot() const {
  auto snapshot = std::make_shared<L2Snapshot>();
  snapshot->lines.resize(slots_.size());
  std::vector<std::uint32_t> ranks(ways_);
  std::vector<std::uint64_t> words(slots_.size() * 2);
  for (std::uint32_t first = 0; first < slots_.size(); first += ways_) {
    rank(&stamp_[first], ways_, ranks.data());
    for (std::uint32_t way = 0; way < ways_; ++way) {
      const Slot& slot = slots_[first + way];
      const std::uint32_t place = first + ranks[way];
      snapshot->lines[place] = {slot.tag, slot.partial != 0, slot.dirty};
      words[2 * place] = std::uint64_t{slot.tag} << 1 | slot.partial;
      words[2 * place + 1] = slot.dirty;
    }
  }
  snapshot->hash = hash64(std::as_bytes(std::span<const std::uint64_t>(words)));
  return snapshot;
}

void L2Cache::restore(const L2Snapshot& snapshot) {
  for (std::uint32_t first = 0; first < slots_.size(); first += ways_) {
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const L2Snapshot::Line& line = snapshot.lines[first + age];
      slots_[first + age] =
          Slot{.dirty = line.dirty, .tag = line.tag, .partial = line.partial ? 1U : 0U};
      tag_[first + age] = line.tag;
      stamp_[first + age] = line.tag == kNone ? 0U : age + 1U;
    }
  }
  clock_ = ways_ + 1;
}

}  // namespace ww::sim::gpu::exec
