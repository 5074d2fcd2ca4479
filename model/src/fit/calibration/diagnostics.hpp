// Diagnostics of the fit: the leverage of single plateaus, how well each is predicted by the
// others, how close the fit is to singular, and which of its terms the data support.
#pragma once

#include "fit/calibration/intervals.hpp"
#include "fit/solver/joint_fit.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

// `main` is the variant whose terms are compared.
[[nodiscard]] Diagnostics diagnose(const JointInput& input, const JointFit& fit,
                                   const Uncertainty& uncertainty, std::size_t main);

}  // namespace ww::model
