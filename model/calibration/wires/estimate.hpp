// An application's joules by segment of the wires of one die.
#pragma once

#include <cstddef>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

inline constexpr std::size_t kMaxShownKernels = 20;  // the others are in the JSON alone

// With a model from a calibration or from the literature. Errors: those of model::estimate().
[[nodiscard]] Result<Answer> estimate_wires(const model::WireModel& model, const Traffic& traffic,
                                            const EstimateRequest& request);

}  // namespace ww::calibration
