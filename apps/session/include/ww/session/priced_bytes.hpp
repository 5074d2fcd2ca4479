// Prices a number of bytes by a calibration's wires, for a program whose data are not known.
#pragma once

#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

// Joules of `bytes` in each segment, or the reason why a segment has none.
[[nodiscard]] Result<model::KernelEstimate> price_bytes(const model::WireModel& wires,
                                                        double bytes);

}  // namespace ww::cli
