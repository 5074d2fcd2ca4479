// An application's joules by segment of the wires of one die.
#pragma once

#include <cstddef>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

// Estimates by a model of a calibration or the literature. Errors: those of model::estimate().
[[nodiscard]] Result<Answer> estimate_wires(const model::WireModel& model, const Traffic& traffic,
                                            const EstimateRequest& request);

// Says below a table that shows some of the kernels how many are left out, and how to see them.
void add_more_kernels(std::vector<Block>& text, std::size_t kernels, std::size_t shown);

}  // namespace ww::calibration
