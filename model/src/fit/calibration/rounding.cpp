#include "fit/calibration/rounding.hpp"

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fit/solver/reading_steps.hpp"

namespace ww::model {
namespace {

// Pair, state and payload of a stream; idle windows have a state alone.
using Payload = std::tuple<int, int, int, std::string, int>;

// A steady power, as the fit found it, and what a watt there adds to each parameter.
struct Shown {
  Payload payload;
  std::size_t variant{};
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
         stream.variant,
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
                   0,
                   window.power_w - fit.idle_residual_w[i],
                   window.power_spread_w,
                   per_watt.row(static_cast<Eigen::Index>(i))});
  }
  return all;
}

// Powers of one pair, payload and variant: how many there are, and the sum of the squares of how
// many of them err together.
struct Alike {
  double powers{}, square{};
  // The share of the steps' variance by which these powers scatter about their mean: nothing where
  // all of them err together, all of it where each errs for itself.
  [[nodiscard]] double in_scatter() const {
    return powers > 1 ? (powers - square / powers) / (powers - 1) : 0;
  }
};

// Covariance by the steps, without what the streams' scatter about their pairs' means shows of them
// already: that is in the fit's noise. Noise before the steps is that of all readings of `shown`.
Eigen::MatrixXd covariance_of(const std::vector<Shown>& shown, double step_w,
                              Eigen::Index columns) {
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(columns, columns);
  if (shown.empty()) return covariance;
  std::map<Payload, std::size_t> payloads;
  std::vector<SteadyPower> powers;
  for (const Shown& one : shown) {
    const std::size_t payload = payloads.emplace(one.payload, payloads.size()).first->second;
    powers.push_back({payload, one.fitted_w, one.spread_w});
  }
  std::map<std::pair<Payload, std::size_t>, Alike> pairs;
  for (const auto& group : round_alike(powers, step_w)) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(columns);
    std::map<std::size_t, double> together;  // by variant
    for (const std::size_t i : group) {
      sum += shown[i].per_watt;
      ++together[shown[i].variant];
    }
    covariance += sum.transpose() * sum;
    for (const auto& [variant, count] : together) {
      Alike& alike = pairs[{shown[group.front()].payload, variant}];
      alike.powers += count;
      alike.square += count * count;
    }
  }
  for (const Shown& one : shown) {
    if (std::get<0>(one.payload) < 0) continue;  // idle
    covariance -=
        pairs[{one.payload, one.variant}].in_scatter() * one.per_watt.transpose() * one.per_watt;
  }
  return rounding_variance(powers, step_w) * covariance;
}

}  // namespace

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
