#include "fit/crossing/crossing_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
CrossingSolver::CrossingSolver(std::span<const CrossingRun> runs) {
  for (const CrossingRun& run : runs) {
    if (run.traffic != CrossingTraffic::random && run.traffic != CrossingTraffic::zeros) continue;
    if (run.bits_per_s > 0) runs_.push_back(run);
  }
  std::vector<double> idle_w;
  for (const CrossingRun& run : runs) {
    if (run.traffic == CrossingTraffic::idle) idle_w.push_back(run.power.value());
  }
  double temperature = 0;
  double clock = 0;
  bool heats = !runs_.empty();
  bool clocked = heats;
  for (const CrossingRun& run : runs_) {
    mean_rate_ += run.bits_per_s / static_cast<double>(runs_.size());
    mean_power_w_ += run.power.value() / static_cast<double>(runs_.size());
    heats = heats && run.temperature_c;
    clocked = clocked && run.clock_hz;
    temperature += run.temperature_c.value_or(0) / static_cast<double>(runs_.size());
    clock += run.clock_hz.value_or(0) / static_cast<double>(runs_.size());
  }
  over_idle_w_ = mean_power_w_ - (idle_w.empty() ? 0 : median(idle_w));
  mean_temperature_ = temperature;
  mean_clock_ = clock;
  const auto range = [&](auto value) {
    const auto [low, high] = std::ranges::minmax(runs_, {}, value);
    return std::invoke(value, high) - std::invoke(value, low);
  };
  heats_ = heats &&
           range([](const CrossingRun& run) { return *run.temperature_c; }) > kMinCrossingWarmthK;
  clocked_ = clocked && range([](const CrossingRun& run) { return *run.clock_hz; }) >
                            kMinCrossingClockChange * mean_clock_;
}

struct CrossingSolver::System {
  Eigen::MatrixXd a;  // a row for each run, and one for the prior of heat
  Eigen::VectorXd b;
  std::map<CrossingTerm, Eigen::Index> column_of;
  double sigma{1};  // scatter of the runs [W]
};

CrossingSolver::System CrossingSolver::system_of(const CrossingVariant& variant,
                                                 std::optional<std::int64_t> left_out) const {
  std::vector<const CrossingRun*> used;
  std::map<std::int64_t, Eigen::Index> block_of;
  for (const CrossingRun& run : runs_) {
    if (left_out == run.block) continue;
    used.push_back(&run);
    block_of.emplace(run.block, 0);
  }
  System system;
  Eigen::Index columns = 0;
  for (auto& [block, column] : block_of) column = columns++;
  std::vector<std::map<CrossingTerm, double>> rows;
  for (const CrossingRun* run : used) {
    rows.push_back(row_of(*run, variant));
    for (const auto& [term, value] : rows.back()) {
      if (value != 0 && !system.column_of.contains(term)) system.column_of[term] = columns++;
    }
  }
  system.a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(used.size()) + 1, columns);
  system.b = Eigen::VectorXd::Zero(system.a.rows());
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    system.a(row, block_of.at(used[i]->block)) = 1;
    for (const auto& [term, value] : rows[i]) {
      if (const auto column = system.column_of.find(term); column != system.column_of.end()) {
        system.a(row, column->second) = value;
      }
    }
    system.b(row) = used[i]->power.value();
    if (clocked_) {
      system.b(row) -=
          variant.clock_exponent * over_idle_w_ * (*used[i]->clock_hz / mean_clock_ - 1);
    }
  }
  return system;
}

CrossingTerms CrossingSolver::solve(const CrossingVariant& variant,
                                    std::optional<std::int64_t> left_out) const {
  System system = system_of(variant, left_out);
  const Eigen::VectorXd found = solve_system(system);
  if (found.size() == 0) return {};
  CrossingTerms values;
  for (const auto& [term, column] : system.column_of) {
    const bool per_bit = term != CrossingTerm::place && term != CrossingTerm::heat;
    values[term] = per_bit ? found(column) / mean_rate_ : found(column);
  }
  return values;
}

