// The median, and Student's t for intervals with the beta function behind it: everything that
// reports a 95% interval takes its quantile from here.
#pragma once

#include <vector>

namespace ww {

// Median; 0 for an empty range. Takes a copy because it has to reorder.
[[nodiscard]] double median(std::vector<double> values);

// Standard deviations of the normal distribution in a 95% half-width.
inline constexpr double kNormal95 = 1.959963984540054;

// Regularised incomplete beta function I_x(a, b), for a, b > 0; 0 for x <= 0 and 1 for x >= 1.
// Continued fraction: Abramowitz and Stegun 26.5.8.
[[nodiscard]] double incomplete_beta(double a, double b, double x);

// Student's two-sided 95% quantile: the t with P(|T| <= t) = 0.95 for `dof` degrees of freedom. An
// interval reaches t standard errors to either side of the mean. `dof` may be a fraction; infinite
// dof gives the normal distribution's 1.96. Infinity where dof is not above 0 (one value alone has
// no interval).
[[nodiscard]] double t_quantile_95(double dof);
// Student's two-sided quantile at a level of confidence above 0 and below 1.
[[nodiscard]] double t_quantile(double level, double dof);

}  // namespace ww
