// How power follows small differences of rate between pairs.
//
// Throttling shows what a waiting engine saves. Pairs that are equally saturated differ for other
// reasons: their launches begin late, or their last wavefronts end at unequal times, and an engine
// that is done waits for less. What that saves shows in the interactions of engine and quadrant
// that are orthogonal to d': a link that is dearer than others is so in proportion to its payload's
// k, what follows the rate is the same for all payloads,
//
//   u_vi + (g_v - g0_v) r_vi = k_v B_v L_i + x D_v r_vi
//
// with r_vi the interaction i of relative rate, D_v the dynamic power, g0_v what throttling says,
// L_i the links' unevenness, and x the share of dynamic power that is sought. Where the payloads
// show less than that x lies between throttling's share and all, it is taken in the middle.
//
// Rates that fall with distance fall for another reason: requests are on the way for longer, and
// the engine waits, as it does where it is throttled. Launches and last wavefronts do not depend on
// distance, so that they change the rate along d' by about as much as in any other interaction. Let
// s^2 be the mean square of the other r_vi, and r_d the rate's interaction along d'. Of r_d, the
// part
//
//   w = min(1, s^2 / r_d^2),   with the variance w (1 - w) r_d^2,
//
// is then theirs (r_d is the sum of a normal part of variance s^2 and one of variance r_d^2 - s^2),
// and the slope that applies to r_d is g0_v + w x D_v.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <tuple>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/joint_solver.hpp"

