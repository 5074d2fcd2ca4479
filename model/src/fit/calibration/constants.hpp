// The constants of a model, as combinations of the payloads' energies per bit and millimetre.
#pragma once

#include <optional>
#include <string>

#include "fit/calibration/intervals.hpp"
#include "fit/calibration/payloads.hpp"
#include "fit/solver/joint_fit.hpp"
#include "reduction/facts.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

// Whether the published distances differ enough to determine an energy per millimetre.
[[nodiscard]] bool has_contrast(const JointInput& input);

// Why flights that are known to `error` (relative, 95%) give no energy per nanosecond.
[[nodiscard]] std::string flights_say_nothing(double error);

// Fills energy_per_bit_mm, constants, lock_in, rates and states. `correction` is that of
// heat_correction(), `main` the variant whose lack of fit is judged; nothing without one.
void fill_constants(FitResult& result, const JointInput& input, const JointFit& fit,
                    const Payloads& payloads, const Uncertainty& uncertainty, const Facts& facts,
                    const std::vector<double>& correction, std::optional<std::size_t> main);

}  // namespace ww::model
