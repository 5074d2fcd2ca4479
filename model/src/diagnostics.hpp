// What the fit says about itself: how hard single plateaus pull, how well each is foretold by the
// others, how close to singular it is, and which of its terms the data ask for.
#pragma once

#include "intervals.hpp"
#include "joint_fit.hpp"
#include "ww/model/fit.hpp"

namespace ww::model {

// `main` is the variant whose terms are compared.
[[nodiscard]] Diagnostics diagnose(const JointInput& input, const JointFit& fit,
                                   const Uncertainty& uncertainty, std::size_t main);

}  // namespace ww::model
