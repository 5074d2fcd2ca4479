#include "stub_levels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ww::microbench::testing {
namespace {

constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint64_t kSectorBytes = 32;

// Share of ones among the bits at an address; half where they are not in one allocation.
double share_of_ones(PtxMemory& memory, std::uint64_t address, std::size_t bytes) {
  const std::byte* at = memory.at(address, bytes);
  if (at == nullptr) return 0.5;
  int ones = 0;
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    ones += std::popcount(word);
  }
  return static_cast<double>(ones) / (8.0 * static_cast<double>(bytes));
}

}  // namespace

StubCache::StubCache(std::uint64_t bytes)
    : sets_(std::max<std::size_t>(bytes / (kLineBytes * kWays), 1)), ways_(sets_ * kWays) {}

StubCache::Looked StubCache::look(std::uint64_t line, bool allocates, bool writes, double ones) {
  Way* const begin = &ways_[line % sets_ * kWays];
  Way* oldest = begin;
  ++now_;
  for (Way* way = begin; way != begin + kWays; ++way) {
    if (way->line == line) {
      way->used = now_;
      if (writes) {
        way->dirty = true;
        way->ones = ones;
      }
      return {true, false, 0};
    }
    if (way->used < oldest->used) oldest = way;
  }
  if (!allocates) return {};
  const Looked looked{false, oldest->dirty, oldest->ones};
  *oldest = {line, now_, ones, writes};
  return looked;
}

void StubCache::clear() {
  std::ranges::fill(ways_, Way{});
}

StubLevels::StubLevels(const StubCard& card)
    : card_(card), l1_(card.sms, StubCache(card.l1_bytes)), l2_(card.l2_bytes) {}

void StubLevels::begin_launch() {
  for (StubCache& cache : l1_) cache.clear();
}

// Random bits cost the figure, zeros half of it.
double StubLevels::of_bits(double joules_per_bit, double bits, double ones) const {
  return joules_per_bit * bits * (0.5 + ones);
}

StubLevels::Taken StubLevels::take_line(const PtxAccess& access, std::uint64_t line, double ones) {
  const std::uint64_t address = line * kLineBytes;
  const double bits = 8.0 * static_cast<double>(kLineBytes);
  Taken taken;
  const auto l2_costs = [&](double moved) {
    taken.joules += of_bits(card_.joules_per_l2_bit, moved, ones);
    taken.joules += card_.far_share(access.sm, address) * moved * card_.joules_per_crossing_bit;
  };
  if (access.reads && !access.past_l1 && l1_[access.sm].look(line, true).hit) {
    taken.ticks = static_cast<std::uint32_t>(std::lround(card_.l1_ticks));
    return taken;
  }
  l2_costs(bits);
  const auto looked = l2_.look(line, true, !access.reads, ones);
  if (looked.dirty_left) {
    taken.joules += of_bits(card_.joules_per_memory_bit, bits, looked.ones_left);
  }
  double ticks = access.reads ? card_.ticks(access.sm, address) : card_.store_ticks;
  // Whole lines are written, so that none is fetched before.
  if (access.reads && !looked.hit) {
    taken.joules += of_bits(card_.joules_per_memory_bit, bits, ones);
    ticks += card_.memory_ticks;
  }
  taken.ticks = static_cast<std::uint32_t>(std::lround(ticks));
  return taken;
}

StubLevels::Taken StubLevels::take(const PtxAccess& access, PtxMemory& memory) {
  const std::uint64_t span = (access.lanes - 1) * access.lane_stride + access.bytes;
  const std::uint64_t first = access.address / kLineBytes;
  const std::uint64_t last = (access.address + span - 1) / kLineBytes;
  const double payload = 8.0 * static_cast<double>(access.bytes * access.lanes);
  Taken all;
  double ones = access.ones;
  for (std::uint64_t line = first; line <= last; ++line) {
    if (access.reads) ones = share_of_ones(memory, line * kLineBytes, kLineBytes);
    const Taken one = take_line(access, line, ones);
    all.ticks = std::max(all.ticks, one.ticks);
    all.joules += one.joules;
    // The L1 looks up the sectors that lanes ask for; stores pass through it.
    const std::uint64_t from = std::max(access.address, line * kLineBytes);
    const std::uint64_t to = std::min(access.address + span, (line + 1) * kLineBytes);
    const auto sectors = static_cast<double>((to - 1) / kSectorBytes - from / kSectorBytes + 1);
    all.joules += of_bits(card_.joules_per_l1_bit, 8.0 * kSectorBytes * sectors, ones);
  }
  all.joules += of_bits(card_.joules_per_register_bit, payload, ones);
  return all;
}

}  // namespace ww::microbench::testing
