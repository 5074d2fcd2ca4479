// SplitMix64 (Steele, Lea and Flood, OOPSLA'14) passes BigCrush and accepts any seed. The standard
// library's shuffles and distributions differ between implementations. A file that is read later,
// or on another machine, needs numbers that are the same everywhere.
#pragma once

#include <cstdint>

namespace ww {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ww