namespace ww::model {
namespace {

constexpr double least_mass = 1e-6;

struct Posterior {
  double mean{}, sigma{};
};

// A normal estimate of what lies between 0 and `most`, anywhere in between as likely.
std::optional<Posterior> between(double estimate, double sigma, double most) {
  const auto density = [](double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  };
  const auto below = [](double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; };
  const double low = -estimate / sigma;
  const double high = (most - estimate) / sigma;
  const double mass = below(high) - below(low);
  if (!(mass > least_mass)) return std::nullopt;
  const double shift = (density(low) - density(high)) / mass;
  const double square = 1 + (low * density(low) - high * density(high)) / mass - shift * shift;
  return Posterior{estimate + sigma * shift, sigma * std::sqrt(std::max(square, 0.0))};
}

}  // namespace

void Solver::compare_payloads() {
  const auto terms = static_cast<Eigen::Index>(input_.basis.size());
  if (terms == 0) return;
  std::map<int, double> highest;
  for (const Variant& variant : input_.variants) {
    double& rate = highest[variant.dvfs_state];
    rate = std::max(rate, variant.mean_bits_per_second);
  }
  std::vector<bool> used(input_.variants.size());
  for (std::size_t v = 0; v < used.size(); ++v) {
    const Variant& variant = input_.variants[v];
    used[v] = variant.mean_bits_per_second > kSaturatedShare * highest[variant.dvfs_state] &&
              blocks_.variants[v][0] > 0;
  }
  double share = 0;
  double error = std::numeric_limits<double>::infinity();
  for (const auto& [state, rate] : highest) {
    const auto [here, sigma] = rate_share(state, used);
    if (sigma < error) std::tie(share, error) = std::pair{here, sigma};
  }
  for (std::size_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    const double dynamic = blocks_.variants[v][0];
    const double rest = 1 - throttled_rate_w_[v] / dynamic;
    if (!(rest > 0)) continue;
    // Data that say less than these bounds do are not used.
    std::optional<Posterior> found = Posterior{rest / 2, rest / std::sqrt(12.0)};
    if (error < found->sigma) found = between(share, error, rest);
    if (!found) continue;
    const double late = late_part_along_distance(v);
    const double square = found->mean * found->mean + found->sigma * found->sigma;
    const double sigma =
        std::sqrt(late * late * found->sigma * found->sigma + late * (1 - late) * square);
    rate_prior_[v] = throttled_rate_w_[v] + late * found->mean * dynamic;
    rate_sigma_[v] = std::hypot(sigma * dynamic, (1 - late) * rate_sigma_[v]);
  }
}

std::optional<Eigen::MatrixXd> Solver::relative_rates(std::size_t v) const {
  const Variant& variant = input_.variants[v];
  Eigen::MatrixXd rate =
      Eigen::MatrixXd::Zero(input_.distance_mm.rows(), input_.distance_mm.cols());
  Eigen::MatrixXd count = rate;
  for (const std::size_t p : variant.plateaus) {
    const StreamPlateau& stream = input_.streams[p];
    rate(stream.engine, stream.quadrant) +=
        stream.bits_per_second / variant.mean_bits_per_second - 1;
    count(stream.engine, stream.quadrant) += 1;
  }
  if (count.minCoeff() < 1) return std::nullopt;
  return rate.cwiseQuotient(count);
}

double Solver::late_part_along_distance(std::size_t v) const {
  const auto rate = relative_rates(v);
  const double length = input_.centred_distance_mm.norm();
  if (!rate || !(length > 0)) return 1;
  const double along = input_.centred_distance_mm.cwiseProduct(*rate).sum() / length;
  double square = 0;
  for (const Eigen::MatrixXd& other : input_.basis) {
    square += std::pow(other.cwiseProduct(*rate).sum(), 2);
  }
  square /= static_cast<double>(input_.basis.size());
  // Far pairs that are faster are no latency.
  return along < 0 && along * along > square ? square / (along * along) : 1;
}

std::pair<double, double> Solver::rate_share(int state, const std::vector<bool>& used) const {
  const auto terms = static_cast<Eigen::Index>(input_.basis.size());
  const double unknown = std::numeric_limits<double>::infinity();
  struct Seen {
    double link{};         // k_v B_v
    Eigen::VectorXd y, x;  // what the payload shows, D_v r_v
    double weight{};
  };
  std::vector<Seen> all;
  std::set<std::string> patterns;
  for (std::size_t v = 0; v < used.size(); ++v) {
    const Variant& variant = input_.variants[v];
    if (!used[v] || variant.dvfs_state != state) continue;
    const auto& block = blocks_.variants[v];
    const auto rate = relative_rates(v);
    if (!rate) continue;
    Seen seen;
    seen.link = block[2] * 1e-15 * variant.mean_bits_per_second;
    seen.x.resize(terms);
    seen.y.resize(terms);
    for (Eigen::Index i = 0; i < terms; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double r = input_.basis[at].cwiseProduct(*rate).sum();
      seen.x[i] = block[0] * r;
      seen.y[i] = block[3 + engines() + quadrants() + at] + (block[1] - throttled_rate_w_[v]) * r;
    }
    const auto plateaus = static_cast<double>(variant.plateaus.size());
    seen.weight = plateaus / static_cast<double>(rate->size()) / (sigma_w_[v] * sigma_w_[v]);
    patterns.insert(variant.pattern);
    all.push_back(std::move(seen));
  }
  if (patterns.size() < 2) return {0, unknown};
  // The links' part is taken out of both sides.
  Eigen::VectorXd y = Eigen::VectorXd::Zero(terms);
  Eigen::VectorXd x = y;
  double link = 0;
  for (const Seen& seen : all) {
    y += seen.weight * seen.link * seen.y;
    x += seen.weight * seen.link * seen.x;
    link += seen.weight * seen.link * seen.link;
  }
  if (!(link > 0)) return {0, unknown};
  double product = 0;
  double square = 0;
  for (Seen& seen : all) {
    seen.y -= seen.link * y / link;
    seen.x -= seen.link * x / link;
    product += seen.weight * seen.x.dot(seen.y);
    square += seen.weight * seen.x.squaredNorm();
  }
  if (!(square > 0)) return {0, unknown};
  const double share = product / square;
  double chi = 0;
  for (const Seen& seen : all) chi += seen.weight * (seen.y - share * seen.x).squaredNorm();
  const double freedom = static_cast<double>((all.size() - 1) * input_.basis.size()) - 1;
  // Power that single pairs draw for reasons of their own shows as scatter.
  return {share, std::sqrt(std::max(1.0, chi / freedom) / square)};
}

}  // namespace ww::model
