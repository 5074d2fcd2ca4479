#include "distributions.hpp"

#include <cmath>
#include <functional>

namespace ww::sweep {
namespace {

constexpr double kPrecise = 1e-14;

// Regularised lower incomplete gamma function P(a, x): by its series (DLMF 8.7.1) below a + 1, else
// by the continued fraction of Q (DLMF 8.9.2), evaluated from the front.
double gamma_p(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < 10'000 && std::abs(term) > kPrecise * sum; ++n) {
      term *= x / (a + n);
      sum += term;
    }
    return front * sum;
  }
  constexpr double tiny = 1e-300;
  double b = x + 1 - a;
  double c = 1 / tiny;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < 10'000; ++n) {
    const double step = -n * (n - a);
    b += 2;
    d = step * d + b;
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    c = b + step / c;
    if (std::abs(c) < tiny) c = tiny;
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecise) break;
  }
  return 1 - front * fraction;
}

// Finds where a growing function reaches `aim`, from 0 up.
double solve(const std::function<double(double)>& function, double aim) {
  double high = 1;
  while (function(high) < aim && high < 1e12) high *= 2;
  double low = 0;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (function(middle) < aim ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double chi_squared_below(double x, double freedom) {
  return gamma_p(freedom / 2, x / 2);
}

double chi_squared_quantile(double chance, double freedom) {
  return solve([&](double x) { return chi_squared_below(x, freedom); }, chance);
}

}  // namespace ww::sweep
