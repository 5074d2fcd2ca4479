#include "ww/model/latency_witness.hpp"
#include "ww/core/statistics.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/solver/assumptions.hpp"
#include "stats.hpp"
#include "ww/model/latency_table.hpp"

namespace ww::model {
namespace {

// The ranks of a column, ties sharing their mean.
Eigen::VectorXd ranks_of(const Eigen::VectorXd& values) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::sort(order, {}, [&](Eigen::Index i) { return values[i]; });
  Eigen::VectorXd ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i) {
      ranks[order[i]] = static_cast<double>(from + to - 1) / 2;
    }
    from = to;
  }
  return ranks;
}

double correlation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const Eigen::VectorXd x = a.array() - a.mean();
  const Eigen::VectorXd y = b.array() - b.mean();
  const double norm = x.norm() * y.norm();
  return norm > 0 ? x.dot(y) / norm : 0;
}

// Rows' and columns' means taken out; pairs in one column, engine by engine.
Eigen::VectorXd crossed_column(const Eigen::MatrixXd& table) {
  const Eigen::VectorXd rows = table.rowwise().mean();
  const Eigen::RowVectorXd columns = table.colwise().mean();
  const Eigen::MatrixXd crossed =
      ((table.colwise() - rows).rowwise() - columns).array() + table.mean();
  return crossed.transpose().reshaped();
}

Eigen::VectorXd crossed_distances(const Floorplan& plan) {
  const auto engines = static_cast<Eigen::Index>(plan.compute_units.size());
  const auto quadrants = static_cast<Eigen::Index>(plan.quadrants.size());
  Eigen::MatrixXd table(engines, quadrants);
  for (Eigen::Index e = 0; e < engines; ++e) {
    for (Eigen::Index q = 0; q < quadrants; ++q) {
      table(e, q) = plan.distance(static_cast<int>(e), static_cast<int>(q)).value();
    }
  }
  return crossed_column(table);
}

// How the crossed distances change where blocks lie elsewhere by the declared error's standard
// deviation.
struct PositionErrors {
  std::vector<Eigen::VectorXd> of_kind;   // all blocks of a kind towards the die's edges
  std::vector<Eigen::VectorXd> of_block;  // each block by itself
};

PositionErrors position_errors(const Floorplan& plan) {
  const double sigma_mm = plan.position_error_95.value() / kNormal95;
  const Eigen::VectorXd exact = crossed_distances(plan);
  PositionErrors changes;
  const auto coordinate = [](Point& point, bool along_y) -> double& {
    return along_y ? point.y_mm : point.x_mm;
  };
  const auto outwards = [&](const Point& point, bool along_y) {
    const double middle = (along_y ? plan.height : plan.width).value() / 2;
    return (along_y ? point.y_mm : point.x_mm) < middle ? -sigma_mm : sigma_mm;
  };
  for (const bool along_y : {false, true}) {
    Floorplan engines = plan;
    for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
      Floorplan one = plan;
      for (std::size_t u = 0; u < plan.compute_units[e].size(); ++u) {
        const double mm = outwards(plan.compute_units[e][u], along_y);
        coordinate(engines.compute_units[e][u], along_y) += mm;
        coordinate(one.compute_units[e][u], along_y) += sigma_mm;
      }
      changes.of_block.push_back(crossed_distances(one) - exact);
    }
    changes.of_kind.push_back(crossed_distances(engines) - exact);
    Floorplan ports = plan;
    for (const auto& quadrant : plan.quadrants) {
      Floorplan one = plan;
      for (const int channel : quadrant) {
        const auto c = static_cast<std::size_t>(channel);
        coordinate(ports.l2_channels[c], along_y) += outwards(plan.l2_channels[c], along_y);
        coordinate(one.l2_channels[c], along_y) += sigma_mm;
      }
      changes.of_block.push_back(crossed_distances(one) - exact);
    }
    changes.of_kind.push_back(crossed_distances(ports) - exact);
  }
  return changes;
}

