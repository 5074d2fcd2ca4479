#include "fit/calibration/budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ww/core/sensor_tolerances.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

constexpr std::array kLevels = {0.68, 0.95, 0.99};

double variance_of(const Eigen::MatrixXd& covariance, const Eigen::VectorXd& weights) {
  return covariance.size() > 0 ? std::max(0.0, weights.dot(covariance * weights)) : 0.0;
}

double noise_variance(const Uncertainty& uncertainty, const Eigen::VectorXd& weights) {
  return std::max(variance_of(uncertainty.covariance, weights),
                  variance_of(uncertainty.bootstrap, weights));
}

// Only the noise has finite degrees of freedom.
double effective_freedom(double noise, double all, double degrees_of_freedom) {
  return noise > 0 ? degrees_of_freedom * (all / noise) * (all / noise)
                   : std::numeric_limits<double>::infinity();
}

}  // namespace

double DeclaredErrors::together() const {
  return std::hypot(gain, regulator, positions);
}

DeclaredErrors declared_errors(const Facts& facts) {
  return {facts.sensor.gain_tolerance_95, facts.sensor.regulator_slope_tolerance_95,
          facts.by_flight() ? flight_error_95(*facts.paths) : facts.floorplan.scale_error_95(),
          facts.by_flight()};
}

Interval absolute_interval_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights,
                              double value, double declared_95, double further_95) {
  const double noise = noise_variance(uncertainty, weights);
  const double own = noise + variance_of(uncertainty.systematic, weights);
  const double declared = declared_95 / kNormal95;
  const double all = own + std::pow(value * declared, 2);
  const double t = t_quantile_95(effective_freedom(noise, all, uncertainty.degrees_of_freedom));
  const Reach reach = reach_of(uncertainty, weights, t);
  return {value, through_scale(value, std::hypot(reach.down, further_95), t * declared).low,
          through_scale(value, std::hypot(reach.up, further_95), t * declared).high};
}

Budget make_budget(const Uncertainty& uncertainty, const Eigen::VectorXd& weights, double value,
                   const DeclaredErrors& declared) {
  Budget budget;
  const double noise = noise_variance(uncertainty, weights);
  const char* const unit = declared.by_flight ? "fJ/bit/ns" : "fJ/bit/mm";
  const auto add = [&](const std::string& source, char type, const char* distribution,
                       double standard, const char* unit, double sensitivity) {
    budget.rows.push_back({source, type, distribution, standard, unit, sensitivity,
                           standard * std::abs(sensitivity), 0});
  };
  add("noise, temperature, voltage and rate of the campaign", 'A', "t", std::sqrt(noise), unit, 1);
  for (const auto& [source, part] : uncertainty.systematic_parts) {
    add(source, 'B', "rectangular", std::sqrt(variance_of(part, weights)), unit, 1);
  }
  add("sensor's gain", 'B', "normal", declared.gain / kNormal95, "1", value);
  add("regulator's marginal efficiency", 'B', "normal", declared.regulator / kNormal95, "1", value);
  add(declared.by_flight ? "measured latencies" : "positions in the floorplan", 'B', "normal",
      declared.positions / kNormal95, "1", value);
  double all = 0;
  for (const BudgetRow& row : budget.rows) all += row.contribution * row.contribution;
  for (BudgetRow& row : budget.rows) {
    row.share = all > 0 ? row.contribution * row.contribution / all : 0;
  }
  budget.combined = std::sqrt(all);
  budget.degrees_of_freedom = effective_freedom(noise, all, uncertainty.degrees_of_freedom);
  for (const double level : kLevels) {
    const double factor = t_quantile(level, budget.degrees_of_freedom);
    budget.expanded.push_back({level, factor, factor * budget.combined});
  }
  return budget;
}

}  // namespace ww::model
