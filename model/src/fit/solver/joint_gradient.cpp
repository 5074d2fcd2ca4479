// Checks the derivatives of the joint fit's residuals against central differences.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fit/solver/joint_fit.hpp"
#include "fit/solver/joint_residuals.hpp"

namespace ww::model {

using residuals::Place;

namespace {

double derivative_error(const ceres::CostFunction& cost, std::vector<std::vector<double>> values) {
  std::vector<const double*> pointers;
  std::vector<std::vector<double>> jacobians;
  std::vector<double*> jacobian_pointers;
  jacobian_pointers.reserve(values.size());
  for (const auto& block : values) {
    pointers.push_back(block.data());
    jacobians.emplace_back(block.size());
  }
  for (auto& block : jacobians) jacobian_pointers.push_back(block.data());
  double residual = 0;
  cost.Evaluate(pointers.data(), &residual, jacobian_pointers.data());
  double worst = 0;
  for (std::size_t b = 0; b < values.size(); ++b) {
    for (std::size_t i = 0; i < values[b].size(); ++i) {
      const double at = values[b][i];
      const double step = 1e-5 * std::max(1.0, std::abs(at));
      double up = 0;
      double down = 0;
      values[b][i] = at + step;
      cost.Evaluate(pointers.data(), &up, nullptr);
      values[b][i] = at - step;
      cost.Evaluate(pointers.data(), &down, nullptr);
      values[b][i] = at;
      const double numeric = (up - down) / (2 * step);
      worst =
          std::max(worst, std::abs(numeric - jacobians[b][i]) / std::max(1e-3, std::abs(numeric)));
    }
  }
  return worst;
}

}  // namespace

double gradient_error() {
  Place place;
  place.ambient_c = 35;
  place.drift_weight = 0.3;
  place.heat = {112, 110, 108, 100, 95, 90, 80, 70};
  place.reference_c = 55;
  place.log_voltage = std::log(0.97);
  const std::vector<std::vector<double>> idle_values{
      {42, 6, 0.8, 0.1},
      {0.01, 0.02, 0.05, 0.03, 0.06, 0.02, 0.1, 0.05},
      {2.7, 0.02},
      {0.1},
      {-0.2}};
  auto stream_values = idle_values;
  stream_values.push_back({70, 40, 200, 1, -1, 2, -2, 0.5, -0.5, 0.3, -0.3, 0.2, -0.1});
  stream_values.push_back({0.1, -0.05});
  const residuals::Idle idle(place, 45, 0.1);
  const residuals::Stream stream(place,
                                 {115, 0.1, 2, 1, 4, 0.01, 7e-3, -0.4, 0.94, 4, {0.5, -0.3}});
  return std::max(derivative_error(idle, idle_values), derivative_error(stream, stream_values));
}

}  // namespace ww::model
