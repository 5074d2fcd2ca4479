// Residuals of the joint fit with their derivatives. A fit evaluates some hundred thousand of them,
// and all but the temperature's way into idle power is linear: derivatives by hand cost a tenth of
// automatic ones. joint_gradient.cpp checks them against numeric ones.
#pragma once

#include <ceres/cost_function.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fit/solver/joint_fit.hpp"

namespace ww::model::residuals {

// The place of a window in the model: values that the data fix and the parameters do not.
struct Place {
  double ambient_c{};
  double drift_weight{};  // of the later of the two knots
  HeatState heat{};
  double reference_c{};
  double log_voltage{};  // ln(V / V_s)
  bool flat{};           // temperature correction off
};

// ((T - reference) / 10 K); parameters: response a_j, the two drift knots.
double scaled_temperature(const Place& place, const double* response, double drift_0,
                          double drift_1);

// (P - measured) / sigma of an idle window. Blocks: c(4), response, leakage(2): beta and lambda,
// drift(1), drift(1). Lambda, by which leakage rises more steeply where a stream heats one engine
// than in an idle chip, counts in streams alone.
class Idle : public ceres::CostFunction {
 public:
  Idle(const Place& place, double power_w, double sigma_w);
  bool Evaluate(double const* const* p, double* residual, double** jacobians) const override;

 private:
  Place place_;
  double power_w_{};
  double sigma_w_{};
};

// The quantities that the power of a stream plateau depends on, besides its `Place`.
struct StreamTerms {
  double power_w{};
  double sigma_w{};
  std::size_t engine{}, quadrant{}, engines{};
  double rate_change{};    // B/B_v - 1
  double traffic{};        // d' B while launches run, in W per fJ/bit/mm
  double block_place{};    // z
  double dynamic_share{};  // busy share times (V / V_s)^2
  std::size_t quadrants{};
  std::vector<double> basis;  // W_i(engine, quadrant)
};

// Blocks: as Idle, then variant(3 + engines + quadrants + basis), block(2).
// A variant is laid out m, g, k, E_0..., Q_0..., u_0...
class Stream : public ceres::CostFunction {
 public:
  Stream(const Place& place, StreamTerms terms);
  bool Evaluate(double const* const* p, double* residual, double** jacobians) const override;

 private:
  Place place_;
  StreamTerms terms_;
};

}  // namespace ww::model::residuals
