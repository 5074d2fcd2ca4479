#include "transitions/transitions.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "ww/core/vector_limit.hpp"

namespace ww::sim::gpu {
namespace {

BusDriver best(int stride) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (vector_limit() == VectorLimit::avx512 && __builtin_cpu_supports("avx512vpopcntdq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    return avx512_bus_driver(stride);
  }
  if (vector_limit() >= VectorLimit::avx2 && __builtin_cpu_supports("avx2")) {
    return avx2_bus_driver(stride);
  }
#endif
  return portable_bus_driver(stride);
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

}  // namespace ww::sim::gpu
