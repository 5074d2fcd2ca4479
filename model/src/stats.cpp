#include "stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ww::model {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half),
                   values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  const double lower =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
  return (lower + upper) / 2;
}

double robust_scale(std::span<const double> values) {
  const double centre = median({values.begin(), values.end()});
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return 1.4826 * median(std::move(deviations));
}

double clipped_square_sum(std::span<const double> residuals) {
  std::vector<double> sizes;
  sizes.reserve(residuals.size());
  for (const double residual : residuals) sizes.push_back(std::abs(residual));
  const double scale = 1.4826 * median(sizes);
  const double limit = scale > 0 ? 3 * scale : std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const double size : sizes) sum += std::min(size, limit) * std::min(size, limit);
  return sum;
}

double incomplete_beta(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  // The continued fraction converges fast for x below the mean of the distribution.
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  constexpr double tiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double fraction = d;
  for (int m = 1; m <= 300; ++m) {
    const double i = m;
    const auto step = [&](double term) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      c = std::abs(c) < tiny ? tiny : c;
      fraction *= c * d;
      return c * d;
    };
    step(i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)));
    const double change = step(-(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)));
    if (std::abs(change - 1) < 1e-14) break;
  }
  return front * fraction;
}

double f_tail(double f, double d1, double d2) {
  if (!(f > 0)) return 1;
  return incomplete_beta(d2 / 2, d1 / 2, d2 / (d2 + d1 * f));
}

double t_quantile_95(double dof) {
  constexpr double normal = 1.959963984540054;
  if (!(dof > 0)) return std::numeric_limits<double>::infinity();
  if (dof > 1e6) return normal;
  // P(|T| > t) = I_{dof/(dof+t^2)}(dof/2, 1/2): decreasing in t, so bisect.
  double low = normal;
  double high = 1e4;
  for (int step = 0; step < 200; ++step) {
    const double t = std::sqrt(low * high);
    (incomplete_beta(dof / 2, 0.5, dof / (dof + t * t)) > 0.05 ? low : high) = t;
  }
  return std::sqrt(low * high);
}

MeanAndError correlated_mean(std::span<const double> values) {
  MeanAndError result;
  const std::size_t n = values.size();
  if (n == 0) return {0, std::numeric_limits<double>::infinity()};
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  if (n < 4) {
    result.error = std::numeric_limits<double>::infinity();
    return result;
  }
  double slope_top = 0;
  double slope_bottom = 0;
  const double middle = (static_cast<double>(n) - 1) / 2;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(i) - middle;
    slope_top += x * (values[i] - result.mean);
    slope_bottom += x * x;
  }
  const double slope = slope_top / slope_bottom;
  std::vector<double> level;
  level.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    level.push_back(values[i] - result.mean - slope * (static_cast<double>(i) - middle));
  }
  // Halve the series by averaging neighbours; the largest error down to 12 batches is the answer.
  double worst = 0;
  while (level.size() >= std::min<std::size_t>(12, n)) {
    double square = 0;
    for (const double value : level) square += value * value;
    const auto count = static_cast<double>(level.size());
    worst = std::max(worst, std::sqrt(square / (count * std::max(1.0, count - 2))));
    std::vector<double> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      next.push_back((level[i] + level[i + 1]) / 2);
    }
    if (next.size() == level.size()) break;
    level = std::move(next);
  }
  result.error = worst;
  return result;
}

}  // namespace ww::model
