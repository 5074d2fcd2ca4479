// Prices a bit that crosses between the sides of a partitioned L2, or to the next die of a package,
// as a calibration measured it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "ww/core/figure.hpp"

namespace ww::sim::power {

// Interpolates the figure at a toggle rate: on the line through bits that do not toggle and random
// ones, whose rate is 0.5. The same sensor and runs stand behind both, so their ends go together;
// beyond random bits these lines may cross, and the outer ones are the ends. A line that falls
// below zero is cut there.
[[nodiscard]] inline Interval at_toggle_rate(const Interval& zero, const Interval& random,
                                             double toggle_rate) {
  constexpr double kRandomRate = 0.5;
  const auto on_line = [&](double at_zero, double at_random) {
    return std::max(0.0, at_zero + (at_random - at_zero) * toggle_rate / kRandomRate);
  };
  const double value = on_line(zero.value, random.value);
  const auto [low, high] =
      std::minmax({value, on_line(zero.low, random.low), on_line(zero.high, random.high)});
  return {value, low, high};
}

// Bounds the figure at a toggle rate where only random bits were measured. Data of another rate
// draw at most in proportion to it, and at least as random bits do. The interval contains both, and
// the value stays that of random bits. Figures below zero are cut there.
[[nodiscard]] inline Interval at_toggle_rate(const Interval& random, double toggle_rate) {
  constexpr double kRandomRate = 0.5;
  const double share = toggle_rate / kRandomRate;
  return {std::max(0.0, random.value), std::max(0.0, random.low) * std::min(1.0, share),
          std::max(0.0, random.high) * std::max(1.0, share)};
}

// Per bit and crossing [pJ]; control and clocking are in it. There is no millimetre in it, so no
// node to scale it to.
struct CrossingEnergy {
  Interval random_pj;               // of random bits, whose toggle rate is 0.5
  std::optional<Interval> zero_pj;  // of bits that do not toggle; absent: it is not known
  std::string source;
  bool is_virtual{};

  [[nodiscard]] Interval at(double toggle_rate) const {
    return zero_pj ? at_toggle_rate(*zero_pj, random_pj, toggle_rate)
                   : at_toggle_rate(random_pj, toggle_rate);
  }
};

// Per bit and link to the next die [pJ]. A calibration of a package measures random bits alone.
struct DieHopEnergy {
  Interval row_pj;     // to the next die of the row
  Interval column_pj;  // to the next die of the column
  std::string source;
  bool is_virtual{};
};

// Energy of the crossings of a network.
struct CrossingCharge {
  std::uint64_t flits{};
  double toggle_rate{};
  Interval pj_per_bit;
  Interval pj;
  std::string source;
  bool is_virtual{};
};

}  // namespace ww::sim::power
