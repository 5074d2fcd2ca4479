#include "ww/model/regression.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "ww/core/statistics.hpp"
#include "ww/model/attribution.hpp"

namespace ww::model {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

double squared_multiple_correlation(const Vector& y, const Matrix& x) {
  const Vector fitted = x * x.colPivHouseholderQr().solve(y);
  const double total = (y.array() - y.mean()).square().sum();
  return total > 0 ? 1 - (y - fitted).squaredNorm() / total : 1;
}

}  // namespace

Result<Regression> regress(const std::vector<double>& y, const std::vector<Regressor>& regressors) {
  const auto rows = static_cast<Eigen::Index>(y.size());
  const auto columns = static_cast<Eigen::Index>(regressors.size()) + 1;
  if (rows < columns + 2) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} rows for {} coefficients; at least {} are needed", rows, columns,
                            columns + 2));
  }
  Matrix x(rows, columns);
  Vector target(rows);
  x.col(0).setOnes();
  for (Eigen::Index i = 0; i < rows; ++i) target(i) = y[static_cast<std::size_t>(i)];
  for (Eigen::Index c = 1; c < columns; ++c) {
    const auto& values = regressors[static_cast<std::size_t>(c - 1)].values;
    if (values.size() != y.size()) {
      return fail(ErrorCode::bad_data, "has a different number of rows from the others",
                  regressors[static_cast<std::size_t>(c - 1)].name);
    }
    for (Eigen::Index i = 0; i < rows; ++i) x(i, c) = values[static_cast<std::size_t>(i)];
  }
  if (!x.allFinite() || !target.allFinite()) {
    return fail(ErrorCode::bad_data, "a value is not a finite number");
  }
  Matrix unit = x;
  for (Eigen::Index c = 0; c < columns; ++c) {
    if (const double norm = x.col(c).norm(); norm > 0) unit.col(c) /= norm;
  }
  const Eigen::JacobiSVD<Matrix> svd(unit, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const auto& singular = svd.singularValues();
  const Vector solved = x.colPivHouseholderQr().solve(target);
  const double dof = static_cast<double>(rows - columns);
  const double squares = (target - x * solved).squaredNorm();
  Regression result;
  result.rows = y.size();
  result.residual = std::sqrt(squares / dof);
  const double total = (target.array() - target.mean()).square().sum();
  result.r_squared = total > 0 ? 1 - squares / total : 0;
  result.condition = singular(columns - 1) > 0 ? singular(0) / singular(columns - 1)
                                               : std::numeric_limits<double>::infinity();
  const Matrix inverse = (x.transpose() * x).completeOrthogonalDecomposition().pseudoInverse();
  const double quantile = t_quantile_95(dof);
  for (Eigen::Index c = 0; c < columns; ++c) {
    Coefficient coefficient;
    coefficient.name = c == 0 ? "constant" : regressors[static_cast<std::size_t>(c - 1)].name;
    coefficient.value = solved(c);
    const double half = quantile * result.residual * std::sqrt(std::max(0.0, inverse(c, c)));
    coefficient.low = solved(c) - half;
    coefficient.high = solved(c) + half;
    coefficient.inflation = 1;
    if (c > 0) {
      Matrix others(rows, columns - 1);
      others << x.leftCols(c), x.rightCols(columns - c - 1);
      const double r2 = squared_multiple_correlation(x.col(c), others);
      coefficient.inflation = r2 < 1 ? 1 / (1 - r2) : std::numeric_limits<double>::infinity();
    }
    if (coefficient.inflation > kHarmfulInflation) {
      coefficient.status = RowStatus::not_identified;
      coefficient.reason = fmt::format("it goes with the other columns (variance inflation {:.3g})",
                                       coefficient.inflation);
    } else if (coefficient.low <= 0 && coefficient.high >= 0) {
      coefficient.status = RowStatus::not_identified;
      coefficient.reason = fmt::format("0 lies within its interval {:.3g} to {:.3g}",
                                       coefficient.low, coefficient.high);
    }
    result.coefficients.push_back(std::move(coefficient));
  }
  return result;
}

}  // namespace ww::model
