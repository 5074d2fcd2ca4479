// The chi-squared distribution, for intervals of a spread. Student's t is in
// ww/core/statistics.hpp.
#pragma once

namespace ww::sweep {

// Chance that a chi-squared variable with `freedom` degrees lies below x.
[[nodiscard]] double chi_squared_below(double x, double freedom);
// Inverse of the chi-squared distribution function. 0 < chance < 1.
[[nodiscard]] double chi_squared_quantile(double chance, double freedom);

}  // namespace ww::sweep
