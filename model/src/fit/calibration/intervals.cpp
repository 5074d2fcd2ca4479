#include "fit/calibration/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "fit/solver/assumptions.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

// The rows of each block of a variant; empty where there are too few blocks.
std::vector<std::vector<std::vector<Eigen::Index>>> blocks_by_variant(const JointInput& input) {
  std::vector<std::vector<std::vector<Eigen::Index>>> result;
  for (const Variant& variant : input.variants) {
    std::map<std::size_t, std::vector<Eigen::Index>> rows;
    for (const std::size_t p : variant.plateaus) {
      rows[input.streams[p].block].push_back(static_cast<Eigen::Index>(p));
    }
    auto& blocks = result.emplace_back();
    if (rows.size() < kBootstrapBlocks) continue;
    for (auto& [block, members] : rows) blocks.push_back(std::move(members));
  }
  return result;
}

// Path parameters that no row of data and no prior ties to others, with their rows: a variant and
// its blocks. Solved one by one, a replicate costs a hundredth of the whole matrix.
struct Part {
  std::vector<Eigen::Index> columns;  // of the path parameters
  std::vector<Eigen::Index> rows;
  Eigen::MatrixXd jacobian, prior;
  bool resampled{};                     // its rows' weights change from replicate to replicate
  Eigen::LDLT<Eigen::MatrixXd> solver;  // of the unchanged weights
};

std::vector<Part> independent_parts(const Eigen::MatrixXd& jacobian, const Eigen::MatrixXd& prior) {
  const Eigen::Index size = jacobian.cols();
  std::vector<Eigen::Index> parent(static_cast<std::size_t>(size));
  std::iota(parent.begin(), parent.end(), Eigen::Index{0});
  const auto root = [&](Eigen::Index at) {
    while (parent[static_cast<std::size_t>(at)] != at) at = parent[static_cast<std::size_t>(at)];
    return at;
  };
  const auto join = [&](Eigen::Index a, Eigen::Index b) {
    parent[static_cast<std::size_t>(root(a))] = root(b);
  };
  std::vector<Eigen::Index> first(static_cast<std::size_t>(jacobian.rows()), -1);
  for (Eigen::Index column = 0; column < size; ++column) {
    for (Eigen::Index row = 0; row < jacobian.rows(); ++row) {
      if (jacobian(row, column) == 0) continue;
      auto& here = first[static_cast<std::size_t>(row)];
      if (here < 0) here = column;
      join(column, here);
    }
    for (Eigen::Index other = 0; other < column; ++other) {
      if (prior(other, column) != 0) join(column, other);
    }
  }
  std::map<Eigen::Index, Part> parts;
  for (Eigen::Index column = 0; column < size; ++column) {
    parts[root(column)].columns.push_back(column);
  }
  for (Eigen::Index row = 0; row < jacobian.rows(); ++row) {
    const Eigen::Index here = first[static_cast<std::size_t>(row)];
    if (here >= 0) parts[root(here)].rows.push_back(row);
  }
  std::vector<Part> result;
  for (auto& [key, part] : parts) {
    part.jacobian = jacobian(part.rows, part.columns);
    part.prior = prior(part.columns, part.columns);
    part.solver.compute(part.jacobian.transpose() * part.jacobian + part.prior);
    result.push_back(std::move(part));
  }
  return result;
}

// Scaled residuals should have unit variance; where they have more, the intervals grow. A residual
// beyond kHuberSigmas pulls at the fit as one of kHuberSigmas does, however far away it is, and
// what those residuals say of a parameter in the normal matrix is nothing: the covariance of an
// M-estimator (Huber, Robust Statistics, 1981, 7.6), whose weights w are psi over the residual.
double scatter_of(const JointFit& fit) {
  double square = 0;  // sum of psi^2; stream_scaled has the root of w
  double weight = 0;  // what the normal matrix has
  double slope = 0;   // what it should have, the derivatives of psi
  for (std::size_t i = 0; i < fit.stream_weight.size(); ++i) {
    const double w = fit.stream_weight[i];
    const double scaled = fit.stream_scaled[static_cast<Eigen::Index>(i)];
    square += w * scaled * scaled;
    weight += w;
    slope += w < 1 ? 0 : 1;
  }
  if (!(slope > 0)) return 1;
  return square / fit.degrees_of_freedom * (weight / slope) * (weight / slope);
}

