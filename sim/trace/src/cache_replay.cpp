#include "ww/sim/trace/cache_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <vector>

namespace ww::sim::trace {
namespace {

constexpr std::uint64_t kSector = 64;  // bytes of a store's request, and of a dirty mask
constexpr std::uint64_t kMaxSectors = 2;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Which bytes of a line of the L2 differ from memory's.
struct LineState {
  std::array<std::uint64_t, kMaxSectors> dirty{};  // bytes
  bool partial{};                                  // bytes that were not written are not there
};

// Tags of one cache, least recently used first out. Tags lie apart from what is asked of one line
// alone, so that a search reads few lines of the host's caches.
class Tags {
 public:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

  Tags(std::int64_t bytes, int ways, int line_bytes)
      : ways_(static_cast<std::size_t>(ways)),
        sets_(static_cast<std::size_t>(bytes) / static_cast<std::size_t>(line_bytes) / ways_),
        tags_(sets_ * ways_, kNone),
        stamps_(sets_ * ways_) {}

  [[nodiscard]] std::size_t slots() const { return tags_.size(); }
  void clear() { std::ranges::fill(tags_, kNone); }
  void remove(std::size_t slot) { tags_[slot] = kNone; }
  [[nodiscard]] bool is_free(std::size_t slot) const { return tags_[slot] == kNone; }

  // The slot of a line, or kAbsent. `place` chooses the set, `line` is the tag.
  std::size_t find(std::uint64_t line, std::uint64_t place) {
    const std::size_t first = place % sets_ * ways_;
    std::size_t found = kAbsent;
    for (std::size_t slot = first; slot < first + ways_; ++slot) {
      if (tags_[slot] == line) found = slot;
    }
    if (found != kAbsent) stamps_[found] = ++clock_;
    return found;
  }
  // The slot for a new line, which still has what it must give up.
  [[nodiscard]] std::size_t victim(std::uint64_t place) const {
    const std::size_t first = place % sets_ * ways_;
    std::size_t oldest = first;
    std::uint64_t least = kNone;
    for (std::size_t slot = first; slot < first + ways_; ++slot) {
      if (tags_[slot] == kNone) return slot;
      const bool older = stamps_[slot] < least;
      oldest = older ? slot : oldest;
      least = older ? stamps_[slot] : least;
    }
    return oldest;
  }
  void take(std::size_t slot, std::uint64_t line) {
    tags_[slot] = line;
    stamps_[slot] = ++clock_;
  }

 private:
  std::size_t ways_;
  std::size_t sets_;
  std::uint64_t clock_{};
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint64_t> stamps_;  // of the latest use
};

// A channel of the L2.
struct Channel {
  Channel(std::int64_t bytes, int ways, int line_bytes)
      : tags(bytes, ways, line_bytes), lines(tags.slots()) {}
  Tags tags;
  std::vector<LineState> lines;
};

// Halves of 32 B that hold a byte of the mask.
std::uint64_t halves(std::uint64_t bytes) {
  return ((bytes & 0xFFFFFFFFULL) != 0 ? 1U : 0U) + ((bytes >> 32) != 0 ? 1U : 0U);
}

struct Sector {
  std::uint64_t number;  // address / kSector
  std::uint64_t mask;    // bytes
};

// The sectors that an access's lanes touch, and which of their bytes.
class Sectors {
 public:
  std::span<const Sector> of(const Access& access, std::uint64_t element_bytes) {
    count_ = 0;
    for (std::uint64_t set = access.lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      std::uint64_t address = access.address[lane];
      std::uint64_t left = element_bytes;
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
    return std::span(sectors_).first(count_);
  }

 private:
  void touch(std::uint64_t number, std::uint64_t mask) {
    for (std::size_t i = count_; i-- > 0;) {
      if (sectors_[i].number != number) continue;
      sectors_[i].mask |= mask;
      return;
    }
    sectors_[count_++] = {number, mask};
  }

  std::array<Sector, 2 * kLanes> sectors_{};
  std::size_t count_{};
};

class Replay {
 public:
  explicit Replay(const CacheShape& shape)
      : shape_(shape),
        l1_(static_cast<std::size_t>(shape.engines * shape.cus_per_engine),
            Tags(shape.l1_bytes, shape.l1_ways, shape.l1_line_bytes)),
        l2_(static_cast<std::size_t>(shape.channels),
            Channel(shape.l2_bytes / shape.channels, shape.l2_ways, shape.l2_line_bytes)),
        l1_sectors_(static_cast<std::uint64_t>(shape.l1_line_bytes) / kSector),
        l2_sectors_(static_cast<std::uint64_t>(shape.l2_line_bytes) / kSector) {}

