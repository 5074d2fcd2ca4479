// Prices a bit on wires, as a calibration of a chip has it: on those of the chip's own network, or
// on the links of another.
#pragma once

#include <cstdint>
#include <string>

#include "ww/sim/power/crossing_energy.hpp"

namespace ww::sim::power {

// Per bit and millimetre [fJ], with 95% intervals, at the chip's own voltage, and at its own node
// unless `source` says otherwise. Clock, control and repeaters along the way are in it.
struct ChipWires {
  Interval random_fj;  // of random bits, whose toggle rate is 0.5
  Interval zero_fj;    // of bits that do not toggle
  std::string source;
  bool is_virtual{};

  [[nodiscard]] Interval at(double toggle_rate) const {
    return at_toggle_rate(zero_fj, random_fj, toggle_rate);
  }
};

// Energy of the wires between pairs of nodes, in one direction or in both.
struct PairWireCharge {
  std::uint64_t flits{};
  double bits{};         // of these flits
  double bit_mm{};       // bits times the length of their way
  double toggle_rate{};  // transitions per bit, each weighted by the length of its way
  Interval fj_per_bit_mm;
  Interval pj;
  // Length of the way of a bit, in the mean; 0 where no bit was sent.
  [[nodiscard]] double mean_mm() const { return bits > 0 ? bit_mm / bits : 0.0; }
};
// Energy of the links of a network.
struct LinkWiresCharge {
  double bit_mm{};       // bits times the millimetres of links that they passed
  double toggle_rate{};  // transitions per bit, each weighted by the length of its link
  Interval fj_per_bit_mm;
  Interval pj;
  std::string source;
  bool is_virtual{};
};

struct ChipWiresCharge {
  PairWireCharge requests;  // all packets but replies
  PairWireCharge replies;
  // Both. They share the calibration's errors, so the ends of their intervals add.
  PairWireCharge all;
  std::string source;
  bool is_virtual{};
};

}  // namespace ww::sim::power
