// Ordinary least squares that first checks whether the data can separate the columns.
#pragma once

#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::model {

struct Regressor {
  std::string name;
  std::vector<double> values;  // one a row
};

struct Coefficient {
  std::string name;
  double value{};
  double low{}, high{};  // 95%, Student's t
  // Variance inflation: 1 / (1 - R^2) of this column against all others. Belsley, Kuh and Welsch
  // (1980) call 10 and more harmful.
  double inflation{};
  RowStatus status{RowStatus::ok};  // ok, or not_identified with the reason
  std::string reason;
};

struct Regression {
  std::vector<Coefficient> coefficients;  // the constant first
  double r_squared{};
  double residual{};   // standard deviation
  double condition{};  // of the columns scaled to unit length
  std::size_t rows{};
};

// Fits y = constant + sum of coefficient * regressor. A coefficient is not_identified if its column
// repeats the others (inflation above 10) or its interval contains 0. Errors: bad_data (fewer rows
// than coefficients and two more, columns of unequal length, values that are not finite).
[[nodiscard]] Result<Regression> regress(const std::vector<double>& y,
                                         const std::vector<Regressor>& regressors);

}  // namespace ww::model
