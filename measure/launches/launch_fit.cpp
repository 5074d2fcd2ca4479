#include "launches/launch_fit.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace ww::measure {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// How far residuals are taken to be alike: windows that overlap, and the rule of Newey and West.
Eigen::Index lags_of(const LaunchSensor& sensor, double period_s, Eigen::Index readings) {
  constexpr double kMostOverlap = 50;
  const double overlap = sensor.accumulator ? 1 : std::min(kMostOverlap, sensor.time_s / period_s);
  const double rule = 4 * std::pow(static_cast<double>(readings) / 100, 2.0 / 9.0);
  return std::min(readings / 4, static_cast<Eigen::Index>(overlap + rule));
}

// Sum over lags of the products of scores, with weights that fall to 0 (Bartlett).
Eigen::MatrixXd score_products(const Eigen::MatrixXd& scores, Eigen::Index lags) {
  Eigen::MatrixXd meat = scores.transpose() * scores;
  for (Eigen::Index lag = 1; lag <= lags; ++lag) {
    const double taper = 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
    const Eigen::Index rows = scores.rows() - lag;
    const Eigen::MatrixXd product = scores.bottomRows(rows).transpose() * scores.topRows(rows);
    meat += taper * (product + product.transpose());
  }
  return meat;
}

}  // namespace

Result<LaunchSolution> solve_launches(const LaunchProblem& problem, std::span<const PowerPoint> all,
                                      const LaunchSensor& sensor) {
  const std::vector<double> design = launch_design(problem, all, sensor);
  // An accumulator's first reading has none before it.
  const std::size_t first = sensor.accumulator ? 1 : 0;
  const auto readings = all.subspan(first);
  const auto n = static_cast<Eigen::Index>(readings.size());
  const auto p = static_cast<Eigen::Index>(problem.columns());
  Eigen::MatrixXd x = Eigen::Map<const RowMajor>(design.data() + first * problem.columns(), n, p);
  Eigen::VectorXd power_w(n);
  for (Eigen::Index k = 0; k < n; ++k) power_w[k] = readings[static_cast<std::size_t>(k)].power_w;

  LaunchSolution solution;
  Eigen::VectorXd length(p);
  for (Eigen::Index u = 0; u < p; ++u) {
    solution.most.push_back(std::max(0.0, x.col(u).maxCoeff()));
    length[u] = x.col(u).norm();
    if (!(length[u] > 0)) {
      return fail(ErrorCode::bad_data,
                  "no reading sees it; record until the sensor has shown the last launch",
                  problem.unknowns[static_cast<std::size_t>(u) - problem.drift_columns].name);
    }
    x.col(u) /= length[u];
  }
  // With columns of length 1 a factor's squared pivot is what the other columns leave of one.
  constexpr double kSingular = 1e-9;
  const Eigen::LLT<Eigen::MatrixXd> factor(x.transpose() * x);
  const bool solved = factor.info() == Eigen::Success;
  if (!solved || factor.matrixLLT().diagonal().array().square().minCoeff() <= kSingular) {
    return fail(ErrorCode::bad_data,
                "the readings cannot separate the launches from rest or from one another; vary "
                "their density and order, and leave pauses longer than the sensor's window",
                "launches");
  }
  const Eigen::VectorXd scaled = factor.solve(x.transpose() * power_w);
  const Eigen::VectorXd residual = power_w - x * scaled;
  solution.dof = static_cast<double>(n - p);
  solution.noise_w = residual.norm() / std::sqrt(solution.dof);

  const double period_s =
      (readings.back().time_s - readings.front().time_s) / static_cast<double>(n - 1);
  const Eigen::MatrixXd scores = residual.asDiagonal() * x;
  const Eigen::MatrixXd meat = score_products(scores, lags_of(sensor, period_s, n));
  // (X'X)^-1 meat (X'X)^-1, in the units of the unknowns again.
  const Eigen::MatrixXd half = factor.solve(meat);
  const Eigen::VectorXd unit = length.cwiseInverse();
  const double small_sample = static_cast<double>(n) / solution.dof;
  const RowMajor covariance =
      small_sample * unit.asDiagonal() * factor.solve(half.transpose()) * unit.asDiagonal();
  solution.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  const Eigen::VectorXd value = scaled.cwiseProduct(unit);
  solution.value.assign(value.data(), value.data() + value.size());
  return solution;
}

}  // namespace ww::measure
