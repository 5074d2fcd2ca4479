// Transition counts for hosts with AVX-512 F, BW, VL and VPOPCNTDQ; reached only where they exist.
#include <immintrin.h>

#define WW_BITS_IN(word) \
  reinterpret_cast<Eight>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(word)))

#include "transitions/transitions.inl"

namespace ww::sim::gpu {
BusDriver avx512_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
