#include "transitions/transitions.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace ww::sim::gpu {
namespace {

BusDriver best(int stride) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return avx512_bus_driver(stride);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    return avx2_bus_driver(stride);
  }
#endif
  return portable_bus_driver(stride);
}

[[gnu::always_inline]] inline void count_narrow(std::uint64_t& word, std::uint64_t next,
                                                TransitionCounts& counts) {
  const std::uint64_t toggled = word ^ next;
  const std::uint64_t both = toggled & (toggled >> 1);
  counts.toggles += static_cast<std::uint64_t>(std::popcount(toggled));
  counts.adjacent += static_cast<std::uint64_t>(std::popcount(both));
  counts.opposite += static_cast<std::uint64_t>(std::popcount(both & (next ^ (next >> 1))));
  word = next;
}

}  // namespace

TransitionCounts Bus::counts() const {
  return {std::accumulate(toggles.begin(), toggles.end(), std::uint64_t{}),
          std::accumulate(adjacent.begin(), adjacent.end(), std::uint64_t{}),
          std::accumulate(opposite.begin(), opposite.end(), std::uint64_t{})};
}

BusDriver bus_driver(int stride) {
  static const std::array<BusDriver, 5> drivers{best(0), best(1), best(2), best(0), best(4)};
  const auto index = static_cast<std::size_t>(stride);
  return drivers[index < drivers.size() ? index : 0];
}

// Without the instruction every count is a library call.
#if defined(__x86_64__) && defined(__GNUC__)
#define WW_POPCOUNT __attribute__((target_clones("popcnt", "default")))
#else
#define WW_POPCOUNT
#endif

WW_POPCOUNT void drive_narrow(std::uint64_t& word, std::uint64_t next, TransitionCounts& counts) {
  count_narrow(word, next, counts);
}

WW_POPCOUNT void drive_narrow_run(std::uint64_t& word, const NarrowRun& run,
                                  TransitionCounts& counts) {
  TransitionCounts sum;
  std::uint64_t held = word;
  for (unsigned i = 0; i < run.count; ++i) {
    const std::uint64_t sequence = (run.sequence + i) & 0xFFU;
    count_narrow(held, (run.first + i * run.step) | sequence << run.sequence_at, sum);
  }
  word = held;
  counts += sum;
}

#undef WW_POPCOUNT

}  // namespace ww::sim::gpu