// P of a residual as large as this one, in the space that `directions` span, where its covariance
// is `covariance`; 1 where they span nothing.
double p_value_along(const Eigen::MatrixXd& directions, const Eigen::VectorXd& residual,
                     const Eigen::MatrixXd& covariance, double noise_freedom) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(directions, Eigen::ComputeThinU);
  const Eigen::VectorXd& sizes = svd.singularValues();
  Eigen::Index rank = 0;
  while (rank < sizes.size() && sizes[rank] > 1e-9 && sizes[rank] > 1e-6 * sizes[0]) ++rank;
  if (rank == 0) return 1;
  const Eigen::MatrixXd basis = svd.matrixU().leftCols(rank);
  const Eigen::VectorXd along = basis.transpose() * residual;
  const Eigen::MatrixXd spread = basis.transpose() * covariance * basis;
  const auto freedom = static_cast<double>(rank);
  return f_tail(along.dot(spread.ldlt().solve(along)) / freedom, freedom, noise_freedom);
}

struct LatencyTable {
  Eigen::MatrixXd mean;  // [engine][quadrant]
  double variance{};     // of a single repeat
  double freedom{};      // degrees of freedom of `variance`
  double repeats{};      // the fewest of a pair
};

LatencyTable table_of(const std::vector<StoredRun>& runs, const Floorplan& plan) {
  const auto engines = static_cast<Eigen::Index>(plan.compute_units.size());
  const auto quadrants = static_cast<Eigen::Index>(plan.quadrants.size());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(engines, quadrants);
  Eigen::MatrixXd square = sum;
  Eigen::MatrixXd count = sum;
  for (const StoredRun& run : runs) {
    if (run.kind != RunKind::latency || run.status != RunStatus::ok) continue;
    const auto found = run.counters.find(kLatencyCounter);
    if (found == run.counters.end() || !std::isfinite(found->second)) continue;
    if (!run.engine || !run.quadrant) continue;
    if (*run.engine < 0 || *run.engine >= engines) continue;
    if (*run.quadrant < 0 || *run.quadrant >= quadrants) continue;
    sum(*run.engine, *run.quadrant) += found->second;
    square(*run.engine, *run.quadrant) += found->second * found->second;
    count(*run.engine, *run.quadrant) += 1;
  }
  LatencyTable table;
  table.repeats = count.size() > 0 ? count.minCoeff() : 0;
  if (table.repeats < 2) return table;
  table.mean = sum.cwiseQuotient(count);
  table.freedom = count.sum() - static_cast<double>(count.size());
  const double squares = square.sum() - table.mean.cwiseProduct(sum).sum();
  table.variance = std::max(0.0, squares) / table.freedom;
  return table;
}

LatencyWitness judge_table(const LatencyTable& table, const Floorplan& floorplan) {
  LatencyWitness witness;
  const Eigen::VectorXd latency = crossed_column(table.mean);
  const Eigen::VectorXd distance = crossed_distances(floorplan);
  const double span = distance.norm();
  const Eigen::Index pairs = distance.size();
  if (span < 1e-6 * static_cast<double>(pairs)) {
    witness.reason = "the floorplan has no contrast of distance";
    return witness;
  }
  witness.recorded = true;
  witness.rank_correlation = correlation(ranks_of(latency), ranks_of(distance));
  witness.ticks_per_mm = latency.dot(distance) / (span * span);
  const Eigen::VectorXd residual = latency - witness.ticks_per_mm * distance;
  witness.residual_ticks = residual.norm() / std::sqrt(static_cast<double>(pairs));
  const double noise = table.variance / table.repeats;
  witness.noise_ticks = std::sqrt(noise);

  // Everything lies in the space of crossed tables without the direction of distance.
  const auto engines = static_cast<double>(table.mean.rows());
  const auto quadrants = static_cast<double>(table.mean.cols());
  const double freedom = (engines - 1) * (quadrants - 1) - 1;
  if (freedom < 1) return witness;
  const double each = noise + kLatencyGrainTicks * kLatencyGrainTicks;
  const auto without_distance = [&](const Eigen::VectorXd& column) -> Eigen::VectorXd {
    return column - distance * (distance.dot(column) / (span * span));
  };
  Eigen::MatrixXd all(pairs, pairs);  // one pair's latency alone, as it enters the residual
  for (Eigen::Index i = 0; i < pairs; ++i) {
    Eigen::MatrixXd one = Eigen::MatrixXd::Zero(table.mean.rows(), table.mean.cols());
    one(i / table.mean.cols(), i % table.mean.cols()) = 1;
    all.col(i) = without_distance(crossed_column(one));
  }
  Eigen::MatrixXd covariance = each * all * all.transpose();
  const PositionErrors errors = position_errors(floorplan);
  const double slope2 = witness.ticks_per_mm * witness.ticks_per_mm;
  Eigen::MatrixXd kinds(pairs, static_cast<Eigen::Index>(errors.of_kind.size()));
  for (std::size_t k = 0; k < errors.of_kind.size(); ++k) {
    const Eigen::VectorXd part = without_distance(errors.of_kind[k]);
    kinds.col(static_cast<Eigen::Index>(k)) = part;
    covariance += slope2 * part * part.transpose();
  }
  for (const Eigen::VectorXd& change : errors.of_block) {
    const Eigen::VectorXd part = without_distance(change);
    covariance += slope2 * part * part.transpose();
  }
  // Two tests: of everything, and of what blocks of a kind do that lie elsewhere together.
  const double p_all = p_value_along(all, residual, covariance, table.freedom);
  const double p_kinds = p_value_along(kinds, residual, covariance, table.freedom);
  witness.p_value = std::min(1.0, 2 * std::min(p_all, p_kinds));
  const double explained = std::abs(witness.ticks_per_mm) * span;
  const double excess = std::max(0.0, residual.squaredNorm() - freedom * each);
  witness.relative = explained > 0 ? std::sqrt(excess) / explained : 0;

  const double contrast =
      f_tail(latency.squaredNorm() / (each * (freedom + 1)), freedom + 1, table.freedom);
  if (witness.rank_correlation < 0 && contrast < kMisfitSignificance) {
    witness.disagrees = true;
    witness.reason = fmt::format(
        "latency falls where the floorplan's distance grows (rank correlation {:.2f}): engines or "
        "quadrants carry each other's names",
        witness.rank_correlation);
  } else if (witness.p_value < kMisfitSignificance && witness.relative > kLatencyLimit) {
    witness.disagrees = true;
    witness.reason = fmt::format(
        "latencies of engine and quadrant pairs depart from the floorplan's distances by {:.0f}% "
        "of their contrast (limit {:.0f}%; p = {:.1e}, with its position errors of {:g} mm)",
        100 * witness.relative, 100 * kLatencyLimit, witness.p_value,
        floorplan.position_error_95.value());
  }
  return witness;
}

}  // namespace

