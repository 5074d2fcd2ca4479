// Least squares with coefficients of at least 0, and the interval of a sum of them.
#pragma once

#include <Eigen/Dense>

#include "ww/model/interval.hpp"

namespace ww::model {

// |A b - y|^2 = b'Gb - 2 m'b + s. Columns of A have unit length, so that G can be inverted whatever
// their units; a column of zeros stays.
class NonnegativeFit {
 public:
  // Columns of `design` are scaled here. `target` has one value a row.
  NonnegativeFit(const Eigen::MatrixXd& design, const Eigen::VectorXd& target);

  // Coefficients in the design's own units.
  [[nodiscard]] Eigen::VectorXd coefficients() const { return unscale(best_); }
  [[nodiscard]] double squares() const { return squares(best_); }

  // c'b with the values that a constrained fit reaches without raising the sum of squares by more
  // than `allowed`. No value of c may be below 0. The upper end may be infinite.
  [[nodiscard]] Interval interval(const Eigen::VectorXd& c, double allowed) const;

  // x'(A'A)^-1 x over the columns whose coefficients are above 0.
  [[nodiscard]] double leverage(const Eigen::VectorXd& row) const;

  // Inverse of A'A with columns of unit length, over all columns: variances and correlations of
  // unconstrained estimates.
  [[nodiscard]] Eigen::MatrixXd covariance() const;
  // Length of a column before it was scaled; 1 for a column of zeros.
  [[nodiscard]] double length(Eigen::Index column) const { return lengths_(column); }

 private:
  // Lawson and Hanson (1974), algorithm 23.10, on the normal equations with the given moment.
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& moment) const;
  [[nodiscard]] double squares(const Eigen::VectorXd& b) const;
  [[nodiscard]] Eigen::VectorXd unscale(const Eigen::VectorXd& b) const;

  Eigen::VectorXd lengths_;
  Eigen::MatrixXd gram_;
  Eigen::VectorXd moment_;
  double target_squares_{};
  Eigen::VectorXd best_;
};

}  // namespace ww::model
