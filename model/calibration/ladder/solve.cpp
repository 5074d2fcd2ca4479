#include "ladder/solve.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "fit/solver/assumptions.hpp"
#include "ww/core/mean.hpp"

namespace ww::calibration {
namespace {

// Below this span of idle temperatures the curve has no slope [K].
constexpr double kMinIdleSpanK = 2;
constexpr std::size_t kMinIdlePoints = 6;

// The rate's point of each run: those of one stream that run as fast.
std::vector<std::size_t> points_of(std::span<const LadderRun> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](std::size_t i) { return std::pair(runs[i].stream, runs[i].bits_per_s); });
  std::vector<std::size_t> points(runs.size());
  const LadderRun* slowest = nullptr;
  std::size_t point = 0;
  for (const std::size_t i : order) {
    const bool same = slowest != nullptr && runs[i].stream == slowest->stream &&
                      runs[i].bits_per_s < slowest->bits_per_s * (1 + model::kLadderRatesApart);
    if (!same) {
      slowest = &runs[i];
      ++point;
    }
    points[i] = point;
  }
  return points;
}

}  // namespace

double IdleCurve::at(std::optional<double> celsius) const {
  if (!celsius) return power_w;
  const double warmer = *celsius - mean_c;
  return power_w + w_per_k * warmer + w_per_k2 * warmer * warmer;
}

IdleCurve idle_curve(std::span<const LadderIdle> idle) {
  IdleCurve curve;
  Mean power;
  Mean temperature;
  Mean voltage;
  std::vector<const LadderIdle*> warm;
  for (const LadderIdle& point : idle) {
    power.add(point.power_w);
    if (point.voltage_v) voltage.add(*point.voltage_v);
    if (!point.temperature_c) continue;
    temperature.add(*point.temperature_c);
    warm.push_back(&point);
  }
  if (power.count == 0) return curve;
  curve.power_w = power.value();
  if (voltage.count > 0) curve.voltage_v = voltage.value();
  if (temperature.count == 0) return curve;
  curve.mean_c = temperature.value();
  const auto [coldest, hottest] =
      std::ranges::minmax(warm, {}, [](const LadderIdle* point) { return *point->temperature_c; });
  if (warm.size() < kMinIdlePoints ||
      *hottest->temperature_c - *coldest->temperature_c < kMinIdleSpanK) {
    return curve;
  }
  Eigen::MatrixXd a(static_cast<Eigen::Index>(warm.size()), 3);
  Eigen::VectorXd b(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const LadderIdle& point = *warm[static_cast<std::size_t>(i)];
    const double warmer = *point.temperature_c - curve.mean_c;
    a.row(i) << 1, warmer, warmer * warmer;
    b(i) = point.power_w;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(a);
  if (solver.rank() < 3) return curve;
  const Eigen::VectorXd found = solver.solve(b);
  curve.power_w = found(0);
  curve.w_per_k = found(1);
  curve.w_per_k2 = found(2);
  const double freedom = static_cast<double>(a.rows() - 3);
  const double variance = (b - a * found).squaredNorm() / std::max(1.0, freedom);
  curve.error_w_per_k = std::sqrt(variance * (a.transpose() * a).inverse()(1, 1));
  return curve;
}

double CoreVoltage::at_rest(double power_w) const {
  return model::voltage_on_load_line(line.start_v, -line.slope_ohm, power_w);
}

double CoreVoltage::under(const LadderRun& run, const std::string& level) const {
  const auto above = above_v.find(level);
  return at_rest(run.power_w) + (above == above_v.end() ? 0.0 : above->second * run.bits_per_s);
}

LadderSolution::LadderSolution(const LadderInput& input, const IdleCurve& idle,
                               const LadderReduction& reduction)
    : streams_(input.streams.size()), ranges_(streams_, {HUGE_VAL, 0.0}) {
  std::map<std::int64_t, Eigen::Index> blocks;
  Mean rate;
  Mean voltage;
  Mean clock;
  const auto voltage_at = [&](const LadderRun& run) {
    if (!reduction.voltage) return run.voltage_v;
    return std::optional(reduction.voltage->under(run, input.streams[run.stream].level));
  };
  const double idle_v =
      reduction.voltage ? reduction.voltage->at_rest(idle.power_w) : idle.voltage_v;
  bool has_voltage = idle_v > 0;
  bool has_clock = true;
  for (const LadderRun& run : input.runs) {
    blocks.emplace(run.block, 0);
    rate.add(run.bits_per_s);
    const auto run_v = voltage_at(run);
    has_voltage = has_voltage && run_v;
    has_clock = has_clock && run.clock_hz;
    voltage.add(run_v.value_or(0));
    clock.add(run.clock_hz.value_or(0));
  }
  if (blocks.empty() || !(rate.value() > 0)) return;
  scale_ = rate.value();
  if (has_voltage) reference_v_ = voltage.value();
  const auto streams = static_cast<Eigen::Index>(streams_);
  Eigen::Index columns = 0;
  const Eigen::Index first_base = columns;
  columns += streams;
  first_slope_ = columns;
  columns += streams;
  first_bend_ = columns;
  if (reduction.bend) columns += streams;
  // The first block is the one that the others differ from.
  for (auto& [block, column] : blocks) column = block == blocks.begin()->first ? -1 : columns++;

  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(input.runs.size()), columns);
  Eigen::VectorXd b(a.rows());
  Eigen::VectorXd b_per_watt(a.rows());
  Eigen::VectorXd b_per_volt = Eigen::VectorXd::Zero(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const LadderRun& run = input.runs[static_cast<std::size_t>(i)];
    const auto stream = static_cast<Eigen::Index>(run.stream);
    const double scaled = run.bits_per_s / run.busy_share / scale_;
    auto& [low, high] = ranges_[run.stream];
    low = std::min(low, scaled);
    high = std::max(high, scaled);
    a(i, first_base + stream) = 1;
    a(i, first_slope_ + stream) = scaled;
    if (reduction.bend) a(i, first_bend_ + stream) = scaled * scaled;
    if (const Eigen::Index column = blocks.at(run.block); column >= 0) a(i, column) = 1;
    double at_rest = idle.at(run.temperature_c);
    double over_idle = run.power_w - at_rest;
    double scale = 1;
    if (has_voltage) {
      const double run_v = *voltage_at(run);
      at_rest *= std::pow(run_v / idle_v, reduction.idle_exponent);
      over_idle = run.power_w - at_rest;
      scale = std::pow(reference_v_ / run_v, 2);
      b_per_volt(i) = -(reduction.idle_exponent * at_rest + 2 * over_idle) / run_v;
    }
    if (has_clock && clock.value() > 0) {
      scale *= 1 - reduction.clock_exponent * (*run.clock_hz / clock.value() - 1);
    }
    b_per_watt(i) = scale / run.busy_share;
    b(i) = over_idle * b_per_watt(i);
    b_per_volt(i) *= b_per_watt(i);
  }
  freedom_ = static_cast<double>(a.rows() - columns);
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(a);
  if (freedom_ < 1 || solver.rank() < columns) return;
  found_ = solver.solve(b);
  sigma_ = std::sqrt((b - a * found_).squaredNorm() / freedom_);
  const Eigen::MatrixXd inverse = (a.transpose() * a).inverse();
  covariance_ = sigma_ * sigma_ * inverse;
  watts_.step = input.power_step_w;
  volts_.step = reduction.voltage ? 0 : input.voltage_step_v.value_or(0);
  const std::vector<std::size_t> points = points_of(input.runs);
  std::vector<Eigen::Index> averaged;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const LadderRun& run = input.runs[static_cast<std::size_t>(i)];
    const std::size_t point = points[static_cast<std::size_t>(i)];
    volts_.steady.push_back({point, run.voltage_v.value_or(0), run.voltage_spread_v});
    if (!run.power_spread_w) continue;
    averaged.push_back(i);
    watts_.steady.push_back({point, run.power_w, *run.power_spread_w});
  }
  const Eigen::MatrixXd per_row = inverse * a.transpose();
  watts_.per_unit = (per_row * b_per_watt.asDiagonal())(Eigen::all, averaged);
  volts_.per_unit = per_row * b_per_volt.asDiagonal();
  solved_ = true;
}

