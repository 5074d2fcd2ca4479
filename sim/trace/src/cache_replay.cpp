#include "ww/sim/trace/cache_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

namespace ww::sim::trace {
namespace {

constexpr std::uint64_t kSector = 64;  // bytes of a store's request, and of a dirty mask
constexpr std::uint64_t kMaxSectors = 2;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Tags of one cache, least recently used first out.
class Tags {
 public:
  struct Slot {
    std::uint64_t tag{kNone};
    std::uint64_t stamp{};
    std::array<std::uint64_t, kMaxSectors> dirty{};  // bytes
    bool partial{};                                  // bytes that were not written are not there
  };
  Tags(std::int64_t bytes, int ways, int line_bytes)
      : ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes) / static_cast<std::size_t>(line_bytes) / ways_),
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
  void take(Slot* slot, std::uint64_t line) { *slot = {line, ++clock_, {}, false}; }

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
            Tags(shape.l1_bytes, shape.l1_ways, shape.l1_line_bytes)),
        l2_(static_cast<std::size_t>(shape.channels),
            Tags(shape.l2_bytes / shape.channels, shape.l2_ways, shape.l2_line_bytes)),
        l1_sectors_(static_cast<std::uint64_t>(shape.l1_line_bytes) / kSector),
        l2_sectors_(static_cast<std::uint64_t>(shape.l2_line_bytes) / kSector) {}

  void begin_launch() {
    for (Tags& tags : l1_) tags.clear();
  }

  void access(const Access& access, const Instruction& instruction) {
    // Sectors that the lanes touch, and which of their bytes.
    count_ = 0;
    for (std::uint64_t set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      std::uint64_t address = access.address[lane];
      std::uint64_t left = instruction.element_bytes;
      while (left > 0) {
        const std::uint64_t offset = address % kSector;
        const std::uint64_t here = std::min(left, kSector - offset);
        const std::uint64_t mask =
            (here == kSector ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << offset;
        touch(address / kSector, mask);
        address += here;
        left -= here;
      }
    }
    Tags& l1 = l1_[cu_of(access.group)];
    if (instruction.operation == Operation::load) {
      for (std::size_t i = 0; i < count_; ++i) {
        if (!first_of_its_line(i)) continue;
        load(l1, touched_[i].sector / l1_sectors_);
      }
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const auto [sector, mask] = touched_[i];
      ++traffic.l1_accesses;
      const std::uint64_t line = sector / l1_sectors_;
      if (auto* slot = l1.find(line, line)) *slot = {};
      ++traffic.l2_writes;
      traffic.l1_l2_write_bytes += kSector;
      if (instruction.operation != Operation::store) read(sector);
      write(sector, mask);
    }
  }

  CacheTraffic traffic;

 private:
  struct Touched {
    std::uint64_t sector, mask;
  };

  void touch(std::uint64_t sector, std::uint64_t mask) {
    for (std::size_t i = count_; i-- > 0;) {
      if (touched_[i].sector != sector) continue;
      touched_[i].mask |= mask;
      return;
    }
    touched_[count_++] = {sector, mask};
  }
  // Whether no sector before the ith lies in the same line of an L1.
  [[nodiscard]] bool first_of_its_line(std::size_t i) const {
    if (l1_sectors_ == 1) return true;
    const auto* const end = touched_.data() + i;
    return std::none_of(touched_.data(), end, [&](const Touched& earlier) {
      return earlier.sector / l1_sectors_ == end->sector / l1_sectors_;
    });
  }
  void load(Tags& l1, std::uint64_t line) {
    ++traffic.l1_accesses;
    if (l1.find(line, line) != nullptr) {
      ++traffic.l1_hits;
      return;
    }
    l1.take(l1.victim(line), line);
    ++traffic.l2_reads;
    traffic.l1_l2_read_bytes += l1_sectors_ * kSector;
    read(line * l1_sectors_);
  }

  // Deals groups as a dispatcher does: engines in turn, within an engine the compute units.
  [[nodiscard]] std::size_t cu_of(std::uint32_t group) const {
    const auto engines = static_cast<std::uint32_t>(shape_.engines);
    const auto cus = static_cast<std::uint32_t>(shape_.cus_per_engine);
    return group % engines * cus + group / engines % cus;
  }

  struct Place {
    Tags& tags;
    std::uint64_t line;
    std::uint64_t index;  // within the channel
  };
  Place place(std::uint64_t sector) {
    const std::uint64_t line = sector / l2_sectors_;
    const auto run = static_cast<std::uint64_t>(shape_.interleave_bytes) / (l2_sectors_ * kSector);
    const auto channels = static_cast<std::uint64_t>(shape_.channels);
    const std::uint64_t block = line / run;
    return {l2_[block % channels], line, block / channels * run + line % run};
  }
  Tags::Slot* allocate(const Place& place) {
    Tags::Slot* slot = place.tags.victim(place.index);
    if (slot->tag != kNone) {
      for (const std::uint64_t dirty : slot->dirty) {
        traffic.memory_write_bytes += 32 * halves(dirty);
      }
    }
    place.tags.take(slot, place.line);
    return slot;
  }
  void read(std::uint64_t sector) {
    const Place at = place(sector);
    Tags::Slot* slot = at.tags.find(at.line, at.index);
    if (slot != nullptr && !slot->partial) return;
    ++traffic.l2_misses;
    if (slot == nullptr) slot = allocate(at);
    slot->partial = false;
    traffic.memory_read_bytes += l2_sectors_ * kSector;
  }
  void write(std::uint64_t sector, std::uint64_t mask) {
    const Place at = place(sector);
    Tags::Slot* slot = at.tags.find(at.line, at.index);
    if (slot == nullptr) {
      ++traffic.l2_misses;
      slot = allocate(at);
      slot->partial = true;
    }
    slot->dirty[sector % l2_sectors_] |= mask;
    const auto whole = slot->dirty.begin() + static_cast<std::ptrdiff_t>(l2_sectors_);
    if (std::all_of(slot->dirty.begin(), whole,
                    [](std::uint64_t dirty) { return dirty == ~std::uint64_t{0}; })) {
      slot->partial = false;
    }
  }

  CacheShape shape_;
  std::vector<Tags> l1_;
  std::vector<Tags> l2_;
  std::uint64_t l1_sectors_;  // of a line
  std::uint64_t l2_sectors_;
  std::array<Touched, 2 * kLanes> touched_{};
  std::size_t count_{};
};

Status check(const CacheShape& shape) {
  const auto is_line = [](int bytes) {
    return bytes == static_cast<int>(kSector) || bytes == static_cast<int>(kMaxSectors * kSector);
  };
  if (!is_line(shape.l1_line_bytes) || !is_line(shape.l2_line_bytes) ||
      shape.l2_line_bytes < shape.l1_line_bytes) {
    return fail(ErrorCode::out_of_range,
                fmt::format("lines of {} B in the L1 and {} B in the L2; both are 64 or 128, and "
                            "the L2's is not the shorter one",
                            shape.l1_line_bytes, shape.l2_line_bytes));
  }
  const auto sets = [](std::int64_t bytes, int ways, int line_bytes) {
    return ways > 0 ? bytes / line_bytes / ways : 0;
  };
  if (shape.engines < 1 || shape.cus_per_engine < 1 || shape.channels < 1 ||
      shape.interleave_bytes < shape.l2_line_bytes ||
      sets(shape.l1_bytes, shape.l1_ways, shape.l1_line_bytes) < 1 ||
      sets(shape.l2_bytes / shape.channels, shape.l2_ways, shape.l2_line_bytes) < 1) {
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
