#include "attribution/nonnegative.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ww::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Keeps equal columns from making the normal equations singular. It moves a coefficient by a part
// in 10^10 where columns are separated.
constexpr double kRidge = 1e-10;

VectorXd solve_subset(const MatrixXd& gram, const VectorXd& moment,
                      const std::vector<Index>& subset) {
  const auto n = static_cast<Index>(subset.size());
  MatrixXd g(n, n);
  VectorXd m(n);
  for (Index i = 0; i < n; ++i) {
    m(i) = moment(subset[static_cast<std::size_t>(i)]);
    for (Index k = 0; k < n; ++k) {
      g(i, k) = gram(subset[static_cast<std::size_t>(i)], subset[static_cast<std::size_t>(k)]);
    }
  }
  return g.ldlt().solve(m);
}

}  // namespace

NonnegativeFit::NonnegativeFit(const MatrixXd& design, const VectorXd& target)
    : lengths_(design.cols()) {
  MatrixXd unit = design;
  for (Index c = 0; c < design.cols(); ++c) {
    const double length = design.col(c).norm();
    lengths_(c) = length > 0 ? length : 1;
    unit.col(c) /= lengths_(c);
  }
  gram_ = unit.transpose() * unit;
  gram_.diagonal().array() += kRidge;
  moment_ = unit.transpose() * target;
  target_squares_ = target.squaredNorm();
  best_ = solve(moment_);
}

VectorXd NonnegativeFit::solve(const VectorXd& moment) const {
  const Index n = gram_.cols();
  VectorXd x = VectorXd::Zero(n);
  std::vector<bool> free(static_cast<std::size_t>(n), false);
  const double least = 1e-12 * moment.cwiseAbs().maxCoeff();
  // Every round adds one column; the limit only guards against rounding that cycles.
  for (Index round = 0; round < 10 * n; ++round) {
    const VectorXd slope = moment - gram_ * x;
    Index entering = -1;
    for (Index j = 0; j < n; ++j) {
      if (!free[static_cast<std::size_t>(j)] && slope(j) > least &&
          (entering < 0 || slope(j) > slope(entering))) {
        entering = j;
      }
    }
    if (entering < 0) break;
    free[static_cast<std::size_t>(entering)] = true;
    for (;;) {
      std::vector<Index> subset;
      for (Index j = 0; j < n; ++j) {
        if (free[static_cast<std::size_t>(j)]) subset.push_back(j);
      }
      if (subset.empty()) break;
      const VectorXd z = solve_subset(gram_, moment, subset);
      if (z.minCoeff() > 0) {
        x.setZero();
        for (std::size_t i = 0; i < subset.size(); ++i) x(subset[i]) = z(static_cast<Index>(i));
        break;
      }
      // Goes towards z until the first coefficient reaches 0, and fixes it there.
      double share = 1;
      Index leaving = subset.front();
      for (std::size_t i = 0; i < subset.size(); ++i) {
        const double to = z(static_cast<Index>(i)), from = x(subset[i]);
        if (to > 0) continue;
        const double reach = from > 0 ? from / (from - to) : 0;
        if (reach < share) {
          share = reach;
          leaving = subset[i];
        }
      }
      for (std::size_t i = 0; i < subset.size(); ++i) {
        double& value = x(subset[i]);
        value = std::max(0.0, value + share * (z(static_cast<Index>(i)) - value));
      }
      x(leaving) = 0;
      free[static_cast<std::size_t>(leaving)] = false;
    }
  }
  return x;
}

double NonnegativeFit::squares(const VectorXd& b) const {
  return target_squares_ - 2 * moment_.dot(b) + b.dot(gram_ * b);
}

VectorXd NonnegativeFit::unscale(const VectorXd& b) const {
  return b.cwiseQuotient(lengths_);
}

// Minimising |Ab - y|^2 + 2 mu c'b for growing mu walks along the profile of c'b: each solution is
// the best fit with its own value of c'b. The walk ends where the squares have risen as allowed.
Interval NonnegativeFit::interval(const VectorXd& c, double allowed) const {
  const VectorXd scaled = c.cwiseQuotient(lengths_);
  Interval result{scaled.dot(best_), 0, 0};
  result.low = result.high = result.value;
  if (scaled.isZero() || !(allowed > 0)) return result;
  const double least = squares(best_);
  const double variance = scaled.dot(gram_.ldlt().solve(scaled));
  const double typical = std::sqrt(allowed / variance);
  const auto end = [&](double sign) {
    double inside = 0, outside = 0;
    double value = result.value;
    for (double size = typical; outside == 0; size *= 4) {
      const VectorXd b = solve(moment_ - sign * size * scaled);
      value = scaled.dot(b);
      if (squares(b) - least > allowed) {
        outside = size;
      } else {
        inside = size;
        if (size > 1e12 * typical) return sign > 0 ? 0.0 : std::numeric_limits<double>::infinity();
        if (sign > 0 && value <= 0) return 0.0;
      }
    }
    for (int step = 0; step < 40 && outside - inside > 1e-5 * outside; ++step) {
      const double size = (inside + outside) / 2;
      const VectorXd b = solve(moment_ - sign * size * scaled);
      value = scaled.dot(b);
      (squares(b) - least > allowed ? outside : inside) = size;
    }
    return value;
  };
  result.low = std::min(result.value, end(1));
  result.high = std::max(result.value, end(-1));
  // A column of zeros says nothing of its coefficient, which is bounded by the ridge alone.
  for (Index j = 0; j < gram_.cols(); ++j) {
    if (scaled(j) > 0 && gram_(j, j) <= 2 * kRidge) {
      result.high = std::numeric_limits<double>::infinity();
    }
  }
  return result;
}

double NonnegativeFit::leverage(const VectorXd& row) const {
  std::vector<Index> subset;
  for (Index j = 0; j < best_.size(); ++j) {
    if (best_(j) > 0) subset.push_back(j);
  }
  if (subset.empty()) return 0;
  const VectorXd scaled = row.cwiseQuotient(lengths_);
  const VectorXd z = solve_subset(gram_, scaled, subset);
  double sum = 0;
  for (std::size_t i = 0; i < subset.size(); ++i) {
    sum += scaled(subset[i]) * z(static_cast<Index>(i));
  }
  return sum;
}

MatrixXd NonnegativeFit::covariance() const {
  return gram_.ldlt().solve(MatrixXd::Identity(gram_.cols(), gram_.cols()));
}

}  // namespace ww::model
