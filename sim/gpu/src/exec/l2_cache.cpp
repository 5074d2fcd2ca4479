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

// Bit i: words[i] == value; at most 32 words.
WW_VECTOR_CLONES std::uint32_t equal_words(const std::uint32_t* words, std::uint32_t count,
                                           std::uint32_t value) {
  std::uint32_t equal = 0;
  for (std::uint32_t i = 0; i < count; ++i) equal |= (words[i] == value ? 1U : 0U) << i;
  return equal;
}
WW_VECTOR_CLONES std::uint32_t smallest_word(const std::uint32_t* words, std::uint32_t count) {
  std::uint32_t smallest = ~std::uint32_t{0};
  for (std::uint32_t i = 0; i < count; ++i) smallest = std::min(smallest, words[i]);
  return smallest;
}
// Index of the first of `count` words that has the value, or `count`.
std::uint32_t index_of(const std::uint32_t* words, std::uint32_t count, std::uint32_t value) {
  for (std::uint32_t i = 0; i < count; i += 32) {
    const std::uint32_t equal = equal_words(words + i, std::min(count - i, 32U), value);
    if (equal != 0) return i + static_cast<std::uint32_t>(std::countr_zero(equal));
  }
  return count;
}
}  // namespace

L2Cache::L2Cache(const Architecture& architecture)
    : channels_(static_cast<std::uint32_t>(architecture.l2_channels)),
      channel_mask_(std::has_single_bit(channels_) ? channels_ - 1 : 0),
      interleave_shift_(static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint32_t>(
          architecture.channel_interleave_bytes / architecture.line_bytes)))),
      ways_(static_cast<std::uint32_t>(architecture.l2_ways)),
      sets_(static_cast<std::uint32_t>(architecture.l2_bytes / architecture.line_bytes) /
            channels_ / ways_),
      slots_(std::size_t{channels_} * sets_ * ways_),
      tag_(slots_.size(), kNone),
      stamp_(slots_.size(), 0),
      hint_(kHints) {}

std::uint32_t L2Cache::set_of(std::uint32_t line) const {
  const std::uint32_t in_block = line & ((1U << interleave_shift_) - 1);
  const std::uint32_t in_channel = block(line) / channels_ << interleave_shift_ | in_block;
  return (channel(line) * sets_ + in_channel % sets_) * ways_;
}

std::uint32_t L2Cache::find(std::uint32_t line) const {
  const std::uint32_t first = set_of(line);
  const std::uint32_t way = index_of(&tag_[first], ways_, line);
  return way == ways_ ? kNone : first + way;
}

L2Cache::Slot& L2Cache::evict(std::uint32_t line, Access& access) {
  const std::uint32_t first = set_of(line);
  const std::uint32_t* const stamps = &stamp_[first];
  const std::uint32_t place = first + index_of(stamps, ways_, smallest_word(stamps, ways_));
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
  const std::uint32_t place = find(line);
  if (place == kNone) {
    access.fill = true;
    evict(line, access);
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
  if (slots_[place].tag != line) place = find(line);
  Slot* slot = nullptr;
  if (place == kNone) {
    slot = &evict(line, access);
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
  std::vector<std::uint32_t> order(ways_);
  std::vector<std::uint64_t> words;
  words.reserve(slots_.size() * 2);
  for (std::uint32_t first = 0; first < slots_.size(); first += ways_) {
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return stamp_[a] != stamp_[b] ? stamp_[a] < stamp_[b] : a < b;
    });
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const Slot& slot = slots_[order[age]];
      snapshot->lines[first + age] = {slot.tag, slot.partial != 0, slot.dirty};
      words.push_back(std::uint64_t{slot.tag} << 1 | slot.partial);
      words.push_back(slot.dirty);
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
