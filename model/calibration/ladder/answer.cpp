// The ladder's figures from its runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "fit/crossing/crossing_interval.hpp"
#include "fit/solver/assumptions.hpp"
#include "fit/solver/core_voltage.hpp"
#include "ladder/solve.hpp"
#include "ww/core/statistics.hpp"

namespace ww::calibration {
namespace {

constexpr int kMinLadderBlocks = 2;
constexpr std::size_t kMinLadderRates = 3;
constexpr std::array kLevelsInOrder{ladder_levels::l1, ladder_levels::l2, ladder_levels::cache,
                                    ladder_levels::memory};

using Weights = std::vector<double>;

std::vector<model::LoadedVoltage> loaded_voltages(const LadderInput& input) {
  std::vector<model::LoadedVoltage> loaded;
  for (const LadderRun& run : input.runs) {
    if (run.voltage_v) loaded.push_back({run.power_w, *run.voltage_v, 1, run.voltage_spread_v});
  }
  for (const LadderIdle& idle : input.idle) {
    if (idle.voltage_v) loaded.push_back({idle.power_w, *idle.voltage_v, 1, idle.voltage_spread_v});
  }
  return loaded;
}

// Why the shown voltages are not the die's; empty where they are, or where nobody looked.
std::string why_no_voltage(const LadderInput& input) {
  if (!input.voltage_step_v) return {};
  for (const LadderRun& run : input.runs) {
    if (!run.voltage_v) return "no reading shows the core's voltage";
  }
  return model::why_not_measured(loaded_voltages(input), *input.voltage_step_v);
}

// The voltage of every run. The data leave some doubt of it: each of `others` departs from `usual`
// in an independent direction, by a 95% half-width. Without `usual`, voltages are those shown.
struct CoreVoltages {
  std::optional<CoreVoltage> usual;
  std::vector<CoreVoltage> others;
};

// Where a card names no voltage of its clock state, a load line begins at the voltage that it shows
// idle, as firmware requests it. Where it shows none either, nobody knows where: a watt is more
// amperes at a lower voltage, so that the same load line is steeper there.
CoreVoltages assumed_voltages(const LadderInput& input, const IdleCurve& idle) {
  double most_w = 0;
  for (const LadderRun& run : input.runs) most_w = std::max(most_w, run.power_w);
  const auto line_from = [&](double start_v) {
    return model::assumed_load_line(most_w / start_v, start_v);
  };
  const bool known = input.nominal_v || idle.voltage_v > 0;
  const double start_v = !known            ? model::kUnshownCoreV
                         : input.nominal_v ? *input.nominal_v
                                           : idle.voltage_v;
  const auto assumed = line_from(start_v);
  CoreVoltages voltages{CoreVoltage{{start_v, -assumed.ohm}},
                        {CoreVoltage{{start_v, -assumed.steepest_ohm}}}};
  if (!known) {
    const double low_v = start_v - model::kRectangular95 * model::kUnshownCoreRangeV;
    voltages.others.push_back({{low_v, -line_from(low_v).ohm}});
  }
  return voltages;
}

// A load line through the voltages of runs and idle windows, and by how much those of the levels
// behind the L2 lie above it, by least squares. The covariance has the steps in which voltages are
// shown.
CoreVoltages shown_voltages(const LadderInput& input) {
  if (!input.voltage_step_v) return {};
  std::vector<std::string> levels;
  for (const char* level : {ladder_levels::cache, ladder_levels::memory}) {
    if (std::ranges::find(input.streams, level, &LadderStream::level) != input.streams.end()) {
      levels.emplace_back(level);
    }
  }
  auto loaded = loaded_voltages(input);
  // Amperes, and rates of each level over that of the first run.
  const auto columns = static_cast<Eigen::Index>(1 + levels.size());
  const Eigen::Index rows = std::ssize(loaded);
  if (input.runs.empty() || rows <= columns + 2) return {};
  const double unit = input.runs.front().bits_per_s;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(rows, columns);
  Eigen::VectorXd volts(rows);
  std::vector<model::SteadyPower> steady;
  for (Eigen::Index i = 0; i < rows; ++i) {
    const model::LoadedVoltage& at = loaded[static_cast<std::size_t>(i)];
    a(i, 0) = at.power_w / at.voltage_v;
    volts(i) = at.voltage_v;
    steady.push_back({0, at.voltage_v, at.spread_v});
  }
  Eigen::Index row = 0;  // loaded_voltages() begins with the runs
  for (const LadderRun& run : input.runs) {
    if (!run.voltage_v) continue;
    const auto level = std::ranges::find(levels, input.streams[run.stream].level);
    if (level != levels.end()) a(row, 1 + (level - levels.begin())) = run.bits_per_s / unit;
    ++row;
  }
  const Eigen::RowVectorXd means = a.colwise().mean();
  const double mean_v = volts.mean();
  const Eigen::MatrixXd centred = a.rowwise() - means;
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(centred);
  if (solver.rank() < columns) return {};
  const Eigen::VectorXd found = solver.solve((volts.array() - mean_v).matrix());
  // All have the mean of the voltages.
  const auto with = [&](const Eigen::VectorXd& x) {
    CoreVoltage voltage{{mean_v - means * x, x(0)}};
    for (std::size_t i = 0; i < levels.size(); ++i) {
      voltage.above_v[levels[i]] = x(static_cast<Eigen::Index>(1 + i)) / unit;
    }
    return voltage;
  };
  const Eigen::VectorXd above = a.rightCols(columns - 1) * found.tail(columns - 1);
  for (Eigen::Index i = 0; i < rows; ++i) loaded[static_cast<std::size_t>(i)].voltage_v -= above(i);
  if (!model::fit_load_line(loaded, *input.voltage_step_v)) return {};

  const Eigen::VectorXd left = (volts.array() - mean_v).matrix() - centred * found;
  const Eigen::MatrixXd inverse = (centred.transpose() * centred).inverse();
  const Eigen::MatrixXd per_volt = inverse * centred.transpose();
  const auto rounding = [&](const Eigen::RowVectorXd& sum) {
    return model::rounding_of(steady, {sum.data(), steady.size()}, *input.voltage_step_v);
  };
  Eigen::MatrixXd covariance =
      left.squaredNorm() / static_cast<double>(rows - columns - 1) * inverse;
  for (Eigen::Index k = 0; k < columns; ++k) {
    for (Eigen::Index l = 0; l < columns; ++l) {
      covariance(k, l) += (rounding(per_volt.row(k) + per_volt.row(l)) -
                           rounding(per_volt.row(k) - per_volt.row(l))) /
                          4;
    }
  }
  const Eigen::MatrixXd root = covariance.llt().matrixL();
  CoreVoltages voltages{with(found), {}};
  for (Eigen::Index k = 0; k < columns; ++k) {
    voltages.others.push_back(with(found + kNormal95 * root.col(k)));
  }
  return voltages;
}

class LadderFitter {
 public:
  explicit LadderFitter(const LadderInput& input)
      : input_(input),
        idle_(idle_curve(input.idle)),
        no_voltage_reason_(why_no_voltage(input)),
        voltages_(no_voltage_reason_.empty() ? shown_voltages(input)
                                             : assumed_voltages(input, idle_)),
        plain_(input, idle_, usual()),
        flat_(input, idle_, with_idle_exponent(kIdleExponent - kIdleExponentSigma)),
        steep_(input, idle_, with_idle_exponent(kIdleExponent + kIdleExponentSigma)),
        no_clock_(input, idle_, with_clock_exponent(0)),
        bent_(input, idle_, with_bend()) {
    for (const CoreVoltage& other : voltages_.others) {
      other_voltages_.emplace_back(input, idle_, with_voltage(other));
    }
  }

