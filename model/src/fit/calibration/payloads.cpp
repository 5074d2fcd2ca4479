#include "fit/calibration/payloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/calibration/misfit.hpp"
#include "fit/calibration/rounding.hpp"
#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

bool same_payload(const Variant& a, const Variant& b) {
  return a.pattern == b.pattern && a.throttle == b.throttle && a.dvfs_state == b.dvfs_state;
}

// Error of a payload's k [fJ/bit/mm] by its pairs' own departures, by
// variant. Links that differ show in every payload in proportion to its
// k; what departs from that in the interactions that distance leaves out,
// and is significant there, is no more likely there than along distance.
Eigen::VectorXd own_departures(const JointInput& input, const JointFit& fit,
                               const Uncertainty& uncertainty) {
  const auto variants = static_cast<Eigen::Index>(input.variants.size());
  const auto terms = static_cast<Eigen::Index>(input.basis.size());
  Eigen::VectorXd error = Eigen::VectorXd::Zero(variants);
  const double distance = input.centred_distance_mm.norm();
  if (terms == 0 || distance == 0) return error;
  struct Seen {
    Eigen::VectorXd u;           // W
    Eigen::MatrixXd covariance;  // its
    double noise{};              // variance of one of its terms
    double bits{};               // 1e-15 / s, so that k times this is W/mm
    double link() const { return k * bits; }
    double k{};
  };
  std::vector<Seen> all;
  std::map<int, std::pair<Eigen::VectorXd, double>> links;  // sums, by state
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const auto& parameters = fit.parameters.variants[v];
    Seen seen;
    seen.u = Eigen::Map<const Eigen::VectorXd>(parameters.unexplained_w.data(), terms);
    seen.covariance = unexplained_covariance(input, fit, uncertainty, v);
    seen.noise = seen.covariance.trace() / static_cast<double>(terms);
    seen.bits = 1e-15 * input.variants[v].mean_bits_per_second;
    seen.k = parameters.energy_fj_per_bit_mm;
    auto& [sum, weight] = links[input.variants[v].dvfs_state];
    if (sum.size() == 0) sum = Eigen::VectorXd::Zero(terms);
    sum += seen.link() / seen.noise * seen.u;
    weight += seen.link() * seen.link() / seen.noise;
    all.push_back(std::move(seen));
  }
  for (std::size_t v = 0; v < all.size(); ++v) {
    const Seen& seen = all[v];
    const auto& [sum, weight] = links[input.variants[v].dvfs_state];
    if (!(weight > 0) || !(seen.bits > 0)) continue;
    const Eigen::VectorXd own = seen.u - seen.link() * sum / weight;
    const double free = 1 - seen.link() * seen.link() / seen.noise / weight;  // not in the links
    const double excess = own.squaredNorm() / static_cast<double>(terms) - seen.noise * free;
    if (!(free > 0) || !(excess > 0)) continue;
    const double ratio =
        own.dot(seen.covariance.ldlt().solve(own)) / (static_cast<double>(terms) * free);
    if (f_tail(ratio, static_cast<double>(terms), uncertainty.degrees_of_freedom) <
        kPayloadSignificance) {
      error[static_cast<Eigen::Index>(v)] = std::sqrt(excess) / seen.bits / distance;
    }
  }
  return error;
}

using Parts = std::vector<std::pair<std::string, Eigen::MatrixXd>>;

Eigen::MatrixXd sum_of(const Parts& parts, Eigen::Index variants) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(variants, variants);
  for (const auto& [source, part] : parts) sum += part;
  return sum;
}

}  // namespace

