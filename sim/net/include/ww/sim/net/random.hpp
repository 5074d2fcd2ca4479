// The random numbers of traffic generation: xoshiro256** (Blackman and Vigna, 2018), seeded through
// splitmix64. The same seed gives the same sequence on every machine.
#pragma once

#include <cstdint>

namespace ww::sim::net {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // 64 random bits.
  std::uint64_t bits() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). Precondition: 0 < bound.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((bits() >> 32) * bound) >> 32);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  // 64 independent coins, each 1 with probability threshold / 2^32. Bits of the threshold are
  // compared from the top, all lanes at once, until every lane is decided (about 8 draws).
  std::uint64_t coins(std::uint64_t threshold) {
    if (threshold >= (std::uint64_t{1} << 32)) {
      return ~std::uint64_t{0};
    }
    std::uint64_t result = 0;
    std::uint64_t undecided = ~std::uint64_t{0};
    for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0 && undecided != 0; bit >>= 1) {
      const std::uint64_t draw = bits();
      if ((threshold & bit) != 0) {
        result |= undecided & ~draw;
        undecided &= draw;
      } else {
        undecided &= ~draw;
      }
    }
    return result;
  }

 private:
  static std::uint64_t rotate(std::uint64_t value, int by) {
    return (value << by) | (value >> (64 - by));
  }
  std::uint64_t state_[4];
};

}  // namespace ww::sim::net
