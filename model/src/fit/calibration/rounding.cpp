#include "fit/calibration/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "fit/solver/assumptions.hpp"

namespace ww::model {
namespace {

// The harmonics that are left out have 2% of the variance.
constexpr int kHarmonics = 32;
constexpr int kBisections = 60;  // to the last digits

// Pair, state and payload of a stream; idle windows have a state alone.
using Payload = std::tuple<int, int, int, std::string, int>;

// A steady power, as the fit found it, and what a watt there adds to each parameter.
struct Shown {
  Payload payload;
  double fitted_w{};
  double spread_w{};  // of its readings
  Eigen::RowVectorXd per_watt;
};

std::vector<Shown> streams_of(const JointInput& input, const JointFit& fit,
                              const std::vector<Eigen::Index>& columns) {
  const Eigen::MatrixXd per_sigma = fit.stream_jacobian * fit.covariance(Eigen::all, columns);
  std::vector<Shown> all;
  for (std::size_t p = 0; p < input.streams.size(); ++p) {
    const StreamPlateau& stream = input.streams[p];
    const Variant& variant = input.variants[stream.variant];
    const double scale = std::sqrt(fit.stream_weight[p]) / fit.stream_sigma_w[stream.variant];
    all.push_back(
        {{stream.engine, stream.quadrant, variant.dvfs_state, variant.pattern, variant.throttle},
         stream.window.power_w - fit.stream_residual_w[p],
         stream.window.power_spread_w,
         scale * per_sigma.row(static_cast<Eigen::Index>(p))});
  }
  return all;
}

std::vector<Shown> idle_windows_of(const JointInput& input, const JointFit& fit,
                                   const std::vector<Eigen::Index>& columns) {
  std::vector<Shown> all;
  if (fit.idle_per_watt.rows() == 0) return all;
  const Eigen::MatrixXd per_watt = fit.idle_per_watt * fit.covariance(Eigen::all, columns);
  for (std::size_t i = 0; i < input.idle.size(); ++i) {
    const Window& window = input.idle[i];
    all.push_back({{-1, -1, window.dvfs_state, "", 0},
                   window.power_w - fit.idle_residual_w[i],
                   window.power_spread_w,
                   per_watt.row(static_cast<Eigen::Index>(i))});
  }
  return all;
}

// Covariance by the steps: powers of one payload that lie as near as kCorrelatedSteps err together.
// Noise is that of all readings of `shown`.
Eigen::MatrixXd covariance_of(std::vector<Shown> shown, double step_w, Eigen::Index columns) {
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(columns, columns);
  if (shown.empty()) return covariance;
  double square = 0;
  for (const Shown& one : shown) square += one.spread_w * one.spread_w;
  const double mean_square = square / static_cast<double>(shown.size());
  std::ranges::sort(shown, {},
                    [](const Shown& one) { return std::tie(one.payload, one.fitted_w); });
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(columns);
  const Shown* first = &shown.front();
  for (const Shown& one : shown) {
    if (one.payload != first->payload ||
        one.fitted_w - first->fitted_w > kCorrelatedSteps * step_w) {
      covariance += sum.transpose() * sum;
      sum.setZero();
      first = &one;
    }
    sum += one.per_watt;
  }
  covariance += sum.transpose() * sum;
  return rounding_variance(step_w, noise_before_rounding(step_w, mean_square)) * covariance;
}

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

Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit,
                                    const std::vector<Eigen::Index>& columns) {
  const auto count = static_cast<Eigen::Index>(columns.size());
  const double step_w = input.power_step_w;
  if (!(step_w > 0)) return Eigen::MatrixXd::Zero(count, count);
  return covariance_of(streams_of(input, fit, columns), step_w, count) +
         covariance_of(idle_windows_of(input, fit, columns), step_w, count);
}

Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit) {
  return rounding_covariance(input, fit, fit.energy_column);
}

}  // namespace ww::model
