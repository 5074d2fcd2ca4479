#include "fit/chiplet/rail_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "fit/crossing/crossing_interval.hpp"
#include "fit/solver/assumptions.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

using Runs = std::vector<const ChipletRun*>;

std::vector<double> columns_of(const RailEquation& equation, const ChipletRun& run, double mean_c) {
  std::vector<double> row(static_cast<std::size_t>(equation.columns));
  row[static_cast<std::size_t>(equation.heat)] =
      run.temperature_c ? *run.temperature_c - mean_c : 0;
  if (run.point != nullptr) equation.fill(run, row);
  return row;
}

// Least squares of the first `columns` with a constant for each block and the prior of heat;
// `sigma_w` weighs the prior. Nothing where the runs cannot separate the columns.
std::optional<Eigen::VectorXd> solve(const Runs& runs, std::size_t rail,
                                     const RailEquation& equation, Eigen::Index columns,
                                     double mean_c, double sigma_w, double idle_w) {
  std::set<std::int64_t> blocks;
  for (const ChipletRun* run : runs) blocks.insert(run->block);
  const auto constants = std::ssize(blocks);
  const Eigen::Index rows = std::ssize(runs) + 1;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows, columns + constants);
  Eigen::VectorXd y = Eigen::VectorXd::Zero(rows);
  for (Eigen::Index i = 0; i < std::ssize(runs); ++i) {
    const ChipletRun& run = *runs[static_cast<std::size_t>(i)];
    const auto of_run = columns_of(equation, run, mean_c);
    for (Eigen::Index c = 0; c < columns; ++c) a(i, c) = of_run[static_cast<std::size_t>(c)];
    a(i, columns + std::distance(blocks.begin(), blocks.find(run.block))) = 1;
    y(i) = *run.power_w[rail];
  }
  a(rows - 1, equation.heat) = sigma_w / (kDieLeakagePerKelvin * std::max(idle_w, 1e-3));
  const Eigen::VectorXd scale = a.colwise().norm().cwiseMax(1e-300);
  const Eigen::MatrixXd scaled = a * scale.cwiseInverse().asDiagonal();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scaled);
  qr.setThreshold(1e-6);
  if (qr.rank() < scaled.cols()) return std::nullopt;
  return Eigen::VectorXd(qr.solve(y).cwiseQuotient(scale));
}

}  // namespace

RailFit fit_rail(std::span<const ChipletRun> all, ChipletRail which, const RailEquation& equation,
                 Eigen::Index columns) {
  const auto rail = static_cast<std::size_t>(which);
  RailFit fit;
  Runs runs;
  std::set<std::int64_t> blocks;
  double mean_c = 0;
  double warm = 0;
  double idle_w = 0;
  double idle = 0;
  double least_w = 1e300;
  double most_w = -1e300;
  for (const ChipletRun& run : all) {
    if (!run.power_w[rail]) continue;
    runs.push_back(&run);
    blocks.insert(run.block);
    if (run.temperature_c) mean_c += *run.temperature_c, warm += 1;
    if (run.point == nullptr) idle_w += *run.power_w[rail], idle += 1;
    least_w = std::min(least_w, *run.power_w[rail]);
    most_w = std::max(most_w, *run.power_w[rail]);
  }
  const std::string name(kChipletRailNames[rail]);
  if (runs.empty()) {
    const bool read = std::ranges::any_of(all, [rail](const auto& run) { return run.read[rail]; });
    fit.why_not = read ? fmt::format("the accumulator '{}' stands still", name)
                       : fmt::format("there is no accumulator '{}'", name);
    return fit;
  }
  if (2 * runs.size() < all.size() || blocks.size() < kMinChipletBlocks) {
    fit.why_not = fmt::format("'{}' was read in {} of {} runs and {} blocks", name, runs.size(),
                              all.size(), blocks.size());
    return fit;
  }
  if (!(most_w > 0) || most_w == least_w) {
    fit.why_not = fmt::format("the accumulator '{}' stands still", name);
    return fit;
  }
  if (warm > 0) mean_c /= warm;
  if (idle > 0) idle_w /= idle;
  auto first = solve(runs, rail, equation, columns, mean_c, 0, idle_w);
  // Without its prior the heat may not be separable from the load.
  if (!first) first = solve(runs, rail, equation, columns, mean_c, 0.01 * std::abs(most_w), idle_w);
  if (!first) {
    fit.why_not = "the runs that are left do not tell the ways apart";
    return fit;
  }
  double squares = 0;
  std::set<std::int64_t>::size_type index = 0;
  for (const ChipletRun* run : runs) {
    const auto of_run = columns_of(equation, *run, mean_c);
    index = static_cast<std::size_t>(std::distance(blocks.begin(), blocks.find(run->block)));
    double left = *run->power_w[rail] - (*first)(columns + static_cast<Eigen::Index>(index));
    for (Eigen::Index c = 0; c < columns; ++c) {
      left -= (*first)(c)*of_run[static_cast<std::size_t>(c)];
    }
    squares += left * left;
  }
  const double freedom =
      std::max(1.0, static_cast<double>(runs.size()) - static_cast<double>(first->size()));
  const double sigma_w = std::sqrt(squares / freedom);
  const auto whole = solve(runs, rail, equation, columns, mean_c, sigma_w, idle_w);
  // Blocks are left out one by one.
  std::vector<Eigen::VectorXd> without;
  for (const std::int64_t block : blocks) {
    Runs rest;
    std::ranges::copy_if(runs, std::back_inserter(rest),
                         [block](const ChipletRun* run) { return run->block != block; });
    const auto part = solve(rest, rail, equation, columns, mean_c, sigma_w, idle_w);
    if (part) without.emplace_back(part->head(columns));
  }
  if (!whole || without.size() < blocks.size()) {
    fit.why_not = "the runs that are left do not tell the ways apart";
    return fit;
  }
  fit.value = whole->head(columns);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(columns);
  for (const auto& one : without) mean += one / static_cast<double>(without.size());
  Eigen::VectorXd spread = Eigen::VectorXd::Zero(columns);
  for (const auto& one : without) spread += (one - mean).cwiseAbs2();
  const auto n = static_cast<double>(without.size());
  fit.error = (spread * (n - 1) / n).cwiseSqrt();
  fit.freedom = static_cast<int>(without.size()) - 1;
  return fit;
}

