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

// Per bit and crossing [pJ]; control and clocking are in it. There is no millimetre in it, so no
// node to scale it to.
struct CrossingEnergy {
  CrossingFigure random_pj;  // of random bits, whose toggle rate is 0.5
  CrossingFigure zero_pj;    // of bits that do not toggle
  std::string source;
  bool is_virtual{};

  // Of bits with this toggle rate: on the line through both. The same sensor and runs stand behind
  // both, so their ends go together. A line that falls below zero is cut there.
  [[nodiscard]] CrossingFigure at(double toggle_rate) const {
    constexpr double kRandomRate = 0.5;
    const auto on_line = [&](double zero, double random) {
      return zero + (random - zero) * toggle_rate / kRandomRate;
    };
    return {std::max(0.0, on_line(zero_pj.value, random_pj.value)),
            std::max(0.0, on_line(zero_pj.low, random_pj.low)),
            std::max(0.0, on_line(zero_pj.high, random_pj.high))};
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
