// The architecture that a calibration is of.
#pragma once

#include <string>

#include "ww/calibration/calibration.hpp"

namespace ww::cli {

// As counters name it: of a virtual chip, that of the instructions which it executes; else the
// calibration's own `target`. Empty where neither is known.
[[nodiscard]] std::string calibrated_part(const std::string& device, const std::string& target);

// Returns the calibration with an architecture for counters that do not name theirs: a virtual
// chip's counters are taken to be its own.
[[nodiscard]] calibration::Provenance assumed_of(calibration::Provenance provenance);

}  // namespace ww::cli
