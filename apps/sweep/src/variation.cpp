#include <algorithm>
#include <cmath>

#include "distributions.hpp"
#include "ww/core/statistics.hpp"
#include "ww/sweep/analysis.hpp"

namespace ww::sweep {
namespace {

struct Weighted {
  double mean{};
  double weight{};  // sum
  double q{};       // sum of weighted squares about the mean
};

// Weights 1 / (error^2 + between): `between` is the variance among parts.
Weighted weigh(const std::vector<PartValue>& parts, double between) {
  Weighted sums;
  double product = 0;
  const auto weight_of = [&](const PartValue& part) {
    return 1 / (std::pow((part.high - part.low) / (2 * kNormal95), 2) + between);
  };
  for (const auto& part : parts) {
    sums.weight += weight_of(part);
    product += weight_of(part) * part.value;
  }
  sums.mean = product / sums.weight;
  for (const auto& part : parts) sums.q += weight_of(part) * std::pow(part.value - sums.mean, 2);
  return sums;
}

// The variance among parts at which q has the given size; q falls as it grows.
double variance_where(const std::vector<PartValue>& parts, double q) {
  if (weigh(parts, 0).q <= q) return 0;
  double high = 1e-12;
  while (weigh(parts, high).q > q) high *= 2;
  double low = 0;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (weigh(parts, middle).q > q ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Result<PartVariation> part_variation(const std::vector<PartValue>& parts) {
  if (parts.size() < 2) {
    return fail(ErrorCode::bad_data, "fewer than two parts have a value with an interval");
  }
  for (const auto& part : parts) {
    if (!(part.high > part.low)) {
      return fail(ErrorCode::bad_data, "its interval has no width", part.name);
    }
  }
  const double freedom = static_cast<double>(parts.size()) - 1;
  PartVariation variation;
  variation.parts = parts.size();
  const double between = variance_where(parts, freedom);
  variation.deviation = std::sqrt(between);
  variation.deviation_low = std::sqrt(variance_where(parts, chi_squared_quantile(0.975, freedom)));
  variation.deviation_high = std::sqrt(variance_where(parts, chi_squared_quantile(0.025, freedom)));
  variation.same_p = 1 - chi_squared_below(weigh(parts, 0).q, freedom);
  const auto sums = weigh(parts, between);
  variation.mean = sums.mean;
  // Hartung and Knapp's factor, never below one: few parts that agree by luck are no certainty.
  const double factor = std::max(1.0, sums.q / freedom);
  const double reach = t_quantile_95(freedom) * std::sqrt(factor / sums.weight);
  variation.mean_low = sums.mean - reach;
  variation.mean_high = sums.mean + reach;
  for (const auto& part : parts) {
    const double error = (part.high - part.low) / (2 * kNormal95);
    variation.distance.push_back((part.value - sums.mean) / std::sqrt(error * error + between));
  }
  return variation;
}

}  // namespace ww::sweep
