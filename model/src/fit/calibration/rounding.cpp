#include "fit/calibration/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <tuple>

#include "fit/solver/assumptions.hpp"

namespace ww::model {
namespace {

// The harmonics that are left out have 2% of the variance.
constexpr int kHarmonics = 32;
constexpr int kBisections = 60;  // to the last digits

// Mean square [W^2] by which the readings within each stream scatter, over all streams.
double mean_square_scatter(const JointInput& input) {
  double square = 0;
  for (const StreamPlateau& stream : input.streams) {
    square += stream.window.power_spread_w * stream.window.power_spread_w;
  }
  return square / static_cast<double>(input.streams.size());
}

// The group of each stream, and how many there are.
std::pair<std::vector<Eigen::Index>, Eigen::Index> groups_of(const JointInput& input,
                                                             const JointFit& fit) {
  using Payload = std::tuple<int, int, int, std::string, int>;  // with its pair and state
  std::map<Payload, std::vector<std::size_t>> members;
  for (std::size_t p = 0; p < input.streams.size(); ++p) {
    const StreamPlateau& stream = input.streams[p];
    const Variant& variant = input.variants[stream.variant];
    members[{stream.engine, stream.quadrant, variant.dvfs_state, variant.pattern, variant.throttle}]
        .push_back(p);
  }
  const auto fitted_w = [&](std::size_t p) {
    return input.streams[p].window.power_w - fit.stream_residual_w[p];
  };
  std::vector<Eigen::Index> group(input.streams.size());
  Eigen::Index count = 0;
  for (auto& [payload, streams] : members) {
    std::ranges::sort(streams, {}, fitted_w);
    double first_w = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const double here_w = fitted_w(streams[i]);
      if (i == 0 || here_w - first_w > kCorrelatedSteps * input.power_step_w) {
        first_w = here_w;
        ++count;
      }
      group[streams[i]] = count - 1;
    }
  }
  return {std::move(group), count};
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
  const auto rows = static_cast<Eigen::Index>(input.streams.size());
  const double step = input.power_step_w;
  if (!(step > 0) || rows == 0) return Eigen::MatrixXd::Zero(count, count);

  Eigen::MatrixXd by_power = fit.stream_jacobian * fit.covariance(Eigen::all, columns);
  const auto [group, groups] = groups_of(input, fit);
  Eigen::MatrixXd by_group = Eigen::MatrixXd::Zero(groups, count);
  for (Eigen::Index p = 0; p < rows; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const double scale =
        std::sqrt(fit.stream_weight[at]) / fit.stream_sigma_w[input.streams[at].variant];
    by_group.row(group[at]) += scale * by_power.row(p);
  }
  const double sigma_w = noise_before_rounding(step, mean_square_scatter(input));
  return rounding_variance(step, sigma_w) * by_group.transpose() * by_group;
}

Eigen::MatrixXd rounding_covariance(const JointInput& input, const JointFit& fit) {
  return rounding_covariance(input, fit, fit.energy_column);
}

}  // namespace ww::model