LatencyWitness judge_latency(const std::vector<StoredRun>& runs, const Floorplan& floorplan) {
  const LatencyTable table = table_of(runs, floorplan);
  if (table.repeats < 2) {
    LatencyWitness witness;
    witness.reason = "the campaign has no latency of every pair, twice or more";
    return witness;
  }
  return judge_table(table, floorplan);
}

LatencyWitness judge_latency_table(const std::vector<std::vector<double>>& ticks,
                                   double noise_ticks, const Floorplan& floorplan) {
  // The error is given, not estimated from repeats: its degrees of freedom have no end.
  constexpr double kErrorIsKnown = 1e6;
  const std::size_t engines = floorplan.compute_units.size();
  const std::size_t quadrants = floorplan.quadrants.size();
  bool fits = ticks.size() == engines;
  for (const auto& row : ticks) fits = fits && row.size() == quadrants;
  if (!fits) {
    LatencyWitness witness;
    witness.reason = "the table of latencies has not the floorplan's engines and quadrants";
    return witness;
  }
  LatencyTable table;
  table.mean.resize(static_cast<Eigen::Index>(engines), static_cast<Eigen::Index>(quadrants));
  for (std::size_t e = 0; e < engines; ++e) {
    for (std::size_t q = 0; q < quadrants; ++q) {
      table.mean(static_cast<Eigen::Index>(e), static_cast<Eigen::Index>(q)) = ticks[e][q];
    }
  }
  table.variance = noise_ticks * noise_ticks;
  table.freedom = kErrorIsKnown;
  table.repeats = 1;
  return judge_table(table, floorplan);
}

LatencyWitness judge_flights(const MeasuredPaths& paths, double clock_hz,
                             const Floorplan& floorplan) {
  std::vector<std::vector<double>> ticks = paths.flight_ns;
  for (auto& row : ticks) {
    for (double& entry : row) entry *= clock_hz * 1e-9;
  }
  // The judge adds the roundings of one way itself; the resolution holds them already.
  const double resolution_ticks = paths.resolution_ns * clock_hz * 1e-9;
  const double beside_grain =
      resolution_ticks * resolution_ticks - kLatencyGrainTicks * kLatencyGrainTicks;
  const double error_ticks =
      std::hypot(paths.noise_ns * clock_hz * 1e-9, std::sqrt(std::max(0.0, beside_grain)));
  return judge_latency_table(ticks, error_ticks, floorplan);
}

}  // namespace ww::model
