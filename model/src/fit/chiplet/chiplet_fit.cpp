#include "ww/model/chiplet_fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "fit/crossing/crossing_interval.hpp"
#include "fit/solver/assumptions.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

enum Column : Eigen::Index {
  kAwake,
  kRate,
  kRow,
  kColumn,
  kAcross,
  kMemory,
  kOdd,
  kHeat,
  kModelColumns,
  // Of the controls alone: what a bit takes more at half the rate, and over links.
  kSlow = kModelColumns,
  kSlowAcross,
  kColumns
};

struct RailFit {
  std::string why_not;           // empty: the figures below are there
  Eigen::VectorXd value, error;  // by column, noise alone
  int freedom{};
};

using Runs = std::vector<const ChipletRun*>;

std::array<double, kColumns> columns_of(const ChipletRun& run, double mean_c) {
  std::array<double, kColumns> row{};
  row[kHeat] = run.temperature_c ? *run.temperature_c - mean_c : 0;
  if (run.point == nullptr) return row;
  const ChipletPoint& point = *run.point;
  // Half of the dies keep half of the wavefronts awake.
  row[kAwake] = point.dies == ChipletDies::all ? 1 : 0.5;
  if (!point.traffic) return row;
  row[kRate] = run.bits_per_s;
  if (point.way == ChipletWay::row) row[kRow] = run.bits_per_s;
  if (point.way == ChipletWay::column) row[kColumn] = run.bits_per_s;
  if (point.way == ChipletWay::across) row[kAcross] = run.bits_per_s;
  if (point.memory) row[kMemory] = run.bits_per_s;
  if (point.dies == ChipletDies::odd) row[kOdd] = run.bits_per_s;
  if (point.slow) row[kSlow] = run.bits_per_s;
  if (point.slow && point.way == ChipletWay::across) row[kSlowAcross] = run.bits_per_s;
  return row;
}

// Least squares of the first `columns` with a constant for each block and the prior of heat;
// `sigma_w` weighs the prior. Nothing where the runs cannot tell the columns apart.
std::optional<Eigen::VectorXd> solve(const Runs& runs, std::size_t rail, Eigen::Index columns,
                                     double mean_c, double sigma_w, double idle_w) {
  std::set<std::int64_t> blocks;
  for (const ChipletRun* run : runs) blocks.insert(run->block);
  const auto constants = std::ssize(blocks);
  const Eigen::Index rows = std::ssize(runs) + 1;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows, columns + constants);
  Eigen::VectorXd y = Eigen::VectorXd::Zero(rows);
  for (Eigen::Index i = 0; i < std::ssize(runs); ++i) {
    const ChipletRun& run = *runs[static_cast<std::size_t>(i)];
    const auto of_run = columns_of(run, mean_c);
    for (Eigen::Index c = 0; c < columns; ++c) a(i, c) = of_run[static_cast<std::size_t>(c)];
    a(i, columns + std::distance(blocks.begin(), blocks.find(run.block))) = 1;
    y(i) = *run.power_w[rail];
  }
  a(rows - 1, kHeat) = sigma_w / (kDieLeakagePerKelvin * std::max(idle_w, 1e-3));
  const Eigen::VectorXd scale = a.colwise().norm().cwiseMax(1e-300);
  const Eigen::MatrixXd scaled = a * scale.cwiseInverse().asDiagonal();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scaled);
  qr.setThreshold(1e-6);
  if (qr.rank() < scaled.cols()) return std::nullopt;
  return Eigen::VectorXd(qr.solve(y).cwiseQuotient(scale));
}

