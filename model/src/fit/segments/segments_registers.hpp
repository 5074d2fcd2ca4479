// What a bit costs between L1 and registers.
#pragma once

#include <vector>

#include "ww/model/segments_fit.hpp"

namespace ww::model {

// Heat of the wires raises leakage: at most 0.1 K/W times 0.5 W/K of what they draw
// (docs/method.md, traps); between runs of a second part of it shows.
inline constexpr double most_heat_share = 0.05;
// More power lowers the voltage, and with it all power: by V^2, a quarter that leaks by up to V^4.
inline constexpr double power_exponent = 2;
inline constexpr double most_exponent_off = 0.5;

// Fills the rows and diagnostics of registers_l1. Energy a bit from the L2 is regressed on
//
//   e = c + a m + r [random] + x m' [random],   m = register bits for each bit from the L2,
//
// m' = m less its mean: x is what data cost on the way to registers. Everything that is alike for
// all points (trunks, legs, caches, instructions, clocks) is in c and r; what follows bytes
// whatever they are (lanes' arithmetic) in a. `droop`: by how much bringing power to one voltage
// raised differences, relative.
void fit_registers(const std::vector<SegmentPoint>& points,
                   const std::vector<SegmentReading>& readings, double droop, SegmentsFit& fit);

}  // namespace ww::model
