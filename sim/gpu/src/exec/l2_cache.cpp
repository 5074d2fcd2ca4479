#include "exec/l2_cache.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "ww/core/hash.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::uint64_t kWhole = ~std::uint64_t{0};
}

L2Cache::L2Cache(const Architecture& architecture)
    : channels_(static_cast<std::uint32_t>(architecture.l2_channels)),
      lines_per_interleave_(static_cast<std::uint32_t>(architecture.channel_interleave_bytes /
                                                       architecture.line_bytes)),
      ways_(static_cast<std::uint32_t>(architecture.l2_ways)),
      sets_(static_cast<std::uint32_t>(architecture.l2_bytes / architecture.line_bytes) /
            channels_ / ways_) {
  const std::size_t slots = std::size_t{channels_} * sets_ * ways_;
  tag_.assign(slots, kNone);
  stamp_.assign(slots, 0);
  dirty_.assign(slots, 0);
  partial_.assign(slots, 0);
  ready_.assign(slots, 0);
}

std::uint32_t L2Cache::set_of(std::uint32_t line) const {
  const std::uint32_t block = line / lines_per_interleave_;
  const std::uint32_t in_channel =
      block / channels_ * lines_per_interleave_ + line % lines_per_interleave_;
  return (block % channels_ * sets_ + in_channel % sets_) * ways_;
}

std::uint32_t L2Cache::find(std::uint32_t first, std::uint32_t line) const {
  // A search without exit, so that the compiler compares all ways at once.
  std::uint32_t found = 0;
  const std::uint32_t* tags = tag_.data() + first;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    found = tags[way] == line ? way + 1 : found;
  }
  return found == 0 ? kNone : first + found - 1;
}

std::uint32_t L2Cache::evict(std::uint32_t first, std::uint32_t line, Access& access) {
  std::uint32_t victim = first;
  for (std::uint32_t slot = first; slot < first + ways_; ++slot) {
    if (stamp_[slot] < stamp_[victim]) victim = slot;
  }
  if (tag_[victim] != kNone && dirty_[victim] != 0) {
    access.writeback = true;
    access.victim = tag_[victim];
    access.victim_dirty = dirty_[victim];
  }
  tag_[victim] = line;
  stamp_[victim] = ++clock_;
  dirty_[victim] = 0;
  partial_[victim] = 0;
  ready_[victim] = 0;
  access.ready = &ready_[victim];
  return victim;
}

L2Cache::Access L2Cache::read(std::uint32_t line) {
  Access access;
  const std::uint32_t first = set_of(line);
  const std::uint32_t slot = find(first, line);
  if (slot == kNone) {
    access.fill = true;
    evict(first, line, access);
    return access;
  }
  stamp_[slot] = ++clock_;
  access.ready = &ready_[slot];
  access.hit = partial_[slot] == 0;
  access.fill = !access.hit;
  partial_[slot] = 0;
  return access;
}

L2Cache::Access L2Cache::write(std::uint32_t line, std::uint64_t written) {
  Access access;
  const std::uint32_t first = set_of(line);
  std::uint32_t slot = find(first, line);
  if (slot == kNone) {
    slot = evict(first, line, access);
    partial_[slot] = written != kWhole;
  } else {
    stamp_[slot] = ++clock_;
    access.hit = true;
    access.ready = &ready_[slot];
  }
  dirty_[slot] |= written;
  if (dirty_[slot] == kWhole) partial_[slot] = 0;
  return access;
}

void L2Cache::begin_launch() {
  std::fill(ready_.begin(), ready_.end(), 0);
}

std::shared_ptr<const L2Snapshot> L2Cache::snapshot() const {
  auto snapshot = std::make_shared<L2Snapshot>();
  snapshot->lines.resize(tag_.size());
  std::vector<std::uint32_t> order(ways_);
  std::vector<std::uint64_t> words;
  words.reserve(tag_.size() * 2);
  for (std::uint32_t first = 0; first < tag_.size(); first += ways_) {
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return stamp_[a] != stamp_[b] ? stamp_[a] < stamp_[b] : a < b;
    });
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const std::uint32_t slot = order[age];
      snapshot->lines[first + age] = {tag_[slot], partial_[slot] != 0, dirty_[slot]};
      words.push_back(std::uint64_t{tag_[slot]} << 1 | partial_[slot]);
      words.push_back(dirty_[slot]);
    }
  }
  snapshot->hash = hash64(std::as_bytes(std::span<const std::uint64_t>(words)));
  return snapshot;
}

void L2Cache::restore(const L2Snapshot& snapshot) {
  for (std::uint32_t first = 0; first < tag_.size(); first += ways_) {
    for (std::uint32_t age = 0; age < ways_; ++age) {
      const L2Snapshot::Line& line = snapshot.lines[first + age];
      tag_[first + age] = line.tag;
      partial_[first + age] = line.partial;
      dirty_[first + age] = line.dirty;
      stamp_[first + age] = line.tag == kNone ? 0 : age + 1;
    }
  }
  clock_ = ways_ + 1;
}

}  // namespace ww::sim::gpu::exec