  LadderAnswer answer() {
    LadderAnswer answer;
    std::set<std::int64_t> blocks;
    for (const LadderRun& run : input_.runs) blocks.insert(run.block);
    answer.blocks = static_cast<int>(blocks.size());
    answer.idle_w = idle_.power_w;
    answer.idle_w_per_k = idle_.w_per_k;
    if (idle_.voltage_v > 0) answer.reference_v = plain_.reference_v();
    answer.no_voltage_reason = no_voltage_reason_;
    find_range(answer);
    why_not_ = refusal(answer.blocks);
    if (why_not_.empty()) {
      answer.residual_w = plain_.residual_w();
      judge_null(answer);
    }
    add_streams(answer);
    add_toggle_slopes(answer);
    add_differences(answer);
    add_parts(answer);
    if (why_not_.empty()) add_covariance(answer);
    return answer;
  }

 private:
  static constexpr double kIdleExponent = model::kBeta;
  static constexpr double kIdleExponentSigma = model::kBetaSigma;
  [[nodiscard]] LadderReduction usual() const { return with_voltage(voltages_.usual); }
  [[nodiscard]] static LadderReduction with_voltage(const std::optional<CoreVoltage>& voltage) {
    return {.idle_exponent = kIdleExponent,
            .clock_exponent = model::kCrossingClockExponent,
            .voltage = voltage};
  }
  [[nodiscard]] LadderReduction with_idle_exponent(double exponent) const {
    LadderReduction reduction = usual();
    reduction.idle_exponent = exponent;
    return reduction;
  }
  [[nodiscard]] LadderReduction with_clock_exponent(double exponent) const {
    LadderReduction reduction = usual();
    reduction.clock_exponent = exponent;
    return reduction;
  }
  [[nodiscard]] LadderReduction with_bend() const {
    LadderReduction reduction = usual();
    reduction.bend = true;
    return reduction;
  }

