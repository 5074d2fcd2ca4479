#include "fit/calibration/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace ww::model {
namespace {

// Those that are left out have 2% of the variance.
constexpr int kHarmonics = 32;

double noise_variance(const JointInput& input) {
  double square = 0;
  for (const StreamPlateau& stream : input.streams) {
    square += stream.window.power_spread_w * stream.window.power_spread_w;
  }
  const double step = input.power_step_w;
  return std::max(0.0, square / static_cast<double>(input.streams.size()) - step * step / 12);
}

}  // namespace

Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit) {
  const auto variants = static_cast<Eigen::Index>(input.variants.size());
  const auto rows = static_cast<Eigen::Index>(input.streams.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(variants, variants);
  const double step = input.power_step_w;
  if (!(step > 0) || rows == 0) return covariance;

  Eigen::MatrixXd by_power(rows, variants);  // dk_v / dP_p
  for (Eigen::Index v = 0; v < variants; ++v) {
    by_power.col(v) =
        fit.stream_jacobian * fit.covariance.col(fit.energy_column[static_cast<std::size_t>(v)]);
  }
  Eigen::VectorXcd turn(rows);  // of the first harmonic
  for (Eigen::Index p = 0; p < rows; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const StreamPlateau& stream = input.streams[at];
    by_power.row(p) *= std::sqrt(fit.stream_weight[at]) / fit.stream_sigma_w[stream.variant];
    const double fitted_w = stream.window.power_w - fit.stream_residual_w[at];
    turn[p] = std::polar(1.0, 2 * std::numbers::pi * fitted_w / step);
  }
  const double variance = noise_variance(input);
  Eigen::VectorXcd harmonic = Eigen::VectorXcd::Ones(rows);
  for (int n = 1; n <= kHarmonics; ++n) {
    harmonic = harmonic.cwiseProduct(turn);
    const Eigen::VectorXcd sum = by_power.transpose() * harmonic;
    const double order = std::numbers::pi * n / step;
    covariance += std::exp(-4 * order * order * variance) / (2 * order * order) *
                  (sum * sum.adjoint()).real();
  }
  return covariance;
}

}  // namespace ww::model