double LadderSolution::slope(std::size_t stream) const {
  return found_(first_slope_ + static_cast<Eigen::Index>(stream)) / scale_;
}

double LadderSolution::covariance(std::size_t a, std::size_t b) const {
  return covariance_(first_slope_ + static_cast<Eigen::Index>(a),
                     first_slope_ + static_cast<Eigen::Index>(b)) /
         (scale_ * scale_);
}

double LadderSolution::value(std::span<const double> weights) const {
  double sum = 0;
  for (std::size_t s = 0; s < streams_; ++s) sum += weights[s] * slope(s);
  return sum;
}

double LadderSolution::variance(std::span<const double> weights) const {
  double sum = 0;
  for (std::size_t a = 0; a < streams_; ++a) {
    for (std::size_t b = 0; b < streams_; ++b) sum += weights[a] * weights[b] * covariance(a, b);
  }
  return sum;
}

double LadderSolution::rounding(std::span<const double> weights) const {
  double variance = 0;
  for (const Shown& shown : {std::cref(watts_), std::cref(volts_)}) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(shown.per_unit.cols());
    for (std::size_t s = 0; s < streams_; ++s) {
      sum += weights[s] / scale_ * shown.per_unit.row(first_slope_ + static_cast<Eigen::Index>(s));
    }
    variance += model::rounding_of(shown.steady, {sum.data(), shown.steady.size()}, shown.step);
  }
  return variance;
}

double LadderSolution::bend(std::size_t stream) const {
  const auto at = static_cast<Eigen::Index>(stream);
  const double slope = found_(first_slope_ + at);
  const double bend = found_(first_bend_ + at);
  const auto [low, high] = ranges_[stream];
  const double mean = slope + bend * (low + high);
  return -2 * bend * (high - low) / mean;
}

}  // namespace ww::calibration