double variance_of(const Uncertainty& uncertainty, const Eigen::VectorXd& weights) {
  double variance = weights.dot(uncertainty.covariance * weights);
  if (uncertainty.bootstrap.size() > 0) {
    variance = std::max(variance, weights.dot(uncertainty.bootstrap * weights));
  }
  if (uncertainty.systematic.size() > 0) {
    variance += weights.dot(uncertainty.systematic * weights);
  }
  return std::max(0.0, variance);
}

}  // namespace

Uncertainty assess(const JointInput& input, const JointFit& fit, int replicates,
                   std::uint64_t seed) {
  Uncertainty result;
  result.degrees_of_freedom = fit.degrees_of_freedom;
  const auto variants = static_cast<Eigen::Index>(input.variants.size());
  result.scatter = std::max(1.0, scatter_of(fit));
  result.covariance.resize(variants, variants);
  for (Eigen::Index a = 0; a < variants; ++a) {
    for (Eigen::Index b = 0; b < variants; ++b) {
      result.covariance(a, b) =
          result.scatter * fit.covariance(fit.energy_column[static_cast<std::size_t>(a)],
                                          fit.energy_column[static_cast<std::size_t>(b)]);
    }
  }
  if (replicates < 2) return result;

  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const Eigen::Index idle = fit.idle_columns;
  const Eigen::Index path = fit.stream_jacobian.cols() - idle;
  const Eigen::MatrixXd idle_jacobian = fit.stream_jacobian.leftCols(idle);
  const Eigen::MatrixXd path_jacobian = fit.stream_jacobian.rightCols(path);
  const Eigen::LLT<Eigen::MatrixXd> idle_spread(fit.covariance.topLeftCorner(idle, idle) +
                                                1e-14 * Eigen::MatrixXd::Identity(idle, idle));
  const Eigen::MatrixXd spread = idle_spread.matrixL();
  // Leftover gradient of the stream rows is balanced by priors and idle rows; a replicate moves
  // relative to the full sample's own solution, so that the bootstrap's mean is the fit.
  const Eigen::VectorXd base = path_jacobian.transpose() * fit.stream_scaled;

  const auto blocks = blocks_by_variant(input);
  auto parts = independent_parts(path_jacobian, fit.path_prior);
  for (Part& part : parts) {
    part.resampled = std::ranges::any_of(part.rows, [&](Eigen::Index row) {
      return !blocks[input.streams[static_cast<std::size_t>(row)].variant].empty();
    });
  }
  const double spent =
      static_cast<double>(input.distance_mm.rows() + input.distance_mm.cols() + 1) +
      static_cast<double>(input.basis.size());
  Eigen::MatrixXd draws(replicates, variants);
  std::uniform_int_distribution<int> coin(0, 1);
  for (int replicate = 0; replicate < replicates; ++replicate) {
    Eigen::VectorXd weight = Eigen::VectorXd::Ones(fit.stream_jacobian.rows());
    Eigen::VectorXd residual = fit.stream_scaled;
    for (std::size_t v = 0; v < input.variants.size(); ++v) {
      const auto& plateaus = input.variants[v].plateaus;
      if (blocks[v].empty()) {
        const auto n = static_cast<double>(plateaus.size());
        const double inflate = std::sqrt(n / std::max(1.0, n - spent));
        for (const std::size_t p : plateaus) {
          residual[static_cast<Eigen::Index>(p)] *= coin(random) == 0 ? -inflate : inflate;
        }
        continue;
      }
      for (const std::size_t p : plateaus) weight[static_cast<Eigen::Index>(p)] = 0;
      std::uniform_int_distribution<std::size_t> pick(0, blocks[v].size() - 1);
      for (std::size_t i = 0; i < blocks[v].size(); ++i) {
        for (const Eigen::Index row : blocks[v][pick(random)]) weight[row] += 1;
      }
    }
    Eigen::VectorXd draw(idle);
    for (Eigen::Index i = 0; i < idle; ++i) draw[i] = normal(random);
    residual += idle_jacobian * (spread * draw);
    Eigen::VectorXd step(path);
    for (const Part& part : parts) {
      const Eigen::VectorXd share = weight(part.rows);
      const Eigen::VectorXd right =
          base(part.columns) - part.jacobian.transpose() * share.cwiseProduct(residual(part.rows));
      Eigen::VectorXd found;
      if (part.resampled) {
        const Eigen::MatrixXd matrix =
            part.jacobian.transpose() * share.asDiagonal() * part.jacobian + part.prior;
        found = matrix.ldlt().solve(right);
      } else {
        found = part.solver.solve(right);
      }
      step(part.columns) = found;
    }
    for (Eigen::Index v = 0; v < variants; ++v) {
      draws(replicate, v) = step[fit.energy_column[static_cast<std::size_t>(v)] - idle];
    }
  }
  const Eigen::RowVectorXd centre = draws.colwise().mean();
  const Eigen::MatrixXd deviation = draws.rowwise() - centre;
  result.bootstrap = deviation.transpose() * deviation / static_cast<double>(replicates - 1);
  // n resampled blocks spread (n - 1)/n too little.
  const auto factor = [&](Eigen::Index v) {
    const auto n = static_cast<double>(blocks[static_cast<std::size_t>(v)].size());
    return n > 1 ? std::sqrt(n / (n - 1)) : 1.0;
  };
  for (Eigen::Index a = 0; a < variants; ++a) {
    for (Eigen::Index b = 0; b < variants; ++b) result.bootstrap(a, b) *= factor(a) * factor(b);
  }
  return result;
}

