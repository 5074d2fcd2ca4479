// Checks whether the model's form holds. It compares the interaction of engine and quadrant that
// distance does not explain (u of the joint fit) with replicates and with the signal
// (docs/method.md, "Misfit").
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "fit/calibration/intervals.hpp"
#include "fit/solver/joint_fit.hpp"

namespace ww::model {

// Covariance of the interaction u of one variant [W^2]: noise of the campaign, and the steps of the
// sensor's readings.
[[nodiscard]] Eigen::MatrixXd unexplained_covariance(const JointInput& input, const JointFit& fit,
                                                     const Uncertainty& uncertainty,
                                                     std::size_t variant);

// Lack of fit of one variant.
struct LackOfFit {
  double relative{};     // rms of the unexplained interaction, noise taken out, over that of k d' B
  double low{}, high{};  // 95% interval of `relative`
  double p_value{1};     // F test against replicates
  double freedom{};      // of the unexplained interaction
};
[[nodiscard]] LackOfFit lack_of_fit(const JointInput& input, const JointFit& fit,
                                    const Uncertainty& uncertainty, std::size_t variant);

// `main` is the variant whose energy is the answer.
[[nodiscard]] Misfit judge(const JointInput& input, const JointFit& fit,
                           const Uncertainty& uncertainty, std::size_t main);

// Why an energy per random bit and mm cannot be that of wires: it is below 0 beyond its interval,
// or outside of what wires can cost at `voltage_v`. Empty where it can be.
[[nodiscard]] std::string absurd_energy(const Figure& energy, double voltage_v);

// A further reason to flag, which leaves nothing to decide.
void flag(Misfit& misfit, const std::string& reason);

// Gives every constant of a flagged fit that has a value the status misfit, with the reason.
void mark_constants(FitResult& result);

}  // namespace ww::model
