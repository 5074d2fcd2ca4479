#include "launches/launch_fit.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

namespace ww::measure {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// How far residuals are correlated: windows that overlap, and the rule of Newey and West.
Eigen::Index lags_of(const LaunchSensor& sensor, double period_s, Eigen::Index readings) {
  constexpr double kMaxOverlap = 50;
  const double overlap = sensor.accumulator ? 1 : std::min(kMaxOverlap, sensor.time_s / period_s);
  const double rule = 4 * std::pow(static_cast<double>(readings) / 100, 2.0 / 9.0);
  return std::min(readings / 4, static_cast<Eigen::Index>(overlap + rule));
}

// X' [(e e' + s^2 H) o T] X: sum over lags of products of rows, with weights that fall to 0
// (Bartlett). `projected` is X (X'X)^-1, so that projected X' is H.
Eigen::MatrixXd row_products(const Eigen::MatrixXd& x, const Eigen::MatrixXd& projected,
                             const Eigen::VectorXd& residual, double square, Eigen::Index lags) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(x.cols(), x.cols());
  for (Eigen::Index lag = 0; lag <= lags; ++lag) {
    const double taper = 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
    const Eigen::Index count = x.rows() - lag;
    const auto later = x.bottomRows(count), earlier = x.topRows(count);
    const Eigen::VectorXd share =
        residual.tail(count).cwiseProduct(residual.head(count)) +
        square * projected.bottomRows(count).cwiseProduct(earlier).rowwise().sum();
    const Eigen::MatrixXd product = later.transpose() * share.asDiagonal() * earlier;
    if (lag == 0) {
      sum += product;
    } else {
      sum += taper * (product + product.transpose());
    }
  }
  return sum;
}

}  // namespace

struct LaunchSolution::Fit {
  Eigen::MatrixXd x;          // columns of length 1
  Eigen::MatrixXd projected;  // X (X'X)^-1
  Eigen::VectorXd unit;       // of the unknowns, as a column of x has them
  double dof{};
};

// Degrees of freedom by Satterthwaite, as Bell and McCaffrey (2002) have them for such covariances:
// twice the mean's square over the variance of sum g_k^2 (e_k^2 + s^2 h_k) under white noise, g
// being what each reading adds to c'x. The residuals' covariance is I - H.
double LaunchSolution::freedom(const std::vector<double>& c) const {
  const Eigen::Map<const Eigen::VectorXd> direction(c.data(), fit_->x.cols());
  const Eigen::VectorXd squares =
      (fit_->projected * direction.cwiseProduct(fit_->unit)).cwiseAbs2();
  const Eigen::VectorXd leverage = fit_->projected.cwiseProduct(fit_->x).rowwise().sum();
  const double put_back = squares.dot(leverage);
  const double mean = squares.sum();
  const Eigen::MatrixXd crossed = fit_->projected.transpose() * squares.asDiagonal() * fit_->x;
  const double spread =
      squares.cwiseAbs2().dot((1 - 2 * leverage.array()).matrix()) + (crossed * crossed).trace();
  return mean * mean / (std::max(0.0, spread) + put_back * put_back / fit_->dof);
}

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
  const auto dof = static_cast<double>(n - p);
  solution.noise_w = residual.norm() / std::sqrt(dof);

  const double period_s =
      (readings.back().time_s - readings.front().time_s) / static_cast<double>(n - 1);
  const Eigen::MatrixXd projected = factor.solve(x.transpose()).transpose();
  const Eigen::MatrixXd meat = row_products(x, projected, residual, residual.squaredNorm() / dof,
                                            lags_of(sensor, period_s, n));
  // Converts back to the units of the unknowns.
  const Eigen::MatrixXd half = factor.solve(meat);
  const Eigen::VectorXd unit = length.cwiseInverse();
  const RowMajor covariance =
      unit.asDiagonal() * factor.solve(half.transpose()) * unit.asDiagonal();
  solution.covariance.assign(covariance.data(), covariance.data() + covariance.size());
  const Eigen::VectorXd value = scaled.cwiseProduct(unit);
  solution.value.assign(value.data(), value.data() + value.size());
  solution.fit_ = std::make_shared<LaunchSolution::Fit>(
      LaunchSolution::Fit{std::move(x), projected, unit, dof});
  return solution;
}

}  // namespace ww::measure
