#include "fit/solver/reading_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "fit/solver/assumptions.hpp"

namespace ww::model {
namespace {

// The harmonics that are left out have 2% of the variance.
constexpr int kHarmonics = 32;
constexpr int kBisections = 60;  // to the last digits

}  // namespace

double rounding_variance(double step_w, double sigma_w) {
  double variance = 0;
  for (int n = 1; n <= kHarmonics; ++n) {
    const double order = std::numbers::pi * n / step_w;
    variance += std::exp(-4 * order * order * sigma_w * sigma_w) / (2 * order * order);
  }
  return variance;
}

double noise_before_rounding(double step_w, double mean_square_w2) {
  const auto scatter = [&](double sigma_w) {
    return sigma_w * sigma_w + step_w * step_w / 12 - rounding_variance(step_w, sigma_w);
  };
  double low = 0;
  double high = std::sqrt(mean_square_w2) + step_w;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (scatter(middle) < mean_square_w2 ? low : high) = middle;
  }
  return scatter(0) >= mean_square_w2 ? 0 : high;
}

std::vector<std::vector<std::size_t>> round_alike(std::span<const SteadyPower> powers,
                                                  double step_w) {
  std::vector<std::size_t> order(powers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::tie(powers[i].payload, powers[i].power_w); });
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t i : order) {
    const SteadyPower* first = groups.empty() ? nullptr : &powers[groups.back().front()];
    if (first == nullptr || powers[i].payload != first->payload ||
        powers[i].power_w - first->power_w > kCorrelatedSteps * step_w) {
      groups.emplace_back();
    }
    groups.back().push_back(i);
  }
  return groups;
}

double rounding_variance(std::span<const SteadyPower> powers, double step_w) {
  double square = 0;
  for (const SteadyPower& power : powers) square += power.spread_w * power.spread_w;
  const double mean_square = square / static_cast<double>(powers.size());
  return rounding_variance(step_w, noise_before_rounding(step_w, mean_square));
}

double rounding_of(std::span<const SteadyPower> powers, std::span<const double> per_watt,
                   double step_w) {
  if (!(step_w > 0) || powers.empty()) return 0;
  double square = 0;
  for (const auto& group : round_alike(powers, step_w)) {
    double sum = 0;
    for (const std::size_t i : group) sum += per_watt[i];
    square += sum * sum;
  }
  return rounding_variance(powers, step_w) * square;
}

}  // namespace ww::model
