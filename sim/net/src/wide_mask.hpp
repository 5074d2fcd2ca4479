// Bit masks of more than 128 bits, with the operations of bits.hpp: the input VCs of routers with
// many ports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bits.hpp"

namespace ww::sim::net {

template <std::size_t kWords>
class WideMask {
 public:
  constexpr WideMask() = default;
  constexpr WideMask(std::uint64_t low) { words_[0] = low; }
  [[nodiscard]] static constexpr WideMask of_bit(std::uint32_t index) {
    WideMask mask;
    mask.words_[index / 64] = std::uint64_t{1} << (index % 64);
    return mask;
  }

  constexpr bool operator==(const WideMask&) const = default;
  constexpr WideMask& operator|=(const WideMask& other) {
    return combine(other, [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  constexpr WideMask& operator&=(const WideMask& other) {
    return combine(other, [](std::uint64_t a, std::uint64_t b) { return a & b; });
  }
  [[nodiscard]] friend constexpr WideMask operator|(WideMask a, const WideMask& b) {
    return a |= b;
  }
  [[nodiscard]] friend constexpr WideMask operator&(WideMask a, const WideMask& b) {
    return a &= b;
  }
  [[nodiscard]] constexpr WideMask operator~() const {
    WideMask all;
    for (std::size_t i = 0; i < kWords; ++i) {
      all.words_[i] = ~words_[i];
    }
    return all;
  }
  [[nodiscard]] constexpr WideMask operator<<(std::uint32_t count) const {
    WideMask moved;
    const std::size_t whole = count / 64;
    for (std::size_t i = kWords; i-- > whole;) {
      moved.words_[i] = words_[i - whole] << (count % 64);
      if (count % 64 != 0 && i > whole) {
        moved.words_[i] |= words_[i - whole - 1] >> (64 - count % 64);
      }
    }
    return moved;
  }
  // `count` bits (at most 32) from `first` on.
  [[nodiscard]] constexpr std::uint32_t field(std::uint32_t first, std::uint32_t count) const {
    const std::size_t word = first / 64;
    std::uint64_t bits = words_[word] >> (first % 64);
    if (first % 64 != 0 && word + 1 < kWords) {
      bits |= words_[word + 1] << (64 - first % 64);
    }
    return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
  }

  [[nodiscard]] friend int lowest(const WideMask& mask) {
    std::size_t i = 0;
    while (mask.words_[i] == 0) {
      ++i;
    }
    return static_cast<int>(64 * i) + lowest(mask.words_[i]);
  }
  [[nodiscard]] friend WideMask without_lowest(WideMask mask) {
    for (std::uint64_t& word : mask.words_) {
      if (word != 0) {
        word &= word - 1;
        break;
      }
    }
    return mask;
  }
  [[nodiscard]] friend WideMask only_if(bool condition, const WideMask& mask) {
    return condition ? mask : WideMask{};
  }
  // The first set bit at or after `start`, cyclically. Precondition: mask != 0.
  [[nodiscard]] friend int first_from(const WideMask& mask, int start) {
    const auto from = static_cast<std::size_t>(start);
    std::uint64_t word = mask.words_[from / 64] & ~std::uint64_t{0} << (from % 64);
    for (std::size_t i = from / 64;;) {
      if (word != 0) {
        return static_cast<int>(64 * i) + lowest(word);
      }
      if (++i == kWords) {
        return lowest(mask);
      }
      word = mask.words_[i];
    }
  }

 private:
  template <class Combine>
  constexpr WideMask& combine(const WideMask& other, const Combine& of) {
    for (std::size_t i = 0; i < kWords; ++i) {
      words_[i] = of(words_[i], other.words_[i]);
    }
    return *this;
  }

  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace ww::sim::net
