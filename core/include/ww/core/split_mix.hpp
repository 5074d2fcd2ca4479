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

  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  // Mean 0, standard deviation 1; nearly normal, and never beyond 6.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum - 6;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ww