  void find_range(LadderAnswer& answer) const {
    for (const LadderRun& run : input_.runs) {
      if (answer.low_bits_per_s == 0 || run.bits_per_s < answer.low_bits_per_s) {
        answer.low_bits_per_s = run.bits_per_s;
      }
      answer.high_bits_per_s = std::max(answer.high_bits_per_s, run.bits_per_s);
    }
  }

  [[nodiscard]] std::string refusal(int blocks) const {
    if (blocks < kMinLadderBlocks) {
      return fmt::format("{} blocks do not determine it; {} are the least", blocks,
                         kMinLadderBlocks);
    }
    for (std::size_t s = 0; s < input_.streams.size(); ++s) {
      std::vector<double> rates;
      for (const LadderRun& run : input_.runs) {
        if (run.stream == s) rates.push_back(run.bits_per_s);
      }
      std::ranges::sort(rates);
      std::size_t apart = rates.empty() ? 0 : 1;
      double last = rates.empty() ? 0 : rates.front();
      for (const double rate : rates) {
        if (rate < last * (1 + model::kLadderRatesApart)) continue;
        ++apart;
        last = rate;
      }
      if (apart < kMinLadderRates) {
        return fmt::format("'{}' ran at {} rates that differ; {} are the least",
                           input_.streams[s].name(), apart, kMinLadderRates);
      }
    }
    if (!plain_.solved()) return "the runs do not determine it";
    return {};
  }

  // Changes of the value that the reductions leave open, as 95% half-widths, in quadrature.
  [[nodiscard]] double systematic(const Weights& weights, double value) const {
    const auto change = [&](const LadderSolution& other) {
      return other.solved() ? std::abs(other.value(weights) - plain_.value(weights)) : 0.0;
    };
    const double voltage = kNormal95 * std::max(change(flat_), change(steep_));
    const double clock = model::kRectangular95 * change(no_clock_);
    const double heat = model::kRectangular95 * std::abs(value) * idle_.w_per_k *
                        model::kMaxUnseenKelvinPerWatt / 2;
    double square = std::pow(std::hypot(voltage, clock, heat), 2);
    for (const LadderSolution& other : other_voltages_) square += std::pow(change(other), 2);
    return std::sqrt(square);
  }

  LadderRow row(std::string name, std::string unit, const Weights& weights) const {
    LadderRow row;
    row.figure.name = std::move(name);
    row.figure.unit = std::move(unit);
    const auto refuse = [&row](RowStatus status, std::string reason) {
      row.figure.status = status;
      row.figure.reason = std::move(reason);
      return row;
    };
    if (!why_not_.empty()) return refuse(RowStatus::not_identified, why_not_);
    // Parts that are warmer than the sensor draw more: half of that bound is taken off.
    const double unseen = 1 - std::max(0.0, idle_.w_per_k) * model::kMaxUnseenKelvinPerWatt / 2;
    const double value = unseen * plain_.value(weights);
    const double noise = t_quantile_95(plain_.freedom()) * std::sqrt(plain_.variance(weights));
    const double steps = kNormal95 * std::sqrt(plain_.rounding(weights));
    const double half = std::hypot(noise, systematic(weights, value), steps);
    row.sensed = Interval{value, value - half, value + half};
    const double gain = std::hypot(input_.gain_tolerance_95, input_.regulator_tolerance_95);
    const double all = std::hypot(half, gain * std::abs(value));
    if (!null_failed_.empty()) return refuse(RowStatus::rejected, null_failed_);
    row.figure.value = value;
    row.figure.low = value - all;
    row.figure.high = value + all;
    return row;
  }

