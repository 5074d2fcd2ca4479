// What a bit pays that crosses between the sides of a partitioned L2, as a calibration measured it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace ww::sim::power {

// A figure with its 95% interval.
struct CrossingFigure {
  double value{}, low{}, high{};
};

// Of bits with this toggle rate: on the line through bits that do not toggle and random ones, whose
// rate is 0.5. The same sensor and runs stand behind both, so their ends go together. A line that
// falls below zero is cut there.
[[nodiscard]] inline CrossingFigure at_toggle_rate(const CrossingFigure& zero,
                                                   const CrossingFigure& random,
                                                   double toggle_rate) {
  constexpr double kRandomRate = 0.5;
  const auto on_line = [&](double at_zero, double at_random) {
    return std::max(0.0, at_zero + (at_random - at_zero) * toggle_rate / kRandomRate);
  };
  return {on_line(zero.value, random.value), on_line(zero.low, random.low),
          on_line(zero.high, random.high)};
}

// Per bit and crossing [pJ]; control and clocking are in it. There is no millimetre in it, so no
// node to scale it to.
struct CrossingEnergy {
  CrossingFigure random_pj;  // of random bits, whose toggle rate is 0.5
  CrossingFigure zero_pj;    // of bits that do not toggle
  std::string source;
  bool is_virtual{};

  [[nodiscard]] CrossingFigure at(double toggle_rate) const {
    return at_toggle_rate(zero_pj, random_pj, toggle_rate);
  }
};

// What the crossings of a network came to.
struct CrossingCharge {
  std::uint64_t flits{};
  double toggle_rate{};
  CrossingFigure pj_per_bit;
  CrossingFigure pj;
  std::string source;
  bool is_virtual{};
};

}  // namespace ww::sim::power
