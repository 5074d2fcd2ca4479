// Generated input: the same numbers on every machine.
#pragma once

#include <cstdint>

namespace ww::workloads {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). The standard library's distributions differ between
// implementations; these do not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
  // In [0, n).
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * n) >> 32);
  }
  // In [low, high).
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24F;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ww::workloads
