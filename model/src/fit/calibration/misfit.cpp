#include "fit/calibration/misfit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/calibration/rounding.hpp"
#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

// Returns the toggle rate of a payload that differs from random ones in nothing else that costs
// energy; the others couple otherwise, and may well cost more.
double toggle_rate(const std::string& pattern) {
  if (pattern == "half_random") return 0.25;
  return pattern == "zeros" || pattern == "ones" || pattern == "aa" ? 0 : 0.5;
}

// Lambda by the measurements alone: the prior draws it to 0 where they are few, and is no evidence
// for it. Power that wanders during the one cool-down bends the idle curve, and looks like another
// slope under load: the error has that, too, and the steps of the readings, among which idle power
// climbs as a staircase would.
struct Steepening {
  double measured{};
  double half_width{};  // 95%
  double p_value{1};    // against 0
};

Steepening measured_steepening(const JointInput& input, const JointFit& fit,
                               const Uncertainty& uncertainty) {
  const double variance = fit.covariance(fit.steepening_column, fit.steepening_column);
  const double precision = 1 / variance - 1 / (kSteepeningSigma * kSteepeningSigma);
  if (precision <= 0) return {};
  const double kept = variance * precision;  // of what the measurements alone would give
  Steepening result;
  result.measured = fit.parameters.leakage_steepening / kept;
  const double of_steps = rounding_covariance(input, fit, {fit.steepening_column})(0, 0);
  const double error = std::sqrt(uncertainty.scatter / precision +
                                 (fit.steepening_drift + of_steps) / (kept * kept));
  const double freedom = uncertainty.degrees_of_freedom;
  result.half_width = t_quantile_95(freedom) * error;
  result.p_value = f_tail(std::pow(result.measured / error, 2), 1, freedom);
  return result;
}

// Explains why lambda is undecided: something is there, and the limit is in its interval. Empty
// where nothing is.
std::string undecided_steepening(const Steepening& lambda) {
  if (lambda.p_value > kSuspicion ||
      std::abs(std::abs(lambda.measured) - kMaxSteepening) > lambda.half_width) {
    return {};
  }
  return fmt::format(
      "power under load follows temperature otherwise than idle power does, by {:+.1f}% ± {:.1f}% "
      "of idle power in 10 K squared (limit {:.0f}%)",
      100 * lambda.measured, 100 * lambda.half_width, 100 * kMaxSteepening);
}

// Both, where there are two.
std::string joined(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

std::string undecided_pairs(const LackOfFit& lack) {
  if (lack.p_value > kSuspicion || lack.low > kMisfitLimit || lack.high < kMisfitLimit) return {};
  return fmt::format(
      "power of engine and quadrant pairs departs from distance by {:.1f}% to {:.1f}% of the "
      "signal (limit {:.1f}%)",
      100 * lack.low, 100 * lack.high, 100 * kMisfitLimit);
}

}  // namespace

Eigen::MatrixXd unexplained_covariance(const JointInput& input, const JointFit& fit,
                                       const Uncertainty& uncertainty, std::size_t variant) {
  const auto terms =
      static_cast<Eigen::Index>(fit.parameters.variants[variant].unexplained_w.size());
  const Eigen::Index at = fit.unexplained_column[variant];
  std::vector<Eigen::Index> columns(static_cast<std::size_t>(terms));
  std::iota(columns.begin(), columns.end(), at);
  return uncertainty.scatter * fit.covariance.block(at, at, terms, terms) +
         rounding_covariance(input, fit, columns);
}

LackOfFit lack_of_fit(const JointInput& input, const JointFit& fit, const Uncertainty& uncertainty,
                      std::size_t variant) {
  LackOfFit result;
  const auto& parameters = fit.parameters.variants[variant];
  const auto n = static_cast<Eigen::Index>(parameters.unexplained_w.size());
  result.freedom = static_cast<double>(n);
  const double signal_w = parameters.energy_fj_per_bit_mm * 1e-15 *
                          input.variants[variant].mean_bits_per_second *
                          input.centred_distance_mm.norm();
  if (n == 0 || signal_w == 0) return result;
  const Eigen::VectorXd u = Eigen::Map<const Eigen::VectorXd>(parameters.unexplained_w.data(), n);
  const Eigen::MatrixXd covariance = unexplained_covariance(input, fit, uncertainty, variant);
  const double excess = std::max(0.0, u.squaredNorm() - covariance.trace());
  result.relative = std::sqrt(excess) / std::abs(signal_w);
  // Variance of |u|^2: 4 m'Cm + 2 tr C^2 for a mean m, where u'Cu estimates m'Cm + tr C^2.
  const double noise = (covariance * covariance).trace();
  const double half = t_quantile_95(uncertainty.degrees_of_freedom) *
                      std::sqrt(std::max(4 * u.dot(covariance * u) - 2 * noise, 2 * noise));
  result.low = std::sqrt(std::max(0.0, excess - half)) / std::abs(signal_w);
  result.high = std::sqrt(excess + half) / std::abs(signal_w);
  result.p_value = f_tail(u.dot(covariance.ldlt().solve(u)) / result.freedom, result.freedom,
                          uncertainty.degrees_of_freedom);
  return result;
}

