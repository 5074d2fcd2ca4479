// Uncertainty of the fit: covariance at the optimum, compared with a bootstrap over blocks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fit/solver/joint_fit.hpp"

namespace ww::model {

struct Uncertainty {
  Eigen::MatrixXd covariance;  // of the variants' energies k_v, from the curvature of the fit
  Eigen::MatrixXd bootstrap;   // covariance of k_v from resampling; empty without replicates
  Eigen::MatrixXd systematic;  // errors that no repetition shows (payloads.hpp); empty: none
  // Summands of `systematic`, by name.
  std::vector<std::pair<std::string, Eigen::MatrixXd>> systematic_parts;
  // How far the k_v move by one standard deviation of an assumed load line, and how many of these
  // the steepest and the flattest line are away. Its variance is in `systematic`. Empty: none.
  Eigen::VectorXd by_load_line;
  double steepest_sigmas{}, flattest_sigmas{};
  double degrees_of_freedom{};
  double scatter{1};  // variance of the scaled residuals, at least 1
};

// Resamples blocks within each variant where there are at least six of them. Fewer blocks cannot
// show their own scatter: there the residuals of single plateaus change sign at random (wild
// bootstrap; Wu 1986, Annals of Statistics 14:1261). Refits the path parameters on the linearised
// problem and draws the idle parameters from their covariance, so a replicate costs one linear
// solve. Deterministic for a seed.
[[nodiscard]] Uncertainty assess(const JointInput& input, const JointFit& fit, int replicates,
                                 std::uint64_t seed);

// Correction of each variant's k_v for the heat of the wires themselves [fJ/bit/mm]: minus k_v
// times the rise of leakage per watt that readings of the variant's loads see, -k I'(T) sum_j a_j
// heat_share_j. It covers all filters but the hot spot's.
[[nodiscard]] std::vector<double> heat_correction(const JointInput& input, const JointFit& fit);

// By how much each k_v would be off if a chip drew, between launches, what waiting engines draw [a
// standard deviation, fJ/bit/mm]. The fit takes it for idle then; anything in between is as likely.
[[nodiscard]] Eigen::VectorXd gap_errors(const JointInput& input, const JointFit& fit);

// 95% half-width of the combination sum_v weights[v] k_v: Student's t on the larger of the two
// standard errors, and on the systematic part.
[[nodiscard]] double half_width_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights);

// How far its 95% interval reaches down and up: as half_width_95(), but for an assumed load line,
// which may be much steeper than its mean and not much flatter.
struct Reach {
  double down{}, up{};
};
[[nodiscard]] Reach reach_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights);
// Reach where noise and systematic part count `t` standard deviations.
[[nodiscard]] Reach reach_of(const Uncertainty& uncertainty, const Eigen::VectorXd& weights,
                             double t);

}  // namespace ww::model