Payloads::Payloads(const JointInput& input, const JointFit& fit,
                   const std::vector<double>& correction, const std::vector<double>& load_line,
                   Uncertainty& uncertainty)
    : input_(input) {
  const auto variants = static_cast<Eigen::Index>(input.variants.size());
  Eigen::VectorXd k(variants);
  Eigen::VectorXd heat(variants);
  Eigen::VectorXd fast = Eigen::VectorXd::Zero(variants);
  Eigen::VectorXd unseen = Eigen::VectorXd::Zero(variants);
  double stream_w = 1;
  for (const auto& variant : fit.parameters.variants) stream_w = std::max(stream_w, variant.mean_w);
  for (Eigen::Index v = 0; v < variants; ++v) {
    const auto at = static_cast<std::size_t>(v);
    k[v] = fit.parameters.variants[at].energy_fj_per_bit_mm;
    heat[v] = within(kHeatBound) * correction[at];
    if (input.temperature_correction) {
      const Variant& variant = input.variants[at];
      const double w_per_k =
          fit.parameters.idle[static_cast<std::size_t>(variant.dvfs_state)][1] / 10;
      double rise = 0;
      for (std::size_t j = 0; j < kFastHeatCount; ++j) {
        rise += w_per_k * fit.parameters.response[j] * heat_share(variant, heat_taus_s[j]);
      }
      fast[v] = within(kHotSpotBound) * k[v] * rise;
      unseen[v] = within(kUnseenHotSpotK) / stream_w * k[v] * w_per_k;
    }
    const auto found = std::ranges::find_if(members_, [&](const auto& members) {
      return same_payload(input.variants[members.front()], input.variants[at]);
    });
    if (found == members_.end()) {
      members_.push_back({at});
    } else {
      found->push_back(at);
    }
  }
  const Eigen::VectorXd stream = within(kStreamBound) * k;
  // Adds an error that all payloads of a state share, so that their differences do not feel it;
  // each state has another, for the order follows how the core's clock meets the fabric's.
  Eigen::MatrixXd control = Eigen::MatrixXd::Zero(variants, variants);
  std::map<int, double> most;
  const auto state = [&](Eigen::Index v) {
    return input.variants[static_cast<std::size_t>(v)].dvfs_state;
  };
  for (Eigen::Index v = 0; v < variants; ++v) {
    most[state(v)] = std::max(most[state(v)], within(kControlBound) * std::abs(k[v]));
  }
  for (Eigen::Index v = 0; v < variants; ++v) {
    for (Eigen::Index u = 0; u < variants; ++u) {
      if (state(u) == state(v)) control(u, v) = most[state(v)] * most[state(v)];
    }
  }
  // These errors are equal in all variants of a payload.
  const Eigen::VectorXd departures = own_departures(input, fit, uncertainty);
  Eigen::MatrixXd own = Eigen::MatrixXd::Zero(variants, variants);
  for (const auto& members : members_) {
    for (const std::size_t a : members) {
      for (const std::size_t b : members) {
        const auto row = static_cast<Eigen::Index>(a);
        const auto column = static_cast<Eigen::Index>(b);
        own(row, column) = departures[row] * departures[column];
      }
    }
  }
  uncertainty.systematic_parts = {
      {"heat of the wires themselves, against heat of the load", heat * heat.transpose()},
      {"hot spot of the wires, against that of the load", fast * fast.transpose()}};
  weighing_ = uncertainty.covariance + sum_of(uncertainty.systematic_parts, variants);
  const Parts shared = {{"hot spot faster than a cool-down shows", unseen * unseen.transpose()},
                        {"stream's deviations from its definition", stream * stream.transpose()},
                        {"order of addresses on request and tag wires", control},
                        {"pairs' own departures, in this payload alone", own}};
  uncertainty.systematic_parts.insert(uncertainty.systematic_parts.end(), shared.begin(),
                                      shared.end());
  if (const Eigen::VectorXd gaps = gap_errors(input, fit); gaps.norm() > 0) {
    uncertainty.systematic_parts.emplace_back("power between launches", gaps * gaps.transpose());
  }
  if (!load_line.empty()) {
    const AssumedLoadLine& line = input.load_line;
    uncertainty.steepest_sigmas = (line.steepest_ohm - line.ohm) / line.sigma_ohm;
    uncertainty.flattest_sigmas = (line.ohm - line.flattest_ohm) / line.sigma_ohm;
    uncertainty.by_load_line =
        Eigen::Map<const Eigen::VectorXd>(load_line.data(), variants) / uncertainty.steepest_sigmas;
    uncertainty.systematic_parts.emplace_back(
        fmt::format("load line, which no reading shows: {:.2f} mOhm taken, {:.2f} to {:.2f} (95%)",
                    1e3 * line.ohm, 1e3 * line.flattest_ohm, 1e3 * line.steepest_ohm),
        uncertainty.by_load_line * uncertainty.by_load_line.transpose());
  }
  // Where noise dithers, it lies far beyond the digits of what it is added to.
  if (const Eigen::MatrixXd rounding = rounding_covariance(input, fit);
      rounding.norm() > 1e-12 * uncertainty.covariance.norm()) {
    uncertainty.systematic_parts.emplace_back("steps of the readings, which no noise dithers",
                                              rounding);
    weighing_ += rounding;
  }
  uncertainty.systematic = sum_of(uncertainty.systematic_parts, variants);

  Eigen::MatrixXd design =
      Eigen::MatrixXd::Zero(variants, static_cast<Eigen::Index>(members_.size()));
  for (std::size_t p = 0; p < members_.size(); ++p) {
    for (const std::size_t v : members_[p]) {
      design(static_cast<Eigen::Index>(v), static_cast<Eigen::Index>(p)) = 1;
    }
  }
  const Eigen::MatrixXd weighted = weighing_.ldlt().solve(design);
  weights_ = (design.transpose() * weighted).ldlt().solve(weighted.transpose());
  const Eigen::VectorXd energy = weights_ * k;
  energy_.assign(energy.begin(), energy.end());
}

const Variant& Payloads::variant(std::size_t payload) const {
  const auto& members = members_[payload];
  const auto plateau = std::ranges::find_if(
      members, [this](std::size_t v) { return input_.variants[v].turn_s <= 0; });
  return input_.variants[plateau == members.end() ? members.front() : *plateau];
}

std::optional<std::size_t> Payloads::find(std::string_view pattern, int dvfs_state,
                                          bool slowest) const {
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < count(); ++p) {
    const Variant& here = variant(p);
    if (here.pattern != pattern || here.dvfs_state != dvfs_state) continue;
    if (!best || (here.throttle < variant(*best).throttle) != slowest) best = p;
  }
  return best;
}

std::optional<Eigen::VectorXd> Payloads::weights_of(std::size_t payload, bool lock_in) const {
  std::vector<Eigen::Index> rows;
  for (const std::size_t v : members_[payload]) {
    if ((input_.variants[v].turn_s > 0) == lock_in) rows.push_back(static_cast<Eigen::Index>(v));
  }
  if (rows.empty()) return std::nullopt;
  const Eigen::MatrixXd block = weighing_(rows, rows);
  const auto n = static_cast<Eigen::Index>(rows.size());
  Eigen::VectorXd share = block.ldlt().solve(Eigen::VectorXd::Ones(n));
  share /= share.sum();
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(weighing_.rows());
  weights(rows) = share;
  return weights;
}

}  // namespace ww::model
