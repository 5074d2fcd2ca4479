// What the steps of the sensor's readings do to the energies k_v where no noise dithers them.
//
// A sensor that shows multiples of q shows a steady power x with the error
//
//     r(x) = (q / pi) sum_n (-1)^n / n  exp(-2 (pi n sigma / q)^2)  sin(2 pi n x / q)
//
// on the average of many readings: a saw-tooth, smoothed by noise of standard deviation sigma
// before the rounding (Widrow and Kollar, "Quantization Noise", 2008: moments of a quantised
// Gaussian). From sigma = q / 2 on it is below 0.3% of a step. Without noise it is up to half a
// step, and pairs that draw alike err alike in every block, so that neither scatter nor a bootstrap
// shows it.
#pragma once

#include <Eigen/Dense>

#include "fit/solver/joint_fit.hpp"

namespace ww::model {

// Covariance of the k_v by r, where any position of the powers among the steps is equally likely:
//
//     C_uv = sum_n (q / (pi n))^2 / 2  exp(-4 (pi n sigma / q)^2)  Re(S_un conj(S_vn)),
//     S_vn = sum_p (dk_v / dP_p) exp(2 pi i n P_p / q)
//
// P_p is the fitted power of stream p. sigma is the scatter of readings within the streams less
// that of the steps themselves, q / sqrt(12) (Sheppard). Zero where the resolution is not known.
[[nodiscard]] Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit);

}  // namespace ww::model
