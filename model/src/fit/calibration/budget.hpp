// The uncertainty budget of a combination of variants' energies (JCGM 100:2008, "GUM").
#pragma once

#include "fit/calibration/intervals.hpp"
#include "reduction/facts.hpp"
#include "ww/model/fit.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

// Errors that no campaign can determine, relative, 95%: the sensor's gain, the regulator's marginal
// slope, and the floorplan's positions as they change the scale of distances.
struct DeclaredErrors {
  double gain{}, regulator{}, positions{};
  bool by_flight{};  // `positions` are measured latencies
  [[nodiscard]] double together() const;
};
[[nodiscard]] DeclaredErrors declared_errors(const Facts& facts);

// Absolute 95% interval of sum_v weights[v] k_v, whose value is `value`. Gain, regulator and scale
// of distances multiply the truth, so that the interval divides by them (through_scale()).
// Half-widths are Student's t for the effective degrees of freedom (Welch and Satterthwaite) times
// standard uncertainties. `further_95` is a half-width beside the campaign's own.
[[nodiscard]] Interval absolute_interval_95(const Uncertainty& uncertainty,
                                            const Eigen::VectorXd& weights, double value,
                                            double declared_95, double further_95 = 0);

// Every line of it.
[[nodiscard]] Budget make_budget(const Uncertainty& uncertainty, const Eigen::VectorXd& weights,
                                 double value, const DeclaredErrors& declared);

}  // namespace ww::model
