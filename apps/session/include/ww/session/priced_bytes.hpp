// Prices a number of bytes by a calibration's wires, for a program whose data are not known.
#pragma once

#include <optional>

#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

// Joules of `bytes` in each segment, or the reason why a segment has none.
[[nodiscard]] Result<model::KernelEstimate> price_bytes(const model::WireModel& wires,
                                                        double bytes);

// Joules of the wires between L2 and memory for `bytes` of any data: the upper end of their
// interval. Absent where the calibration has no figure of that segment.
[[nodiscard]] std::optional<double> l2_memory_at_most_j(const model::WireModel& wires,
                                                        double bytes);

}  // namespace ww::session
