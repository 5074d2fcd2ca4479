#include "ww/core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace ww {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double incomplete_beta(double a, double b, double x) {
  if (!(x > 0)) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  // The continued fraction converges fast for x below the mean of the distribution.
  if (x > (a + 1) / (a + b + 2)) {
    return 1 - incomplete_beta(b, a, 1 - x);
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m <= 300; ++m) {
    const double i = m;
    const auto step = [&](double term) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      c = std::abs(c) < kTiny ? kTiny : c;
      fraction *= c * d;
      return c * d;
    };
    step(i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)));
    const double change = step(-(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)));
    if (std::abs(change - 1) < 1e-14) {
      break;
    }
  }
  return front * fraction;
}

double t_quantile(double level, double dof) {
  if (!(dof > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  const double outside = 1 - level;
  // P(|T| > t) = I_{dof/(dof+t^2)}(dof/2, 1/2), erfc(t / sqrt 2) of the normal distribution:
  // decreasing in t, so bisect.
  const auto beyond = [&](double t) {
    return dof > 1e6 ? std::erfc(t / std::numbers::sqrt2)
                     : incomplete_beta(dof / 2, 0.5, dof / (dof + t * t));
  };
  double low = 1e-4;
  double high = 1e4;
  for (;;) {
    const double t = std::sqrt(low * high);
    if (t <= low || t >= high) break;  // no double lies between
    (beyond(t) > outside ? low : high) = t;
  }
  return std::sqrt(low * high);
}

double t_quantile_95(double dof) {
  return t_quantile(0.95, dof);
}

}  // namespace ww
