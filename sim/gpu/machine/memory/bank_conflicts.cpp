#include "machine/memory/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr unsigned kBanks = 32;
constexpr unsigned kWordBytes = 4;
constexpr U64 kAllLanes = ~U64{0};

template <bool Atomic>
std::int64_t bank_cycles(const U32* address, U32 offset, U64 exec, const LocalSpan& span) {
  constexpr U32 kNoWord = ~U32{0};
  std::int64_t cycles = 0;
  for (unsigned half = 0; half < 2; ++half) {
    const auto enabled = static_cast<U32>(exec >> (half * 32));
    if (std::popcount(span.banks[half]) == std::popcount(enabled)) {  // each lane has its own bank
      ++cycles;
      continue;
    }
    U32 held[kBanks];
    std::fill_n(held, kBanks, kNoWord);
    std::uint8_t depth[kBanks] = {};
    for (U32 set = enabled; set != 0; set &= set - 1) {
      const unsigned lane = half * 32 + static_cast<unsigned>(std::countr_zero(set));
      const U32 word = (address[lane] + offset) / kWordBytes;
      const U32 bank = word % kBanks;
      depth[bank] = static_cast<std::uint8_t>(depth[bank] + (Atomic || held[bank] != word ? 1 : 0));
      held[bank] = word;
    }
    cycles += *std::max_element(depth, depth + kBanks);
  }
  return cycles;
}

// An access whose lanes later ones are compared with.
struct alignas(64) Earlier {
  U32 address[kLanes];
  U64 exec;  // 0: none yet
  U32 offset;
  LocalAccess access;
};

constexpr std::size_t kEarlier = 32;
constinit thread_local std::array<Earlier, kEarlier> earlier_accesses{};

// Returns how far the access lies behind the earlier one; nothing where that does not decide. If
// the lanes of two accesses lie equally far from each other, whole words apart and without a wrap
// at 2^32, each lane of one meets the same lanes on its bank as in the other.
std::optional<std::int32_t> distance(const Earlier& earlier, const U32* address, U32 offset,
                                     U64 exec, const U32* mask) {
  if (earlier.exec != exec) return std::nullopt;
  const auto first = static_cast<std::size_t>(std::countr_zero(exec));
  const U32 apart = address[first] - earlier.address[first];
  const auto moved = static_cast<std::int32_t>(apart + offset - earlier.offset);
  if (moved % static_cast<std::int32_t>(kWordBytes) != 0 ||
      std::int64_t{earlier.access.first} + moved < 0 ||
      std::int64_t{earlier.access.last} + moved > std::numeric_limits<U32>::max() ||
      !lanes().all_apart(address, earlier.address, apart, mask)) {
    return std::nullopt;
  }
  return moved;
}

}  // namespace

LocalAccess find_local_access(std::uint32_t instruction, const U32* address, U32 offset, U64 exec,
                              const U32* mask) {
  if (exec == 0) return {.cycles = 2};
  const auto enabled = static_cast<U32>(std::popcount(exec));
  Earlier& earlier = earlier_accesses[(instruction + enabled) % kEarlier];
  if (const auto moved = distance(earlier, address, offset, exec, mask)) {
    const auto by = static_cast<U32>(*moved);
    const LocalAccess& access = earlier.access;
    return {access.first + by, access.last + by, access.cycles, access.in_row};
  }
  const LocalSpan span = lanes().local_span(address, offset, mask);
  const std::int64_t cycles = bank_cycles<false>(address, offset, exec, span);
  const bool in_row = span.in_row && exec == kAllLanes;
  std::memcpy(earlier.address, address, sizeof earlier.address);
  earlier.exec = exec;
  earlier.offset = offset;
  earlier.access = {span.first, span.last, cycles, in_row};
  return {span.first, span.last, cycles, in_row};
}

std::int64_t atomic_bank_cycles(const U32* address, U32 offset, U64 exec, const U32* mask) {
  return bank_cycles<true>(address, offset, exec, lanes().local_span(address, offset, mask));
}

}  // namespace ww::sim::gpu::exec
