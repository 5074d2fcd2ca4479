// Bit tricks of the allocators: find the next set bit at or after a round-robin pointer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ww::sim::net {

using Mask64 = std::uint64_t;
using Mask128 = unsigned __int128;

// The index of the lowest set bit. Precondition: mask != 0. (std::countr_zero tests for 0.)
[[nodiscard]] inline int lowest(Mask64 mask) {
  return __builtin_ctzll(mask);
}
[[nodiscard]] inline int lowest(std::uint32_t mask) {
  return __builtin_ctz(mask);
}
[[nodiscard]] inline int lowest(Mask128 mask) {
  const auto low = static_cast<Mask64>(mask);
  return low != 0 ? __builtin_ctzll(low) : 64 + __builtin_ctzll(static_cast<Mask64>(mask >> 64));
}

template <class Mask>
[[nodiscard]] inline Mask bit(int index) {
  return static_cast<Mask>(Mask{1} << index);
}

// The same for masks of any kind, as WideMask::of_bit() and field().
template <class Mask>
[[nodiscard]] constexpr Mask mask_of_bit(std::uint32_t index) {
  if constexpr (requires { Mask::of_bit(index); }) {
    return Mask::of_bit(index);
  } else {
    return static_cast<Mask>(Mask{1} << index);
  }
}
template <class Mask>
[[nodiscard]] constexpr std::uint32_t field_of(const Mask& mask, std::uint32_t first,
                                               std::uint32_t count) {
  if constexpr (requires { mask.field(first, count); }) {
    return mask.field(first, count);
  } else {
    return static_cast<std::uint32_t>(static_cast<Mask>(mask >> first) &
                                      ((std::uint64_t{1} << count) - 1));
  }
}

// `mask` if the condition holds, else 0; without a branch, for conditions that nobody can predict.
template <class Mask>
[[nodiscard]] inline Mask only_if(bool condition, Mask mask) {
  return mask & static_cast<Mask>(-static_cast<Mask>(condition));
}

// The first set bit at or after `start`, cyclically. Precondition: mask != 0, start < width.
template <class Mask>
[[nodiscard]] inline int first_from(Mask mask, int start) {
  const Mask above = static_cast<Mask>((mask >> start) << start);
  return lowest(static_cast<Mask>(above | only_if(above == 0, mask)));
}

// (index + 1) modulo count.
[[nodiscard]] inline int next_of(int index, int count) {
  const int next = index + 1;
  return next & -static_cast<int>(next != count);
}

template <class Mask>
[[nodiscard]] inline Mask without_lowest(Mask mask) {
  return static_cast<Mask>(mask & (mask - 1));
}

// Calls act(index) for each set bit, from the lowest on. The mask may change meanwhile.
template <class Id, class Mask, class Act>
inline void for_each_bit(Mask mask, const Act& act) {
  for (; mask != 0; mask = without_lowest(mask)) {
    act(Id(lowest(mask)));
  }
}

// Bits in which two words of `bytes` bytes differ.
[[nodiscard]] inline std::uint64_t transitions(const std::byte* before, const std::byte* after,
                                               std::size_t bytes) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    const std::size_t length = std::min(bytes - at, sizeof a);
    std::memcpy(&a, before + at, length);
    std::memcpy(&b, after + at, length);
    count += static_cast<std::uint64_t>(std::popcount(a ^ b));
  }
  return count;
}

}  // namespace ww::sim::net
