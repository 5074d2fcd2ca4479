// Generated input: the same numbers on every machine.
#pragma once

#include <cstdint>

#include "ww/core/split_mix.hpp"

namespace ww::workloads {

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  std::uint64_t next() { return generator_.next(); }
  std::uint32_t bits() { return static_cast<std::uint32_t>(next() >> 32); }
  // Returns an integer in [0, n).
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * n) >> 32);
  }
  // Returns a number in [low, high).
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24F;
  }

 private:
  SplitMix generator_;
};

}  // namespace ww::workloads