  void begin_launch() {
    for (Tags& tags : l1_) tags.clear();
  }

  void access(std::span<const Sector> sectors, std::uint32_t group, Operation operation) {
    Tags& l1 = l1_[cu_of(group)];
    if (operation == Operation::load) {
      for (std::size_t i = 0; i < sectors.size(); ++i) {
        if (!is_first_of_its_line(sectors.first(i), sectors[i])) continue;
        load(l1, sectors[i].number / l1_sectors_);
      }
      return;
    }
    for (const auto& [sector, mask] : sectors) {
      ++traffic.l1_accesses;
      const std::uint64_t line = sector / l1_sectors_;
      if (const auto slot = l1.find(line, line); slot != Tags::kAbsent) l1.remove(slot);
      ++traffic.l2_writes;
      traffic.l1_l2_write_bytes += kSector;
      if (operation != Operation::store) read(sector);
      write(sector, mask);
    }
  }

  CacheTraffic traffic;

 private:
  // Whether no earlier sector lies in the same line of an L1.
  [[nodiscard]] bool is_first_of_its_line(std::span<const Sector> earlier,
                                          const Sector& sector) const {
    if (l1_sectors_ == 1) return true;
    return std::ranges::none_of(earlier, [&](const Sector& one) {
      return one.number / l1_sectors_ == sector.number / l1_sectors_;
    });
  }
  void load(Tags& l1, std::uint64_t line) {
    ++traffic.l1_accesses;
    if (l1.find(line, line) != Tags::kAbsent) {
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
    Channel& channel;
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
  // The line's state if the L2 has it.
  static LineState* find(const Place& at) {
    const std::size_t slot = at.channel.tags.find(at.line, at.index);
    return slot == Tags::kAbsent ? nullptr : &at.channel.lines[slot];
  }
  LineState& allocate(const Place& at) {
    Tags& tags = at.channel.tags;
    const std::size_t slot = tags.victim(at.index);
    LineState& state = at.channel.lines[slot];
    if (!tags.is_free(slot)) {
      for (const std::uint64_t dirty : state.dirty) {
        traffic.memory_write_bytes += 32 * halves(dirty);
      }
    }
    tags.take(slot, at.line);
    state = {};
    return state;
  }
  void read(std::uint64_t sector) {
    const Place at = place(sector);
    LineState* state = find(at);
    if (state != nullptr && !state->partial) return;
    ++traffic.l2_misses;
    if (state == nullptr) state = &allocate(at);
    state->partial = false;
    traffic.memory_read_bytes += l2_sectors_ * kSector;
  }
  void write(std::uint64_t sector, std::uint64_t mask) {
    const Place at = place(sector);
    LineState* state = find(at);
    if (state == nullptr) {
      ++traffic.l2_misses;
      state = &allocate(at);
      state->partial = true;
    }
    state->dirty[sector % l2_sectors_] |= mask;
    const auto whole = state->dirty.begin() + static_cast<std::ptrdiff_t>(l2_sectors_);
    if (std::all_of(state->dirty.begin(), whole,
                    [](std::uint64_t dirty) { return dirty == ~std::uint64_t{0}; })) {
      state->partial = false;
    }
  }

  CacheShape shape_;
  std::vector<Tags> l1_;
  std::vector<Channel> l2_;
  std::uint64_t l1_sectors_;  // of a line
  std::uint64_t l2_sectors_;
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

Result<std::vector<CacheTraffic>> replay_through_caches(Reader& reader,
                                                        std::span<const CacheShape> shapes) {
  std::vector<Replay> replays;
  replays.reserve(shapes.size());
  for (const CacheShape& shape : shapes) {
    WW_TRY(check(shape));
    replays.emplace_back(shape);
  }
  Access access;
  Sectors sectors;
  std::uint32_t launch = std::numeric_limits<std::uint32_t>::max();
  while (true) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) break;
    if (access.launch != launch) {
      launch = access.launch;
      for (Replay& replay : replays) replay.begin_launch();
    }
    const Instruction& instruction = reader.instructions()[access.instruction];
    const auto touched = sectors.of(access, instruction.element_bytes);
    for (Replay& replay : replays) replay.access(touched, access.group, instruction.operation);
  }
  std::vector<CacheTraffic> traffic;
  traffic.reserve(replays.size());
  for (const Replay& replay : replays) traffic.push_back(replay.traffic);
  return traffic;
}

Result<CacheTraffic> replay_through_caches(Reader& reader, const CacheShape& shape) {
  WW_ASSIGN(traffic, replay_through_caches(reader, std::span(&shape, 1)));
  return traffic.front();
}

}  // namespace ww::sim::trace
