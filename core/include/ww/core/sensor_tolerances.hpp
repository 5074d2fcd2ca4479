// Tolerances of a board's power sensor and regulator where their makers state nothing: relative 95%
// half-widths about 1. Everything that assumes such a tolerance takes it from here.
#pragma once

#include "ww/core/figure.hpp"

namespace ww {

// Gain of a board's sensor. Yang, Adamek and Armour (2023) fitted readings of 17 boards against an
// external meter. On 13 the readings are a straight line in the power (R^2 of 0.999 or more), with
// slopes that differ from 1 by -5.5, -4.6, -3.6, -3.3, -2.9, -0.7, -0.1, +0.3, +1.0, +2.4, +2.5,
// +4.6 and +6.4%: a root mean square of 3.5%, times Student's t of 2.16 for the next board, rounded
// up. The other four, whose readings are no straight line, differ by -11 to +16%.
inline constexpr double kBoardGainTolerance95 = 0.08;

// Marginal efficiency of a regulator over that at which the sensor was adjusted. Judgement: no
// maker states it for a card, and multi-phase converters change theirs by about as much over the
// load.
inline constexpr double kRegulatorSlopeTolerance95 = 0.05;

// The 95% interval of a quantity that was measured through a scale about 1, such as a sensor's
// gain: measured = scale * truth + error, with half-widths `scale_error_95` of the scale and
// `half_width` of the error. It has every truth x with (measured - x)^2 <= half_width^2 +
// (scale_error_95 x)^2 (Fieller, J. R. Stat. Soc. B 16:175, 1954), and reaches further away from 0
// than towards it. From a scale_error_95 of 1 on nothing bounds it there, and that end is infinite.
[[nodiscard]] Interval through_scale(double measured, double half_width, double scale_error_95);

}  // namespace ww