double CrossingSolver::heat_error() const {
  if (!heats_) return 0;
  System system = system_of({}, {});
  const auto heat = system.column_of.find(CrossingTerm::heat);
  const auto far = system.column_of.find(CrossingTerm::far_random);
  if (solve_system(system).size() == 0 || heat == system.column_of.end() ||
      far == system.column_of.end()) {
    return 0;
  }
  // The regression of one error on the other: their covariance over the heat term's deviation.
  const Eigen::MatrixXd information = system.a.transpose() * system.a;
  const Eigen::VectorXd with_heat =
      information.ldlt().solve(Eigen::VectorXd::Unit(information.cols(), heat->second));
  return system.sigma * std::abs(with_heat(far->second)) / std::sqrt(with_heat(heat->second)) /
         mean_rate_;
}

std::map<CrossingTerm, double> CrossingSolver::row_of(const CrossingRun& run,
                                                      const CrossingVariant& variant) const {
  const double rate = run.bits_per_s / mean_rate_;
  const bool random = run.traffic == CrossingTraffic::random;
  const bool far = run.place_side != run.line_side;
  std::map<CrossingTerm, double> row;
  row[CrossingTerm::place] = run.place_side;
  row[random ? CrossingTerm::random : CrossingTerm::zeros] = rate;
  if (!variant.by_place) row[CrossingTerm::line] = rate * (run.line_side - 0.5);
  if (far) {
    const bool other = variant.by_place && random && run.place_side == 1;
    row[other    ? CrossingTerm::far_other
        : random ? CrossingTerm::far_random
                 : CrossingTerm::far_zeros] = rate;
  }
  if (run.line_half != 0) row[CrossingTerm::null] = run.line_half == 1 ? 0.5 * rate : -0.5 * rate;
  if (variant.bend) row[CrossingTerm::bend] = rate * rate;
  if (heats_ && variant.heat) row[CrossingTerm::heat] = *run.temperature_c - mean_temperature_;
  return row;
}

Eigen::VectorXd CrossingSolver::with_priors(System& system, double sigma) const {
  auto& [a, b, column_of, used_sigma] = system;
  used_sigma = sigma;
  if (const auto heat = column_of.find(CrossingTerm::heat); heat != column_of.end()) {
    a(a.rows() - 1, heat->second) = sigma / (kCrossingHeatShare * mean_power_w_);
    b(a.rows() - 1) = sigma;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(a);
  if (solver.rank() < a.cols()) return {};
  return solver.solve(b);
}

Eigen::VectorXd CrossingSolver::solve_system(System& system) const {
  const Eigen::Index count = system.a.rows() - 1;
  if (count == 0) return {};
  const Eigen::VectorXd loose = with_priors(system, 1.0);
  if (loose.size() == 0) return {};
  const double freedom = static_cast<double>(std::max<Eigen::Index>(1, count - system.a.cols()));
  const Eigen::VectorXd misfit = system.b.head(count) - system.a.topRows(count) * loose;
  return with_priors(system, std::max(1e-6, std::sqrt(misfit.squaredNorm() / freedom)));
}

CrossingBlocks::CrossingBlocks(std::span<const CrossingRun> runs) : solver_(runs) {
  std::set<std::int64_t> blocks;
  for (const CrossingRun& run : runs) {
    if (run.traffic == CrossingTraffic::random) blocks.insert(run.block);
  }
  blocks_.assign(blocks.begin(), blocks.end());
}

std::vector<CrossingTerms> CrossingBlocks::solve_all(const CrossingVariant& variant) const {
  std::vector<CrossingTerms> all{solver_.solve(variant)};
  for (const std::int64_t block : blocks_) all.push_back(solver_.solve(variant, block));
  const bool whole =
      blocks_.size() >= kMinCrossingBlocks && std::ranges::none_of(all, [](const CrossingTerms& v) {
        return !v.contains(CrossingTerm::far_random);
      });
  return whole ? all : std::vector<CrossingTerms>{};
}

CrossingEstimate CrossingBlocks::jackknife(const std::vector<CrossingTerms>& all,
                                           const Function& function) {
  const double count = static_cast<double>(all.size() - 1);
  double mean = 0;
  for (std::size_t i = 1; i < all.size(); ++i) mean += function(all[i]) / count;
  double square = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    square += (function(all[i]) - mean) * (function(all[i]) - mean);
  }
  return {function(all.front()), std::sqrt(square * (count - 1) / count)};
}

std::string in_pj(double joules) {
  return fmt::format("{:.4g} pJ/bit", 1e12 * joules);
}

}  // namespace ww::model
