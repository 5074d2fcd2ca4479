// Transition counts for any host.
#include "transitions/eight_halves.inl"
#include "transitions/transitions.inl"

namespace ww::sim::gpu {
BusDriver portable_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
