// Energy of every payload and rate per bit and millimetre, from all variants that ran it.
//
// A payload may have been measured more than once: as plateaus and, at several lengths of turn, by
// lock-in. Wires cost equally much each time; heat does not follow short turns. With h_v the part
// of k_v that the wires' own heat would add,
//
//     k_v = K_payload(v) + delta h_v + noise,   |delta| < kHeatBound,
//
// and, for the hot spot under a stream, a second term of the same kind whose share grows with turns
// of some tens of ms. All is solved by generalised least squares: short turns, whose h is small,
// say what wires cost, and the change of k with the length of a turn says how far the correction
// itself can be trusted.
//
// The weights are those of noise, heat and steps of the readings. All variants of a payload share
// its other errors, such as an assumed load line, so that these say nothing of how to weigh them.
// They must not be in the weights: their size, known by each variant's own measured k, differs a
// little from variant to variant, and least squares would take these differences for knowledge of
// the error and lead K out of the range of its k_v (Peelle's puzzle; D'Agostini, Nucl. Instrum.
// Meth. A 346 (1994) 306). The intervals hold them.
#pragma once

#include <numbers>
#include <optional>
#include <string_view>
#include <vector>

#include "fit/calibration/intervals.hpp"
#include "fit/solver/assumptions.hpp"
#include "fit/solver/joint_fit.hpp"

namespace ww::model {

// Bounds of errors that no repetition shows. Any value within a bound is equally likely, and none
// of it is subtracted from k. The standard deviation is therefore the bound over the square root of
// 3 (rectangular distribution about 0; JCGM 100:2008, GUM, 4.3.7).
constexpr double within(double bound) {
  return bound / std::numbers::sqrt3;
}

class Payloads {
 public:
  // `correction` is that of heat_correction(). `load_line` is how far each variant's k_v moves from
  // the mean of the load lines to the steepest; empty where voltages are shown.
  // `uncertainty` gets its systematic part.
  Payloads(const JointInput& input, const JointFit& fit, const std::vector<double>& correction,
           const std::vector<double>& load_line, Uncertainty& uncertainty);

  // The payload at its highest (or lowest) rate in a state; nothing where it was not run.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view pattern, int dvfs_state,
                                                bool slowest = false) const;
  // Weights of the variants' k_v that give K of a payload.
  [[nodiscard]] Eigen::VectorXd weights(std::size_t payload) const {
    return weights_.row(static_cast<Eigen::Index>(payload)).transpose();
  }
  [[nodiscard]] double energy(std::size_t payload) const { return energy_[payload]; }
  // Throttle, pattern and rate of a payload: those of its plateaus where there are any.
  [[nodiscard]] const Variant& variant(std::size_t payload) const;
  [[nodiscard]] std::size_t count() const { return members_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& members(std::size_t payload) const {
    return members_[payload];
  }
  // Weights of the variants of a payload among plateaus (or lock-in) alone; nothing without any.
  [[nodiscard]] std::optional<Eigen::VectorXd> weights_of(std::size_t payload, bool lock_in) const;

 private:
  const JointInput& input_;
  Eigen::MatrixXd weighing_;  // covariance of the variants by what they do not share
  std::vector<std::vector<std::size_t>> members_;
  Eigen::MatrixXd weights_;  // payload x variant
  std::vector<double> energy_;
};

}  // namespace ww::model
