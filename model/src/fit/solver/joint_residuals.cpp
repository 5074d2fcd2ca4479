#include "fit/solver/joint_residuals.hpp"

#include <algorithm>
#include <utility>

namespace ww::model::residuals {
namespace {

constexpr std::size_t kIdleBlocks = 5;

// Idle power [W], and its derivatives by what it depends on, over sigma.
double idle_power(const Place& place, double const* const* p, bool loaded, double sigma_w,
                  double** jacobians) {
  const double* c = p[0];
  const double* leakage = p[2];
  const double u = scaled_temperature(place, p[1], p[3][0], p[4][0]);
  const double voltage = std::exp(leakage[0] * place.log_voltage);
  const double steep = loaded ? 1 + leakage[1] * u : 1;
  const double curve = c[0] + u * (c[1] + u * (c[2] + u * c[3]));
  const double power = curve * voltage * steep;
  if (jacobians == nullptr) return power;
  if (jacobians[0] != nullptr) {
    double factor = voltage * steep / sigma_w;
    for (int i = 0; i < 4; ++i, factor *= u) jacobians[0][i] = factor;
  }
  if (jacobians[2] != nullptr) {
    jacobians[2][0] = power * place.log_voltage / sigma_w;
    jacobians[2][1] = loaded ? curve * voltage * u / sigma_w : 0;
  }
  const double slope = c[1] + u * (2 * c[2] + u * 3 * c[3]);
  const double by_u = slope * voltage * steep + (loaded ? curve * voltage * leakage[1] : 0);
  const double by_kelvin = place.flat ? 0 : by_u / (10 * sigma_w);
  if (jacobians[1] != nullptr) {
    for (std::size_t j = 0; j < kHeatCount; ++j) jacobians[1][j] = by_kelvin * place.heat[j];
  }
  if (jacobians[3] != nullptr) *jacobians[3] = by_kelvin * (1 - place.drift_weight);
  if (jacobians[4] != nullptr) *jacobians[4] = by_kelvin * place.drift_weight;
  return power;
}

}  // namespace

double scaled_temperature(const Place& place, const double* response, double drift_0,
                          double drift_1) {
  if (place.flat) return 0;
  double temperature = place.ambient_c - place.reference_c + (1 - place.drift_weight) * drift_0 +
                       place.drift_weight * drift_1;
  for (std::size_t j = 0; j < kHeatCount; ++j) temperature += response[j] * place.heat[j];
  return temperature / 10.0;
}

Idle::Idle(const Place& place, double power_w, double sigma_w)
    : place_(place), power_w_(power_w), sigma_w_(sigma_w) {
  *mutable_parameter_block_sizes() = {4, static_cast<int>(kHeatCount), 2, 1, 1};
  set_num_residuals(1);
}

bool Idle::Evaluate(double const* const* p, double* residual, double** jacobians) const {
  *residual = (idle_power(place_, p, false, sigma_w_, jacobians) - power_w_) / sigma_w_;
  return true;
}

Stream::Stream(const Place& place, StreamTerms terms) : place_(place), terms_(std::move(terms)) {
  const std::size_t variant = 3 + terms_.engines + terms_.quadrants + terms_.basis.size();
  *mutable_parameter_block_sizes() = {4, static_cast<int>(kHeatCount), 2, 1,
                                      1, static_cast<int>(variant),    2};
  set_num_residuals(1);
}

bool Stream::Evaluate(double const* const* p, double* residual, double** jacobians) const {
  const StreamTerms& t = terms_;
  const double* v = p[kIdleBlocks];
  const double* block = p[kIdleBlocks + 1];
  const std::size_t engine = 3 + t.engine;
  const std::size_t quadrant = 3 + t.engines + t.quadrant;
  const std::size_t first_basis = 3 + t.engines + t.quadrants;
  double dynamic = v[0] + v[1] * t.rate_change + v[2] * t.traffic + v[engine] + v[quadrant];
  for (std::size_t i = 0; i < t.basis.size(); ++i) dynamic += v[first_basis + i] * t.basis[i];
  const double idle = idle_power(place_, p, true, t.sigma_w, jacobians);
  *residual = (idle + t.dynamic_share * dynamic + block[0] + block[1] * t.block_place - t.power_w) /
              t.sigma_w;
  if (jacobians == nullptr) return true;
  if (double* by = jacobians[kIdleBlocks]; by != nullptr) {
    std::fill_n(by, first_basis + t.basis.size(), 0.0);
    const double factor = t.dynamic_share / t.sigma_w;
    by[0] = factor;
    by[1] = factor * t.rate_change;
    by[2] = factor * t.traffic;
    by[engine] = factor;
    by[quadrant] = factor;
    for (std::size_t i = 0; i < t.basis.size(); ++i) by[first_basis + i] = factor * t.basis[i];
  }
  if (double* by = jacobians[kIdleBlocks + 1]; by != nullptr) {
    by[0] = 1 / t.sigma_w;
    by[1] = t.block_place / t.sigma_w;
  }
  return true;
}

}  // namespace ww::model::residuals