std::vector<double> heat_correction(const JointInput& input, const JointFit& fit) {
  std::vector<double> correction;
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const Variant& variant = input.variants[v];
    double k_per_w = 0;
    for (std::size_t j = kFastHeatCount; j < kHeatCount && input.temperature_correction; ++j) {
      k_per_w += fit.parameters.response[j] * heat_share(variant, heat_taus_s[j]);
    }
    // c_1 is leakage's rise over 10 K at the reference temperature.
    const double w_per_k =
        fit.parameters.idle[static_cast<std::size_t>(variant.dvfs_state)][1] / 10;
    correction.push_back(-fit.parameters.variants[v].energy_fj_per_bit_mm * w_per_k * k_per_w);
  }
  return correction;
}

Eigen::VectorXd gap_errors(const JointInput& input, const JointFit& fit) {
  const auto idles = [](const StreamPlateau& stream) { return stream.busy_share < 1; };
  if (std::ranges::none_of(input.streams, idles)) {
    return Eigen::VectorXd::Zero(std::ssize(input.variants));
  }
  const std::vector<Eigen::Index>& columns = fit.energy_column;
  const Eigen::MatrixXd per_sigma = fit.stream_jacobian * fit.covariance(Eigen::all, columns);
  Eigen::VectorXd error = Eigen::VectorXd::Zero(std::ssize(columns));
  for (std::size_t p = 0; p < input.streams.size(); ++p) {
    const StreamPlateau& stream = input.streams[p];
    const VariantParameters& variant = fit.parameters.variants[stream.variant];
    const double waiting_w = std::max(0.0, variant.mean_w - std::max(0.0, variant.rate_w));
    const double per_watt = std::sqrt(fit.stream_weight[p]) / fit.stream_sigma_w[stream.variant];
    error += (1 - stream.busy_share) * waiting_w / std::sqrt(3.0) * per_watt *
             per_sigma.row(static_cast<Eigen::Index>(p)).transpose();
  }
  return error;
}

double half_width_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights) {
  return t_quantile_95(uncertainty.degrees_of_freedom) *
         std::sqrt(variance_of(uncertainty, weights));
}

Reach reach_of(const Uncertainty& uncertainty, const Eigen::VectorXd& weights, double t) {
  const double variance = variance_of(uncertainty, weights);
  const double moved =
      uncertainty.by_load_line.size() > 0 ? weights.dot(uncertainty.by_load_line) : 0;
  const double rest = t * std::sqrt(std::max(0.0, variance - moved * moved));
  Reach reach{std::hypot(rest, uncertainty.flattest_sigmas * moved),
              std::hypot(rest, uncertainty.steepest_sigmas * moved)};
  if (moved < 0) std::swap(reach.down, reach.up);
  return reach;
}

Reach reach_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights) {
  return reach_of(uncertainty, weights, t_quantile_95(uncertainty.degrees_of_freedom));
}

}  // namespace ww::model
