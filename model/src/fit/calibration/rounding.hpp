// Errors of the fit's parameters by the steps of the sensor's readings where no noise dithers them
// (fit/solver/reading_steps.hpp).
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "fit/solver/joint_fit.hpp"

namespace ww::model {

// Covariance by r of the fit's parameters `columns`:
//
//     C_uv = rounding_variance * sum_g G_gu G_gv,   G_gu = sum_{p in g} d(parameter u) / dP_p
//
// A group g has the plateaus of one pair with one payload, or the idle windows of one state, whose
// fitted powers lie so near to each other that their errors are correlated. Idle power is the lower
// one, and a noise that is a share of power dithers it less. Zero where the resolution is not
// known.
[[nodiscard]] Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit,
                                                  const std::vector<Eigen::Index>& columns);

// Covariance of the k_v by r.
[[nodiscard]] Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit);

}  // namespace ww::model
