#include "intervals.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "stats.hpp"

namespace ww::model {
namespace {

constexpr std::size_t blocks_needed = 6;
// The heat that the wires themselves make moves the answer by about 4%; its description (a bank of
// filters, leakage that follows one temperature) is trusted to a tenth of that.
constexpr double correction_doubt = 0.004;

// Rows that are drawn together.
std::vector<std::vector<std::vector<Eigen::Index>>> units_by_variant(const JointInput& input) {
  std::vector<std::vector<std::vector<Eigen::Index>>> result;
  for (const Variant& variant : input.variants) {
    std::set<std::size_t> blocks;
    for (const std::size_t p : variant.plateaus) blocks.insert(input.streams[p].block);
    std::vector<std::vector<Eigen::Index>> units;
    if (blocks.size() >= blocks_needed) {
      for (const std::size_t block : blocks) {
        std::vector<Eigen::Index> unit;
        for (const std::size_t p : variant.plateaus) {
          if (input.streams[p].block == block) unit.push_back(static_cast<Eigen::Index>(p));
        }
        units.push_back(std::move(unit));
      }
    } else {
      for (const std::size_t p : variant.plateaus) units.push_back({static_cast<Eigen::Index>(p)});
    }
    result.push_back(std::move(units));
  }
  return result;
}

}  // namespace

Uncertainty assess(const JointInput& input, const JointFit& fit, int replicates,
                   std::uint64_t seed) {
  Uncertainty result;
  result.degrees_of_freedom = fit.degrees_of_freedom;
  const auto variants = static_cast<Eigen::Index>(input.variants.size());
  // Scaled residuals should have unit variance; where they have more, the intervals grow.
  const double scatter = std::max(1.0, fit.stream_scaled.squaredNorm() / fit.degrees_of_freedom);
  result.covariance.resize(variants, variants);
  for (Eigen::Index a = 0; a < variants; ++a) {
    for (Eigen::Index b = 0; b < variants; ++b) {
      result.covariance(a, b) =
          scatter * fit.covariance(fit.energy_column[static_cast<std::size_t>(a)],
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

  const auto units = units_by_variant(input);
  Eigen::MatrixXd draws(replicates, variants);
  for (int replicate = 0; replicate < replicates; ++replicate) {
    Eigen::VectorXd weight = Eigen::VectorXd::Zero(fit.stream_jacobian.rows());
    for (const auto& variant : units) {
      if (variant.empty()) continue;
      std::uniform_int_distribution<std::size_t> pick(0, variant.size() - 1);
      for (std::size_t i = 0; i < variant.size(); ++i) {
        for (const Eigen::Index row : variant[pick(random)]) weight[row] += 1;
      }
    }
    Eigen::VectorXd draw(idle);
    for (Eigen::Index i = 0; i < idle; ++i) draw[i] = normal(random);
    const Eigen::VectorXd residual = fit.stream_scaled + idle_jacobian * (spread * draw);
    const Eigen::MatrixXd weighted = weight.asDiagonal() * path_jacobian;
    const Eigen::MatrixXd matrix = path_jacobian.transpose() * weighted + fit.path_prior;
    const Eigen::VectorXd step = matrix.ldlt().solve(base - weighted.transpose() * residual);
    for (Eigen::Index v = 0; v < variants; ++v) {
      draws(replicate, v) = step[fit.energy_column[static_cast<std::size_t>(v)] - idle];
    }
  }
  const Eigen::RowVectorXd centre = draws.colwise().mean();
  const Eigen::MatrixXd deviation = draws.rowwise() - centre;
  result.bootstrap = deviation.transpose() * deviation / static_cast<double>(replicates - 1);
  // A resampled variant of n units spreads (n - 1)/n too little, and resampled plateaus do not
  // know how many parameters each variant spent.
  const double spent = static_cast<double>(input.distance_mm.rows() + input.distance_mm.cols() + 1);
  for (Eigen::Index a = 0; a < variants; ++a) {
    for (Eigen::Index b = 0; b < variants; ++b) {
      const auto factor = [&](Eigen::Index v) {
        const auto n = static_cast<double>(units[static_cast<std::size_t>(v)].size());
        const auto rows =
            static_cast<double>(input.variants[static_cast<std::size_t>(v)].plateaus.size());
        const double left = n < rows ? n - 1 : n - spent;
        return std::sqrt(n / std::max(1.0, left));
      };
      result.bootstrap(a, b) *= factor(a) * factor(b);
    }
  }
  return result;
}

double half_width_95(const Uncertainty& uncertainty, const Eigen::VectorXd& weights, double value) {
  double variance = weights.dot(uncertainty.covariance * weights);
  if (uncertainty.bootstrap.size() > 0) {
    variance = std::max(variance, weights.dot(uncertainty.bootstrap * weights));
  }
  const double floor = correction_doubt * value;
  return t_quantile_95(uncertainty.degrees_of_freedom) *
         std::sqrt(std::max(0.0, variance) + floor * floor);
}

}  // namespace ww::model
