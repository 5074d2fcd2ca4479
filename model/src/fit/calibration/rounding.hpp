// Errors of the fit's parameters by the steps of the
// sensor's readings where no noise dithers them.
//
// A sensor that shows multiples of q shows a steady power x with the error
//
//     r(x) = (q / pi) sum_n (-1)^n / n  exp(-2 (pi n sigma / q)^2)  sin(2 pi n x / q)
//
// on the average of many readings: a saw-tooth, smoothed by noise of standard deviation sigma
// before the rounding (Widrow and Kollar, "Quantization Noise", 2008: moments of a quantised
// Gaussian). From sigma = q / 2 on it is below 0.3% of a step. Without noise it is up to half a
// step, and one pair errs equally in every block, so that neither scatter nor a bootstrap shows it.
//
// Where x lies within its step, no reading says where noise is small: the readings are whole steps,
// wherever x was. The errors of two pairs are therefore independent, even if both show the same
// power, while the plateaus of one pair with one payload err together as long as its power stays
// where it is.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "fit/solver/joint_fit.hpp"

namespace ww::model {

// Variance of r over all positions x within a step, q^2 / 12 without noise:
//     sum_n (q / (pi n))^2 / 2  exp(-4 (pi n sigma / q)^2)
[[nodiscard]] double rounding_variance(double step_w, double sigma_w);

// The noise sigma before the rounding, from the mean square by which readings of steady powers
// scatter [W^2]. All readings together scatter by sigma^2 + q^2 / 12 (Sheppard) about the powers;
// the part r of it is the same in all readings of a power, and not in their scatter.
[[nodiscard]] double noise_before_rounding(double step_w, double mean_square_w2);

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
