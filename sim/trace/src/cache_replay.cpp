#include "ww/sim/trace/cache_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

namespace ww::sim::trace {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Tags of one cache, least recently used first out.
class Tags {
 public:
  struct Slot {
    std::uint64_t tag{kNone};
    std::uint64_t stamp{};
    std::uint64_t dirty{};  // bytes
    bool partial{};         // bytes that were not written are not there
  };
  Tags(std::int64_t bytes, int ways)
      : ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes) / kLine / ways_),
        slots_(sets_ * ways_) {}

  void clear() { std::fill(slots_.begin(), slots_.end(), Slot{}); }
  // `place` chooses the set, `line` is the tag.
  Slot* find(std::uint64_t line, std::uint64_t place) {
    Slot* const first = &slots_[place % sets_ * ways_];
    for (Slot* slot = first; slot < first + ways_; ++slot) {
      if (slot->tag != line) continue;
      slot->stamp = ++clock_;
      return slot;
    }
    return nullptr;
  }
  // The slot for a new line; still holds what it has to give up.
  Slot* victim(std::uint64_t place) {
    Slot* const first = &slots_[place % sets_ * ways_];
    Slot* oldest = first;
    for (Slot* slot = first; slot < first + ways_; ++slot) {
      if (slot->tag == kNone) return slot;
      if (slot->stamp < oldest->stamp) oldest = slot;
    }
    return oldest;
  }
  void take(Slot* slot, std::uint64_t line) { *slot = {line, ++clock_, 0, false}; }

 private:
  std::size_t ways_;
  std::size_t sets_;
  std::uint64_t clock_{};
  std::vector<Slot> slots_;
};

// Halves of 32 B that hold a byte of the mask.
std::uint64_t halves(std::uint64_t bytes) {
  return ((bytes & 0xFFFFFFFFULL) != 0 ? 1U : 0U) + ((bytes >> 32) != 0 ? 1U : 0U);
}

class Replay {
 public:
  explicit Replay(const CacheShape& shape)
      : shape_(shape),
        l1_(static_cast<std::size_t>(shape.engines * shape.cus_per_engine),
            Tags(shape.l1_bytes, shape.l1_ways)),
        l2_(static_cast<std::size_t>(shape.channels),
            Tags(shape.l2_bytes / shape.channels, shape.l2_ways)) {}

  void begin_launch() {
    for (Tags& tags : l1_) tags.clear();
  }

  void access(const Access& access, const Instruction& instruction) {
    // Lines that the lanes touch, and which of their bytes.
    count_ = 0;
    for (std::uint64_t set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      std::uint64_t address = access.address[lane];
      std::uint64_t left = instruction.element_bytes;
      while (left > 0) {
        const std::uint64_t offset = address % kLine;
        const std::uint64_t here = std::min(left, kLine - offset);
        const std::uint64_t mask =
            (here == kLine ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << offset;
        touch(address / kLine, mask);
        address += here;
        left -= here;
      }
    }
    Tags& l1 = l1_[cu_of(access.group)];
    for (std::size_t i = 0; i < count_; ++i) {
      const auto [line, mask] = touched_[i];
      ++traffic.l1_accesses;
      if (instruction.operation == Operation::load) {
        if (l1.find(line, line) != nullptr) {
          ++traffic.l1_hits;
          continue;
        }
        l1.take(l1.victim(line), line);
        read(line);
        continue;
      }
      if (auto* slot = l1.find(line, line)) *slot = {};
      if (instruction.operation != Operation::store) read(line);
      write(line, mask, instruction.operation == Operation::store);
    }
  }

  CacheTraffic traffic;

 private:
  struct Touched {
    std::uint64_t line, mask;
  };

  void touch(std::uint64_t line, std::uint64_t mask) {
    for (std::size_t i = count_; i-- > 0;) {
      if (touched_[i].line != line) continue;
      touched_[i].mask |= mask;
      return;
    }
    touched_[count_++] = {line, mask};
  }

  // As a dispatcher deals them: engines in turn, within an engine the compute units in turn.
  [[nodiscard]] std::size_t cu_of(std::uint32_t group) const {
    const auto engines = static_cast<std::uint32_t>(shape_.engines);
    const auto cus = static_cast<std::uint32_t>(shape_.cus_per_engine);
    return group % engines * cus + group / engines % cus;
  }

  struct Place {
    Tags& tags;
    std::uint64_t index;  // within the channel
  };
  Place place(std::uint64_t line) {
    const auto run = static_cast<std::uint64_t>(shape_.interleave_bytes) / kLine;
    const auto channels = static_cast<std::uint64_t>(shape_.channels);
    const std::uint64_t block = line / run;
    return {l2_[block % channels], block / channels * run + line % run};
  }
  Tags::Slot* allocate(Tags& tags, std::uint64_t line, std::uint64_t index) {
    Tags::Slot* slot = tags.victim(index);
    if (slot->tag != kNone && slot->dirty != 0) {
      traffic.memory_write_bytes += 32 * halves(slot->dirty);
    }
    tags.take(slot, line);
    return slot;
  }
  void read(std::uint64_t line) {
    ++traffic.l2_accesses;
    const auto [tags, index] = place(line);
    Tags::Slot* slot = tags.find(line, index);
    if (slot != nullptr && !slot->partial) return;
    ++traffic.l2_misses;
    if (slot == nullptr) slot = allocate(tags, line, index);
    slot->partial = false;
    traffic.memory_read_bytes += kLine;
  }
  void write(std::uint64_t line, std::uint64_t mask, bool crosses) {
    if (crosses) ++traffic.l2_accesses;
    const auto [tags, index] = place(line);
    Tags::Slot* slot = tags.find(line, index);
    if (slot == nullptr) {
      ++traffic.l2_misses;
      slot = allocate(tags, line, index);
      slot->partial = true;
    }
    slot->dirty |= mask;
    if (slot->dirty == ~std::uint64_t{0}) slot->partial = false;
  }

  CacheShape shape_;
  std::vector<Tags> l1_;
  std::vector<Tags> l2_;
  std::array<Touched, 2 * kLanes> touched_{};
  std::size_t count_{};
};

Status check(const CacheShape& shape) {
  const auto sets = [](std::int64_t bytes, int ways) {
    return ways > 0 ? bytes / static_cast<std::int64_t>(kLine) / ways : 0;
  };
  if (shape.engines < 1 || shape.cus_per_engine < 1 || shape.channels < 1 ||
      shape.interleave_bytes < static_cast<int>(kLine) || sets(shape.l1_bytes, shape.l1_ways) < 1 ||
      sets(shape.l2_bytes / shape.channels, shape.l2_ways) < 1) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("caches of {} B with {} ways and {} B with {} ways over {} channels "
                    "have no set",
                    shape.l1_bytes, shape.l1_ways, shape.l2_bytes, shape.l2_ways, shape.channels));
  }
  return {};
}

}  // namespace

Result<CacheTraffic> replay_through_caches(Reader& reader, const CacheShape& shape) {
  WW_TRY(check(shape));
  Replay replay(shape);
  Access access;
  std::uint32_t launch = std::numeric_limits<std::uint32_t>::max();
  while (true) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) return replay.traffic;
    if (access.launch != launch) {
      launch = access.launch;
      replay.begin_launch();
    }
    const Instruction& instruction = reader.instructions()[access.instruction];
    replay.access(access, instruction);
  }
}

}  // namespace ww::sim::trace
