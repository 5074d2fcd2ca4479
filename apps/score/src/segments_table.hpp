// Compares the result of `wirewatt segments` with the sealed truth.
#pragma once

#include "ww/calibration/calibration.hpp"
#include "ww/core/table.hpp"
#include "ww/model/segments_fit.hpp"

namespace ww::score {

// One row a segment: status and reason, fit with its interval, the truth, what could at best be
// sensed, and whether the interval holds that.
[[nodiscard]] Table segments_table(const model::SegmentsFit& fit,
                                   const calibration::Revealed& truth);

}  // namespace ww::score
