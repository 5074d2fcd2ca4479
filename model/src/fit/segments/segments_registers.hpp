// Fits the energy of a bit between L1 and registers.
#pragma once

#include <vector>

#include "ww/model/segments_fit.hpp"

namespace ww::model {

// Fills the rows and diagnostics of registers_l1. Energy a bit from the L2 is regressed on
//
//   e = c + a m + r [random] + x m' [random],   m = register bits for each bit from the L2,
//
// m' = m less its mean: x is what data cost on the way to registers. Everything that is equal for
// all points (trunks, legs, caches, instructions, clocks) is in c and r; what follows bytes
// whatever they are (lanes' arithmetic) in a. `droop`: by how much bringing power to one voltage
// raised differences, relative.
void fit_registers(const std::vector<SegmentPoint>& points,
                   const std::vector<SegmentReading>& readings, double droop, SegmentsFit& fit);

}  // namespace ww::model
