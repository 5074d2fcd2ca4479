// Transition counts for hosts with AVX2 and POPCNT; reached only where they exist.
#include "transitions/transitions.inl"

namespace ww::sim::gpu {
BusDriver avx2_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
