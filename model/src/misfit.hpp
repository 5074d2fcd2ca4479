// Checks whether the model's form holds. It compares the interaction of engine and quadrant that
// distance does not explain (u of the joint fit) with replicates and with the signal
// (docs/method.md, "Misfit").
#pragma once

#include <vector>

#include "intervals.hpp"
#include "joint_fit.hpp"

namespace ww::model {

// Lack of fit of one variant.
struct LackOfFit {
  double relative{};  // rms of the unexplained interaction, noise taken out, over that of k d' B
  double p_value{1};  // F test against replicates
  double freedom{};   // of the unexplained interaction
};
[[nodiscard]] LackOfFit lack_of_fit(const JointInput& input, const JointFit& fit,
                                    const Uncertainty& uncertainty, std::size_t variant);

// `main` is the variant whose energy is the answer.
[[nodiscard]] Misfit judge(const JointInput& input, const JointFit& fit,
                           const Uncertainty& uncertainty, std::size_t main);

}  // namespace ww::model
