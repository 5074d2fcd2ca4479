// How sure the fit is: covariance at the optimum, checked against a bootstrap over blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "joint_fit.hpp"

namespace ww::model {

struct Uncertainty {
  Eigen::MatrixXd covariance;  // of the variants' energies k_v, from the curvature of the fit
  Eigen::MatrixXd bootstrap;   // the same from resampling; empty without replicates
  Eigen::MatrixXd systematic;  // what no repetition shows (payloads.hpp); empty: nothing
  double degrees_of_freedom{};
  double scatter{1};  // variance of the scaled residuals, at least 1
};

// Resamples blocks within each variant where there are at least six of them. Fewer blocks cannot
// tell their own scatter: there the residuals of single plateaus change sign at random (wild
// bootstrap; Wu 1986, Annals of Statistics 14:1261). Refits the path parameters on the linearised
// problem and draws the idle parameters from their covariance, so a replicate costs one linear
// solve. Deterministic for a seed.
[[nodiscard]] Uncertainty assess(const JointInput& input, const JointFit& fit, int replicates,
                                 std::uint64_t seed);

// What wires' own heat would add to each variant's k_v if it were not taken out, negated
// [fJ/bit/mm]: k_v times the rise of leakage per watt that readings of the variant's loads see,
// -k I'(T) sum_j a_j heat_share_j. Of all but the hot spot.
[[nodiscard]] std::vector<double> heat_correction(const JointInput& input, const JointFit& fit);

// 95% half-width of the combination sum_v weights[v] k_v: Student's t on the larger of the two
// standard errors, and on the systematic part.
[[nodiscard]] double half_width_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights);

}  // namespace ww::model