RailFit fit_rail(std::span<const ChipletRun> all, ChipletRail which,
                 Eigen::Index columns = kModelColumns) {
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
  if (2 * runs.size() < all.size() || blocks.size() < kLeastChipletBlocks) {
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
  auto first = solve(runs, rail, columns, mean_c, 0, idle_w);
  // Without its prior the heat may not be told from the load.
  if (!first) first = solve(runs, rail, columns, mean_c, 0.01 * std::abs(most_w), idle_w);
  if (!first) {
    fit.why_not = "the runs that are left do not tell the ways apart";
    return fit;
  }
  double squares = 0;
  std::set<std::int64_t>::size_type index = 0;
  for (const ChipletRun* run : runs) {
    const auto of_run = columns_of(*run, mean_c);
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
  const auto whole = solve(runs, rail, columns, mean_c, sigma_w, idle_w);
  // Blocks are left out one by one.
  std::vector<Eigen::VectorXd> without;
  for (const std::int64_t block : blocks) {
    Runs rest;
    std::ranges::copy_if(runs, std::back_inserter(rest),
                         [block](const ChipletRun* run) { return run->block != block; });
    const auto part = solve(rest, rail, columns, mean_c, sigma_w, idle_w);
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

class Rows {
 public:
  Rows(ChipletAnswer& answer, double gain) : answer_(answer), gain_(gain) {}

  void add(const char* name, const char* unit, const RailFit& fit, Column column) {
    ResultRow row;
    row.name = name;
    row.unit = unit;
    if (!fit.why_not.empty()) {
      missing(std::move(row), fit.why_not);
      return;
    }
    const double value = fit.value(column);
    const double error = fit.error(column);
    const double reach = std::hypot(t_quantile_95(fit.freedom) * error, kRailGainDrift95 * value);
    const auto [low, high] = CrossingDraws(fit.freedom).interval(value, error, {.gain = gain_});
    row.value = value;
    row.low = low;
    row.high = high;
    answer_.rows.push_back(std::move(row));
    answer_.sensed.push_back(ChipletAnswer::Sensed{value - reach, value + reach});
  }
  // Takes the values of rows that rest on a control that failed.
  void reject(std::span<const std::string_view> names, const ChipletControl& control) {
    if (control.passed) return;
    for (std::size_t i = 0; i < answer_.rows.size(); ++i) {
      ResultRow& row = answer_.rows[i];
      if (std::ranges::find(names, row.name) == names.end() || !row.value) continue;
      row.value = row.low = row.high = std::nullopt;
      row.status = RowStatus::rejected;
      row.reason = fmt::format("the control '{}' failed: {}", control.name, control.detail);
      answer_.sensed[i].reset();
    }
  }
  void missing(ResultRow row, std::string reason) {
    row.status = RowStatus::not_identified;
    row.reason = std::move(reason);
    answer_.rows.push_back(std::move(row));
    answer_.sensed.emplace_back();
  }

 private:
  ChipletAnswer& answer_;
  double gain_;
};

// Whether a coefficient that must be zero may be. The rail was fitted.
ChipletControl zero_control(const char* name, const RailFit& fit, Column column, double against,
                            const char* what) {
  ChipletControl control{name, false, ""};
  const double reach = t_quantile(kNullLevel, fit.freedom) * fit.error(column);
  control.passed = std::abs(fit.value(column)) <= std::max(reach, kNullShare * against);
  control.detail = fmt::format("{} {:+.4f} +- {:.4f} pJ/bit (99.9%), beside {:.3f} pJ/bit", what,
                               1e12 * fit.value(column), 1e12 * reach, 1e12 * against);
  return control;
}

// The socket's power over the sum of its parts, runs about their blocks' means.
void close_on_socket(std::span<const ChipletRun> runs, ChipletAnswer& answer) {
  struct Pair {
    std::int64_t block;
    double parts, socket;
  };
  std::vector<Pair> pairs;
  for (const ChipletRun& run : runs) {
    const auto& power = run.power_w;
    if (!power[0] || !power[1] || !power[2] || !power[3]) continue;
    pairs.push_back({run.block, *power[1] + *power[2] + *power[3], *power[0]});
  }
  if (pairs.size() < 8) return;
  double parts = 0;
  double socket = 0;
  for (const Pair& pair : pairs) parts += pair.parts, socket += pair.socket;
  const auto n = static_cast<double>(pairs.size());
  parts /= n;
  socket /= n;
  double product = 0;
  double square = 0;
  double least = pairs.front().socket;
  double most = least;
  for (const Pair& pair : pairs) {
    product += (pair.parts - parts) * (pair.socket - socket);
    square += (pair.parts - parts) * (pair.parts - parts);
    least = std::min(least, pair.socket);
    most = std::max(most, pair.socket);
  }
  if (!(square > 0) || !(most > least)) return;
  const double slope = product / square;
  double left = 0;
  for (const Pair& pair : pairs) {
    left += std::pow(pair.socket - socket - slope * (pair.parts - parts), 2);
  }
  answer.closure_slope = slope;
  answer.closure_residual = std::sqrt(left / n) / (most - least);
}

}  // namespace

std::span<const ChipletPoint> chiplet_points() {
  using enum ChipletWay;
  static constexpr std::array<ChipletPoint, 11> kPoints{{
      {.name = "own, cache", .way = own},
      {.name = "row, cache", .way = row},
      {.name = "column, cache", .way = column},
      {.name = "across, cache", .way = across},
      {.name = "own, cache, slow", .way = own, .slow = true},
      {.name = "across, cache, slow", .way = across, .slow = true},
      {.name = "own, memory", .way = own, .memory = true},
      {.name = "across, memory", .way = across, .memory = true},
      {.name = "own, cache, even dies", .way = own, .dies = ChipletDies::even},
      {.name = "own, cache, odd dies", .way = own, .dies = ChipletDies::odd},
      {.name = "waits", .traffic = false},
  }};
  return kPoints;
}

ChipletAnswer fit_chiplet_runs(std::span<const ChipletRun> runs, double gain_tolerance_95) {
  ChipletAnswer answer;
  std::set<std::int64_t> blocks;
  for (const ChipletRun& run : runs) blocks.insert(run.block);
  answer.blocks = static_cast<int>(blocks.size());
  const RailFit aid = fit_rail(runs, ChipletRail::aid);
  const RailFit hbm = fit_rail(runs, ChipletRail::hbm);
  Rows rows(answer, gain_tolerance_95);
  rows.add("row_hop", "J/bit/crossing", aid, kRow);
  rows.add("column_hop", "J/bit/crossing", aid, kColumn);
  rows.add("across", "J/bit/crossing", aid, kAcross);
  rows.add("memory_phy", "J/bit", aid, kMemory);
  rows.add("memory", "J/bit", hbm, kMemory);
  rows.add("compute_die_and_cache", "J/bit", aid, kRate);
  const ResultRow& sum = answer.rows.back();
  const std::string bound =
      sum.high ? fmt::format(
                     "every read both crosses to a compute die and asks the Infinity Cache, "
                     "and one rail meters both: at most {:.3f} pJ/bit",
                     1e12 * *sum.high)
               : sum.reason;
  for (const char* part : {"compute_die", "infinity_cache"}) {
    ResultRow row;
    row.name = part;
    row.unit = part == std::string_view("compute_die") ? "J/bit/crossing" : "J/bit";
    rows.missing(std::move(row), bound);
  }
  close_on_socket(runs, answer);
  static constexpr std::string_view kOfIoDies[] = {"row_hop", "column_hop", "across", "memory_phy",
                                                   "compute_die_and_cache"};
  if (aid.why_not.empty()) {
    answer.controls.push_back(zero_control("two dies of one I/O die", aid, kOdd, aid.value(kRate),
                                           "odd dies less even ones:"));
    rows.reject(kOfIoDies, answer.controls.back());
  }
  // A link whose lanes wake for traffic takes more for a bit, the fewer bits there are. The slow
  // conditions then tilt every column of the rail.
  const RailFit with_slow = fit_rail(runs, ChipletRail::aid, kColumns);
  if (with_slow.why_not.empty()) {
    answer.controls.push_back(zero_control("a bit at half the rate", with_slow, kSlow,
                                           aid.value(kRate), "on one I/O die, it takes more:"));
    rows.reject(kOfIoDies, answer.controls.back());
    answer.controls.push_back(zero_control("a bit over links at half the rate", with_slow,
                                           kSlowAcross, aid.value(kAcross),
                                           "to the die across, it takes more:"));
    rows.reject(kOfIoDies, answer.controls.back());
  }
  if (hbm.why_not.empty()) {
    answer.controls.push_back(zero_control("stacks at rest in the cache's runs", hbm, kRate,
                                           hbm.value(kMemory),
                                           "the stacks' rail by bit that hits the cache:"));
    static constexpr std::string_view kOfMemory[] = {"memory", "memory_phy"};
    rows.reject(kOfMemory, answer.controls.back());
  }
  return answer;
}

}  // namespace ww::model
