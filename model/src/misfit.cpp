#include "misfit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stats.hpp"

namespace ww::model {
namespace {

// Links that differ by 5-8% and published distances off by a few percent leave an unexplained
// interaction of 10-20% of the signal; links that differ by 30-50%, or pairs with a power of their
// own, leave 60-100%. See docs/method.md for the figures.
constexpr double relative_threshold = 0.30;
constexpr double significance = 1e-3;
// Energies of the same payload at two rates, or of payloads in the order of their toggles.
constexpr double rate_disagreement = 0.20;
constexpr double disagreement_sigmas = 4;

double toggle_rate(const std::string& pattern) {
  if (pattern == "random") return 0.5;
  if (pattern == "half_random") return 0.25;
  return 0;
}

}  // namespace

LackOfFit lack_of_fit(const JointInput& input, const JointFit& fit, std::size_t variant) {
  struct Pair {
    std::vector<double> residual;
    double traffic{};
  };
  std::map<std::pair<int, int>, Pair> pairs;
  for (const std::size_t p : input.variants[variant].plateaus) {
    const StreamPlateau& stream = input.streams[p];
    Pair& pair = pairs[{stream.engine, stream.quadrant}];
    pair.residual.push_back(fit.stream_residual_w[p]);
    pair.traffic =
        input.centred_distance_mm(stream.engine, stream.quadrant) * stream.bits_per_second * 1e-15;
  }
  // A plateau far from its pair's others is an outlier. One far from the fit is not: that is what
  // is looked for.
  std::vector<double> spreads;
  for (const auto& [key, pair] : pairs) {
    const double middle = median(pair.residual);
    for (const double r : pair.residual) spreads.push_back(std::abs(r - middle));
  }
  const double limit = 6 * 1.4826 * std::sqrt(2.0) * median(spreads) + 1e-3;
  for (auto& [key, pair] : pairs) {
    const double middle = median(pair.residual);
    std::erase_if(pair.residual, [&](double r) { return std::abs(r - middle) > limit; });
  }
  LackOfFit result;
  double between = 0;
  double within = 0;
  double traffic = 0;
  double n = 0;
  for (const auto& [key, pair] : pairs) {
    const auto count = static_cast<double>(pair.residual.size());
    double mean = 0;
    for (const double r : pair.residual) mean += r / count;
    for (const double r : pair.residual) within += (r - mean) * (r - mean);
    between += count * mean * mean;
    traffic += pair.traffic * pair.traffic;
    n += count;
  }
  result.freedom =
      static_cast<double>((input.distance_mm.rows() - 1) * (input.distance_mm.cols() - 1) - 1);
  const double within_freedom = n - static_cast<double>(pairs.size()) - 2;
  const double k = fit.parameters.variants[variant].energy_fj_per_bit_mm;
  if (result.freedom < 1 || within_freedom < 1 || traffic <= 0 || k == 0) return result;
  const double noise = std::max(within / within_freedom, 1e-12);
  const double excess = std::max(0.0, between - result.freedom * noise);
  const double signal = k * k * traffic / static_cast<double>(pairs.size());
  result.relative = std::sqrt(excess / n / signal);
  result.p_value = f_tail(between / result.freedom / noise, result.freedom, within_freedom);
  const double per_pair = excess / result.freedom / (n / static_cast<double>(pairs.size()));
  result.spread_fj = std::sqrt(per_pair / traffic);
  return result;
}

Misfit judge(const JointInput& input, const JointFit& fit, const Uncertainty& uncertainty,
             std::size_t main) {
  Misfit misfit;
  misfit.threshold = relative_threshold;
  const LackOfFit lack = lack_of_fit(input, fit, main);
  misfit.statistic = lack.relative;
  std::vector<std::string> reasons;
  if (lack.relative > relative_threshold && lack.p_value < significance) {
    reasons.push_back(fmt::format(
        "power of engine and quadrant pairs departs from distance by {:.0f}% of the signal "
        "(limit {:.0f}%; p = {:.1e})",
        100 * lack.relative, 100 * relative_threshold, lack.p_value));
  }
  const Variant& reference = input.variants[main];
  const auto energy = [&](std::size_t v) {
    return fit.parameters.variants[v].energy_fj_per_bit_mm;
  };
  const auto error = [&](std::size_t a, std::size_t b) {
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(uncertainty.covariance.rows());
    weights[static_cast<Eigen::Index>(a)] = 1;
    weights[static_cast<Eigen::Index>(b)] -= 1;
    return half_width_95(uncertainty, weights, 0) / 2;
  };
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const Variant& variant = input.variants[v];
    if (v == main || variant.dvfs_state != reference.dvfs_state) continue;
    const double difference = energy(v) - energy(main);
    const bool significant = std::abs(difference) > disagreement_sigmas * error(v, main);
    if (!significant) continue;
    if (variant.pattern == reference.pattern &&
        std::abs(difference) > rate_disagreement * std::abs(energy(main))) {
      reasons.push_back(fmt::format(
          "energy per bit depends on rate: {:.1f} fJ/bit/mm at throttle {}, {:.1f} at {}",
          energy(v), variant.throttle, energy(main), reference.throttle));
    }
    if (variant.throttle == reference.throttle &&
        toggle_rate(variant.pattern) < toggle_rate(reference.pattern) &&
        difference * energy(main) > 0) {
      reasons.push_back(fmt::format(
          "pattern {} toggles less than {} and costs more ({:.1f} against {:.1f} fJ/bit/mm)",
          variant.pattern, reference.pattern, energy(v), energy(main)));
    }
  }
  misfit.flagged = !reasons.empty();
  for (const auto& reason : reasons) {
    misfit.reason += (misfit.reason.empty() ? "" : "; ") + reason;
  }
  return misfit;
}

}  // namespace ww::model