void ChipletRows::add(const char* name, const char* unit, const RailFit& fit, Eigen::Index column,
                      double other_95) {
  Figure row;
  row.name = name;
  row.unit = unit;
  if (!fit.why_not.empty()) {
    missing(std::move(row), fit.why_not);
    return;
  }
  const double value = fit.value(column);
  const double error = other_95 == 0
                           ? fit.error(column)
                           : std::hypot(fit.error(column), other_95 / t_quantile_95(fit.freedom));
  const double reach = std::hypot(t_quantile_95(fit.freedom) * error, kRailGainDrift95 * value);
  const auto [low, high] = CrossingDraws(fit.freedom).interval(value, error, {.gain = gain_});
  if (const auto why = why_below_zero(low, high)) {
    row.status = RowStatus::rejected;
    row.reason = *why + ": what it is compared with draws power that is none of its traffic";
    answer_.rows.push_back(std::move(row));
    answer_.sensed.emplace_back();
    return;
  }
  row.value = value;
  row.low = low;
  row.high = high;
  answer_.rows.push_back(std::move(row));
  answer_.sensed.push_back(ChipletAnswer::Sensed{value - reach, value + reach});
}

void ChipletRows::reject(std::span<const std::string_view> names, const ChipletControl& control) {
  if (control.passed) return;
  for (std::size_t i = 0; i < answer_.rows.size(); ++i) {
    Figure& row = answer_.rows[i];
    if (std::ranges::find(names, row.name) == names.end() || !row.value) continue;
    row.value = row.low = row.high = std::nullopt;
    row.status = RowStatus::rejected;
    row.reason = fmt::format("the control '{}' failed: {}", control.name, control.detail);
    answer_.sensed[i].reset();
  }
}

void ChipletRows::missing(Figure row, std::string reason) {
  row.status = RowStatus::not_identified;
  row.reason = std::move(reason);
  answer_.rows.push_back(std::move(row));
  answer_.sensed.emplace_back();
}

ChipletControl zero_control(const char* name, const RailFit& fit, Eigen::Index column,
                            double against, const char* what) {
  ChipletControl control{name, false, ""};
  const double reach = t_quantile(kNullLevel, fit.freedom) * fit.error(column);
  control.passed = std::abs(fit.value(column)) <= std::max(reach, kNullShare * against);
  control.detail = fmt::format("{} {:+.4f} +- {:.4f} pJ/bit (99.9%), beside {:.3f} pJ/bit", what,
                               1e12 * fit.value(column), 1e12 * reach, 1e12 * against);
  return control;
}

}  // namespace ww::model
