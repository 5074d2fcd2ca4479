// Random numbers that are the same on every platform and standard library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "ww/core/split_mix.hpp"
#include "ww/core/statistics.hpp"

namespace ww::sim::gpu {

// xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) {
    SplitMix seeds(seed);
    for (auto& word : state_) word = seeds.next();
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  double log_uniform(double low, double high) { return low * std::pow(high / low, unit()); }
  int integer(int low, int high) {  // both ends included
    return low + static_cast<int>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }

  // Standard normal to a few per mille of its density: a binomial of 64 fair bits, smoothed over
  // its steps. Two draws, no transcendental function: noise is drawn thrice a sensor tick.
  double normal() {
    const double steps = static_cast<double>(std::popcount(bits())) - 32.5 + unit();
    return steps * 0.249351;  // 1 / sqrt(16 + 1/12)
  }

  // Normal with a 95% half-width, cut at 2.5 standard deviations.
  double within_tolerance(double tolerance_95) {
    double value = normal();
    while (std::abs(value) > 2.5) {
      value = normal();
    }
    return value * tolerance_95 / kNormal95;
  }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace ww::sim::gpu
