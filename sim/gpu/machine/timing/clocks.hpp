// Two clocks that tick side by side, exactly.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

namespace ww::sim::gpu::timing {

// Cycle n of clock `to` is n * from / to cycles of clock `from` after both began.
class ClockRatio {
 public:
  ClockRatio() = default;
  // Makes the ratio of clocks in Hz, kept to the kilohertz.
  ClockRatio(double from_hz, double to_hz)
      : from_(std::llround(from_hz * 1e-3)), to_(std::llround(to_hz * 1e-3)) {
    const std::int64_t common = std::gcd(from_, to_);
    from_ /= common;
    to_ /= common;
  }
  // The first cycle of `to` that does not begin before cycle `n` of `from`.
  [[nodiscard]] std::int64_t forth(std::int64_t n) const {
    return from_ == to_ ? n : (n * to_ + from_ - 1) / from_;
  }
  // The first cycle of `from` that does not begin before cycle `n` of `to`.
  [[nodiscard]] std::int64_t back(std::int64_t n) const {
    return from_ == to_ ? n : (n * from_ + to_ - 1) / to_;
  }

 private:
  std::int64_t from_{1};
  std::int64_t to_{1};
};

}  // namespace ww::sim::gpu::timing