std::string absurd_energy(const Figure& energy, double voltage_v) {
  if (!energy.value || !energy.low || !energy.high || !(voltage_v > 0)) {
    return {};
  }
  if (*energy.high < 0) {
    return fmt::format(
        "{:.1f} fJ/bit/mm: far paths take less power than near ones, so that engines, quadrants or "
        "paths are named the wrong way round",
        *energy.value);
  }
  const double fj_per_pf = 1e3 * voltage_v * voltage_v / 4;
  const double least = kMinPicofaradPerMm * fj_per_pf;
  const double most = kMaxPicofaradPerMm * fj_per_pf;
  if (*energy.high < least || *energy.low > most) {
    return fmt::format(
        "{:.1f} fJ/bit/mm is outside of what wires can cost at {:.2f} V ({:.0f} to {:.0f} "
        "fJ/bit/mm)",
        *energy.value, voltage_v, least, most);
  }
  return {};
}

void flag(Misfit& misfit, const std::string& reason) {
  misfit.flagged = true;
  misfit.undecided.clear();
  misfit.reason = joined(misfit.reason, reason);
}

void mark_constants(FitResult& result) {
  if (!result.misfit.flagged) {
    return;
  }
  const auto mark = [&](FittedConstant& constant) {
    if (constant.row.value) {
      constant.row.status = RowStatus::misfit;
      constant.row.reason = result.misfit.reason;
    }
  };
  mark(result.energy_per_bit_mm);
  std::ranges::for_each(result.constants, mark);
}

Misfit judge(const JointInput& input, const JointFit& fit, const Uncertainty& uncertainty,
             std::size_t main) {
  Misfit misfit;
  misfit.threshold = kMisfitLimit;
  const LackOfFit lack = lack_of_fit(input, fit, uncertainty, main);
  misfit.statistic = lack.relative;
  const std::string pairs = undecided_pairs(lack);
  std::vector<std::string> reasons;
  std::size_t provisional = 0;  // of the reasons
  if (lack.relative > kMisfitLimit && lack.p_value < kMisfitSignificance) {
    provisional += pairs.empty() ? 0 : 1;
    reasons.push_back(fmt::format(
        "power of engine and quadrant pairs departs from distance by {:.0f}% of the signal "
        "(limit {:.0f}%; p = {:.1e})",
        100 * lack.relative, 100 * kMisfitLimit, lack.p_value));
  }
  const double steepening = fit.parameters.leakage_steepening;
  const Steepening lambda =
      input.temperature_correction ? measured_steepening(input, fit, uncertainty) : Steepening{};
  const std::string heat = undecided_steepening(lambda);
  if (std::abs(steepening) > kMaxSteepening && lambda.p_value < kMisfitSignificance) {
    provisional += heat.empty() ? 0 : 1;
    reasons.push_back(fmt::format(
        "power under load follows temperature otherwise than idle power does, by {:+.1f}% of idle "
        "power in 10 K squared (limit {:.0f}%): the energy holds at the streams' temperature alone",
        100 * steepening, 100 * kMaxSteepening));
  }
  const Variant& reference = input.variants[main];
  const auto energy = [&](std::size_t v) {
    return fit.parameters.variants[v].energy_fj_per_bit_mm;
  };
  const auto error = [&](std::size_t a, std::size_t b) {
    Eigen::VectorXd weights = Eigen::VectorXd::Zero(uncertainty.covariance.rows());
    weights[static_cast<Eigen::Index>(a)] = 1;
    weights[static_cast<Eigen::Index>(b)] -= 1;
    return half_width_95(uncertainty, weights) / 2;
  };
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const Variant& variant = input.variants[v];
    if (v == main || variant.dvfs_state != reference.dvfs_state) continue;
    if (variant.turn_s > 0) continue;  // lock-in has a check of its own
    const double difference = energy(v) - energy(main);
    const bool significant = std::abs(difference) > kDisagreementSigmas * error(v, main);
    if (!significant) continue;
    if (variant.pattern == reference.pattern &&
        std::abs(difference) > kRateDisagreement * std::abs(energy(main))) {
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
  for (const auto& reason : reasons) {
    flag(misfit, reason);
  }
  if (reasons.size() == provisional) misfit.undecided = joined(pairs, heat);
  return misfit;
}

}  // namespace ww::model
