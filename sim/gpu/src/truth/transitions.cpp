#include "transitions.hpp"

#include <bit>
#include <cstring>
#include <numeric>

namespace ww::sim::gpu {
namespace {

// Written as a plain loop over eight lanes; each target below compiles it to its own vector width.
template <int stride>
[[gnu::always_inline]] inline void drive_lanes(Bus& bus, const void* next) {
  std::uint64_t toggled[8];
  std::uint64_t driven[8];
  std::memcpy(driven, next, sizeof driven);
  for (unsigned lane = 0; lane < 8; ++lane) {
    toggled[lane] = bus.word[lane] ^ driven[lane];
    bus.word[lane] = driven[lane];
  }
  for (unsigned lane = 0; lane < 8; ++lane) {
    // The upper neighbour of bit i in this lane: bit i + 1 of the same word, or, interleaved,
    // bit i of the second word and bit i + 1 of the first.
    constexpr unsigned kStride = static_cast<unsigned>(stride);
    const unsigned partner = lane ^ kStride;
    const unsigned shift = stride == 0 || (lane & kStride) != 0 ? 1U : 0U;
    const std::uint64_t both = toggled[lane] & (toggled[partner] >> shift);
    const std::uint64_t differ = driven[lane] ^ (driven[partner] >> shift);
    bus.toggles[lane] += static_cast<std::uint64_t>(std::popcount(toggled[lane]));
    bus.adjacent[lane] += static_cast<std::uint64_t>(std::popcount(both));
    bus.opposite[lane] += static_cast<std::uint64_t>(std::popcount(both & differ));
  }
}

template <int stride>
void drive_portable(Bus& bus, const void* next) {
  drive_lanes<stride>(bus, next);
}

#if defined(__x86_64__)
template <int stride>
[[gnu::target("popcnt,avx2,bmi,bmi2")]] void drive_avx2(Bus& bus, const void* next) {
  drive_lanes<stride>(bus, next);
}
template <int stride>
[[gnu::target("popcnt,avx2,bmi,bmi2,avx512f,avx512bw,avx512vl,avx512vpopcntdq")]] void drive_avx512(
    Bus& bus, const void* next) {
  drive_lanes<stride>(bus, next);
}
#endif

template <int stride>
DriveFunction best() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return drive_avx512<stride>;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    return drive_avx2<stride>;
  }
#endif
  return drive_portable<stride>;
}

}  // namespace

TransitionCounts Bus::counts() const {
  return {std::accumulate(toggles.begin(), toggles.end(), std::uint64_t{}),
          std::accumulate(adjacent.begin(), adjacent.end(), std::uint64_t{}),
          std::accumulate(opposite.begin(), opposite.end(), std::uint64_t{})};
}

DriveFunction drive_function(int stride) {
  switch (stride) {
    case 1: return best<1>();
    case 2: return best<2>();
    case 4: return best<4>();
    default: return best<0>();
  }
}

DriveFunction portable_drive_function(int stride) {
  switch (stride) {
    case 1: return drive_portable<1>;
    case 2: return drive_portable<2>;
    case 4: return drive_portable<4>;
    default: return drive_portable<0>;
  }
}

// Without the instruction every count is a library call.
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target_clones("popcnt", "default")))
#endif
void
drive_narrow(std::uint64_t& word, std::uint64_t next, TransitionCounts& counts) {
  const std::uint64_t toggled = word ^ next;
  const std::uint64_t both = toggled & (toggled >> 1);
  counts.toggles += static_cast<std::uint64_t>(std::popcount(toggled));
  counts.adjacent += static_cast<std::uint64_t>(std::popcount(both));
  counts.opposite += static_cast<std::uint64_t>(std::popcount(both & (next ^ (next >> 1))));
  word = next;
}

}  // namespace ww::sim::gpu
