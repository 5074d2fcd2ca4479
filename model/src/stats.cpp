#include "stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ww/core/statistics.hpp"

namespace ww::model {

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

double f_tail(double f, double d1, double d2) {
  if (!(f > 0)) return 1;
  return incomplete_beta(d2 / 2, d1 / 2, d2 / (d2 + d1 * f));
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
