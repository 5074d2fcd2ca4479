#include "ww/core/statistics.hpp"

#include <cmath>
#include <limits>

namespace ww {

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

namespace {

// The t with P(|T| > t) = tail; `normal` is that of the normal distribution, the least there is.
double t_quantile(double tail, double normal, double dof) {
  if (!(dof > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  if (dof > 1e6) {
    return normal;
  }
  // P(|T| > t) = I_{dof/(dof+t^2)}(dof/2, 1/2): decreasing in t, so bisect.
  double low = normal;
  double high = 1e4;
  for (int step = 0; step < 200; ++step) {
    const double t = std::sqrt(low * high);
    (incomplete_beta(dof / 2, 0.5, dof / (dof + t * t)) > tail ? low : high) = t;
  }
  return std::sqrt(low * high);
}

}  // namespace

double t_quantile_95(double dof) {
  return t_quantile(0.05, 1.959963984540054, dof);
}

double t_quantile_99(double dof) {
  return t_quantile(0.01, 2.5758293035489004, dof);
}

}  // namespace ww
