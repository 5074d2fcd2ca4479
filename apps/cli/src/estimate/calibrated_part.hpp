// The architecture that a calibration is of.
#pragma once

#include <string>

#include "ww/model/wire_model.hpp"

namespace ww::cli {

// Empty where the model does not say. A virtual chip's counters are named after the cards of its
// class.
[[nodiscard]] std::string calibrated_part(const model::WireModel& model);

}  // namespace ww::cli
