// Transition counts for hosts with AVX-512 F, BW, VL and VPOPCNTDQ; reached only where they exist.
#include "transitions/eight_whole.inl"
#include "transitions/transitions.inl"

namespace ww::sim::gpu {
BusDriver avx512_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