  [[nodiscard]] Weights of(std::size_t stream) const {
    Weights weights(input_.streams.size());
    weights[stream] = 1;
    return weights;
  }
  [[nodiscard]] Weights difference(std::size_t more, std::size_t less) const {
    Weights weights = of(more);
    weights[less] = -1;
    return weights;
  }
  [[nodiscard]] std::optional<std::size_t> find(const LadderStream& stream) const {
    const auto found = std::ranges::find(input_.streams, stream);
    if (found == input_.streams.end()) return std::nullopt;
    return static_cast<std::size_t>(found - input_.streams.begin());
  }

  // Two sets of the L2 cost alike; what makes them differ is in every figure.
  void judge_null(LadderAnswer& answer) {
    const auto one = find({ladder_levels::l2, false, "random"});
    const auto other = find({ladder_levels::kL2Again, false, "random"});
    if (!one || !other) return;
    const Weights weights = difference(*other, *one);
    const double apart = plain_.value(weights);
    const double half = t_quantile(0.99, plain_.freedom()) *
                        std::sqrt(plain_.variance(weights) + plain_.rounding(weights));
    const double most = model::kNullShare * std::abs(plain_.slope(*one));
    LadderControl control;
    control.name = "two sets of the L2";
    control.passed = std::abs(apart) <= std::max(half, most);
    control.detail =
        fmt::format("differ by {:.4g} +- {:.2g} pJ/bit (99%)", 1e12 * apart, 1e12 * half);
    if (!control.passed) {
      control.detail += ": what is alike does not measure alike";
      null_failed_ = fmt::format("control '{}' failed: {}", control.name, control.detail);
    }
    answer.controls.push_back(std::move(control));
  }

  void add_streams(LadderAnswer& answer) const {
    for (std::size_t s = 0; s < input_.streams.size(); ++s) {
      const LadderStream& stream = input_.streams[s];
      if (stream.level == ladder_levels::kL2Again || is_part(stream)) continue;
      LadderRow found = row(stream.figure(), "J/bit", of(s));
      if (found.figure.high && *found.figure.high < 0) {
        found.figure.status = RowStatus::rejected;
        found.figure.reason = model::why_below_zero(*found.figure.low, *found.figure.high).value();
        found.figure.value = found.figure.low = found.figure.high = std::nullopt;
      }
      if (found.figure.value && bent_.solved()) {
        const double bend = bent_.bend(s);
        if (std::abs(bend) > model::kLadderBend) {
          found.figure.reason = fmt::format(
              "mean over the rates: a bit takes {:.0f}% {} at the highest rate than at the lowest",
              100 * std::abs(bend), bend > 0 ? "less" : "more");
        }
      }
      answer.rows.push_back(std::move(found));
    }
  }

  // (random - zeros) / toggles a bit.
  void add_toggle_slopes(LadderAnswer& answer) const {
    for (std::size_t s = 0; s < input_.streams.size(); ++s) {
      const LadderStream& stream = input_.streams[s];
      if (stream.data != "random" || is_part(stream)) continue;
      const auto zeros = find({stream.level, stream.writes, "zeros"});
      if (!zeros) continue;
      Weights weights = difference(s, *zeros);
      for (double& weight : weights) weight /= input_.toggle_rate[s] - input_.toggle_rate[*zeros];
      answer.rows.push_back(row(stream.figure() + "_per_toggle", "J/toggle", weights));
    }
  }

  static bool is_part(const LadderStream& stream) { return stream.level.starts_with("l1_"); }

