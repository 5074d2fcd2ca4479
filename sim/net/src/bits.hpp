// Bit tricks of the allocators: find the next set bit at or after a round-robin pointer.
#pragma once

#include <bit>
#include <cstdint>

namespace ww::sim::net {

using Mask64 = std::uint64_t;
using Mask128 = unsigned __int128;

[[nodiscard]] inline int lowest(Mask64 mask) {
  return std::countr_zero(mask);
}
[[nodiscard]] inline int lowest(std::uint32_t mask) {
  return std::countr_zero(mask);
}
[[nodiscard]] inline int lowest(Mask128 mask) {
  const auto low = static_cast<Mask64>(mask);
  return low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<Mask64>(mask >> 64));
}

template <class Mask>
[[nodiscard]] inline Mask bit(int index) {
  return static_cast<Mask>(Mask{1} << index);
}

// The first set bit at or after `start`, cyclically. Precondition: mask != 0, start < width.
template <class Mask>
[[nodiscard]] inline int first_from(Mask mask, int start) {
  const Mask above = static_cast<Mask>((mask >> start) << start);
  return lowest(above != 0 ? above : mask);
}

}  // namespace ww::sim::net
