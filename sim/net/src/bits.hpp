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

// Make masks of any kind, as WideMask::of_bit() and field() do.
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

// One of two numbers, by a move and not by a branch where nobody can predict the condition.
[[nodiscard]] inline std::uint32_t either(bool condition, std::uint32_t yes, std::uint32_t no) {
  return __builtin_expect_with_probability(condition ? 1 : 0, 1, 0.5) != 0 ? yes : no;
}

// 1 if the condition holds, else 0, for arithmetic that the compiler must not make a branch of.
[[nodiscard]] inline std::uint32_t as_number(bool condition) {
  std::uint32_t number = condition ? 1 : 0;
  asm("" : "+r"(number));  // NOLINT(hicpp-no-assembler): what it is, the compiler cannot see
  return number;
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

// Set bits. std::popcount would be a call: not every host of this architecture has an instruction
// for it.
[[nodiscard]] constexpr int ones(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;  // of each byte
  return static_cast<int>(word * 0x0101010101010101U >> 56);
}

// The index of the set bit that has n others below it. Precondition: there is one.
[[nodiscard]] inline int nth_bit(std::uint64_t mask, int n) {
  const int first = lowest(mask);
  const std::uint64_t up = mask >> first;
  if ((up & (up + 1)) == 0) {  // no gaps
    return first + n;
  }
  for (; n > 0; --n) {
    mask = without_lowest(mask);
  }
  return lowest(mask);
}

// The first bytes of a word in memory, at most 8; the others are zero.
[[nodiscard]] inline std::uint64_t load_word(const std::byte* bytes, std::size_t count) {
  std::uint64_t word = 0;
  if (count >= sizeof word) {
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  for (std::size_t i = count; i-- > 0;) {
    word = word << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return word;
}

// Set bits of a range of bytes.
[[nodiscard]] inline std::uint64_t ones(const std::byte* bytes, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    sum += static_cast<std::uint64_t>(ones(load_word(bytes + at, count - at)));
  }
  return sum;
}

// Bits in which two ranges of `count` bytes differ.
[[nodiscard]] inline std::uint64_t transitions(const std::byte* before, const std::byte* after,
                                               std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
    sum += static_cast<std::uint64_t>(
        ones(load_word(before + at, count - at) ^ load_word(after + at, count - at)));
  }
  return sum;
}

}  // namespace ww::sim::net