  // Loads of w work-items take 16 B each from n lines (a a bit of these), 4 B each from as many
  // (c), or 4 B each from n / 4 (b). They cost i + n l + bytes r, so that a - c is 12 w r, c - b is
  // 3/4 n l, each over its lines' bits, and i is what is left of b, less the loop (no load).
  void add_parts(LadderAnswer& answer) const {
    for (const std::string data : {"random", "zeros"}) {
      const auto whole = find({ladder_levels::l1, false, data});
      const auto quarter = find({ladder_levels::kL1Quarter, false, data});
      const auto narrow = find({ladder_levels::kL1Narrow, false, data});
      if (!whole || !quarter || !narrow) continue;
      const std::string suffix = data == "random" ? "" : "_" + data;
      Weights line(input_.streams.size());
      line[*quarter] = 4.0 / 3;
      line[*narrow] = -1.0 / 3;
      answer.rows.push_back(row(ladder_levels::kLine + suffix, "J/bit", line));
      Weights loaded(input_.streams.size());
      loaded[*whole] = 4.0 / 3;
      loaded[*quarter] = -4.0 / 3;
      answer.rows.push_back(row(ladder_levels::kRegister + suffix, "J/bit", loaded));
      const auto none = find({ladder_levels::kL1None, false, data});
      if (!none) continue;
      constexpr double kBitsOfItem = 8 * 16;
      Weights load(input_.streams.size());
      load[*narrow] = kBitsOfItem / 3 * input_.wave_size;
      load[*whole] = -kBitsOfItem / 3 * input_.wave_size;
      load[*none] = -kBitsOfItem * input_.wave_size;
      answer.rows.push_back(row(ladder_levels::kInstruction, "J/load", load));
    }
  }

  void add_differences(LadderAnswer& answer) const {
    for (const bool writes : {false, true}) {
      std::optional<std::size_t> before;
      for (const char* level : kLevelsInOrder) {
        const auto found = find({level, writes, "random"});
        if (!found) continue;
        if (before) {
          answer.rows.push_back(row(fmt::format("{}_less_{}", input_.streams[*found].figure(),
                                                input_.streams[*before].level),
                                    "J/bit", difference(*found, *before)));
        }
        before = found;
      }
    }
  }

  void add_covariance(LadderAnswer& answer) const {
    for (std::size_t a = 0; a < input_.streams.size(); ++a) {
      answer.names.push_back(input_.streams[a].figure());
      auto& line = answer.covariance.emplace_back();
      for (std::size_t b = 0; b < input_.streams.size(); ++b) {
        line.push_back(plain_.covariance(a, b));
      }
    }
  }

  const LadderInput& input_;
  IdleCurve idle_;
  std::string no_voltage_reason_;
  CoreVoltages voltages_;
  LadderSolution plain_, flat_, steep_, no_clock_, bent_;
  std::vector<LadderSolution> other_voltages_;
  std::string why_not_, null_failed_;
};

}  // namespace

std::string LadderStream::name() const {
  return fmt::format("{} {} {}", writes ? "write" : "read", level, data);
}

std::string LadderStream::figure() const {
  std::string text = fmt::format("{}_{}", level, writes ? "write" : "read");
  if (data != "random") text += "_" + data;
  return text;
}

std::optional<LadderStream> LadderStream::parse(std::string_view name) {
  const auto first = name.find(' ');
  const auto second = name.find(' ', first + 1);
  if (first == name.npos || second == name.npos) return std::nullopt;
  const std::string_view way = name.substr(0, first);
  if (way != "read" && way != "write") return std::nullopt;
  return LadderStream{std::string(name.substr(first + 1, second - first - 1)), way == "write",
                      std::string(name.substr(second + 1))};
}

LadderAnswer fit_ladder_runs(const LadderInput& input) {
  return LadderFitter(input).answer();
}

std::map<std::string, double> fit_exact_launches(std::span<const ExactLaunch> launches,
                                                 const std::map<std::string, double>& toggle_rates,
                                                 double wave_size) {
  LadderInput input;
  input.wave_size = wave_size;
  for (const ExactLaunch& launch : launches) {
    const auto found = std::ranges::find(input.streams, launch.stream);
    const auto at = static_cast<std::size_t>(found - input.streams.begin());
    if (found == input.streams.end()) {
      input.streams.push_back(launch.stream);
      const auto rate = toggle_rates.find(launch.stream.data);
      input.toggle_rate.push_back(rate == toggle_rates.end() ? 0 : rate->second);
    }
    for (const std::int64_t block : {1, 2}) {  // the fit needs two
      LadderRun& run = input.runs.emplace_back();
      run.block = block;
      run.stream = at;
      run.bits_per_s = launch.bits_per_s;
      run.power_w = launch.power_w;
    }
  }
  std::map<std::string, double> figures;
  for (const LadderRow& row : fit_ladder_runs(input).rows) {
    if (row.sensed) figures[row.figure.name] = 1e12 * row.sensed->value;
  }
  return figures;
}

}  // namespace ww::calibration
