#include "fit/solver/core_voltage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/reading_steps.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

double normal_below(double sigmas) {
  return std::erfc(-sigmas / std::numbers::sqrt2) / 2;
}

bool is_voltage(const LoadedVoltage& at) {
  return std::isfinite(at.voltage_v) && at.voltage_v > 0;
}

// Squares of the distances from a line, each weighing as many as its readings.
double squares_about(std::span<const LoadedVoltage> at_one_state, const LoadLine& line) {
  double square = 0;
  for (const LoadedVoltage& at : at_one_state) {
    if (!is_voltage(at)) continue;
    const double r = at.voltage_v - line.start_v - line.slope_ohm * at.power_w / at.voltage_v;
    square += at.readings * r * r;
  }
  return square;
}

}  // namespace

bool amdgpu_shows_requested_voltage(std::string_view target) {
  // Three figures follow "gfx" up to gfx9.
  const bool to_gfx8 =
      target.size() == 6 && (target.starts_with("gfx7") || target.starts_with("gfx8"));
  return to_gfx8 || target == "gfx900";
}

AssumedLoadLine assumed_load_line(double most_amps, double nominal_v) {
  const double most_ohm = most_amps > 0 ? kMaxDroopShare * nominal_v / most_amps : HUGE_VAL;
  const double most = std::log(most_ohm / kMedianLoadLineOhm) / kLoadLineLogSigma;
  // E[R^n | R < most_ohm] of a lognormal.
  const auto moment = [&](int n) {
    const double sigma = n * kLoadLineLogSigma;
    return std::pow(kMedianLoadLineOhm, n) * std::exp(sigma * sigma / 2) *
           normal_below(most - sigma) / normal_below(most);
  };
  const double mean = moment(1);
  const double steepest = kMedianLoadLineOhm * std::exp(kNormal95 * kLoadLineLogSigma);
  const double below = t_quantile(1 - 0.05 * normal_below(most), HUGE_VAL);  // sigmas
  return {mean, std::sqrt(moment(2) - mean * mean),
          kMedianLoadLineOhm * std::exp(-kLoadLineLogSigma * below), std::min(steepest, most_ohm)};
}

double voltage_on_load_line(double nominal_v, double ohm, double power_w) {
  double voltage = nominal_v;
  for (int i = 0; i < 4; ++i) voltage = nominal_v - ohm * power_w / voltage;
  return voltage;
}

LoadSums sum_loads(std::span<const LoadedVoltage> at_one_state) {
  LoadSums sums;
  for (const LoadedVoltage& at : at_one_state) {
    if (!is_voltage(at)) continue;
    const double amps = at.power_w / at.voltage_v;
    sums.least_amps = sums.points == 0 ? amps : std::min(sums.least_amps, amps);
    sums.most_amps = std::max(sums.most_amps, amps);
    ++sums.points;
    sums.n += at.readings;
    sums.x += at.readings * amps;
    sums.y += at.readings * at.voltage_v;
    sums.xx += at.readings * amps * amps;
    sums.xy += at.readings * amps * at.voltage_v;
  }
  return sums;
}

std::optional<LoadLine> line_of(const LoadSums& sums) {
  const double spread = sums.n > 0 ? sums.xx - sums.x * sums.x / sums.n : 0;
  if (spread <= 1e-9 * sums.n) return std::nullopt;
  LoadLine line;
  line.slope_ohm = (sums.xy - sums.x * sums.y / sums.n) / spread;
  line.start_v = (sums.y - line.slope_ohm * sums.x) / sums.n;
  line.readings = sums.n;
  return line;
}

std::optional<LoadLine> fit_load_line(std::span<const LoadedVoltage> at_one_state, double step_v) {
  const LoadSums sums = sum_loads(at_one_state);
  const auto line = line_of(sums);
  if (sums.points < kLoadLinePoints || !line) return std::nullopt;
  const double rms_v = std::sqrt(squares_about(at_one_state, *line) / sums.n);
  if (rms_v > std::max(kLoadLineRmsV, kVoltageStepsToRms * step_v)) return std::nullopt;
  return line;
}

double slope_variance(std::span<const LoadedVoltage> at_one_state, const LoadLine& line,
                      double step_v) {
  const LoadSums sums = sum_loads(at_one_state);
  if (sums.points < 3) return HUGE_VAL;
  const double mean_amps = sums.x / sums.n;
  const double spread = sums.xx - sums.x * mean_amps;
  // Whatever draws a power, its voltage has one place within the steps.
  std::vector<SteadyPower> volts;
  std::vector<double> per_volt;
  for (const LoadedVoltage& at : at_one_state) {
    if (!is_voltage(at)) continue;
    volts.push_back({0, at.voltage_v, at.spread_v});
    per_volt.push_back(at.readings * (at.power_w / at.voltage_v - mean_amps) / spread);
  }
  const double scatter =
      squares_about(at_one_state, line) / static_cast<double>(sums.points - 2) / spread;
  return scatter + rounding_of(volts, per_volt, step_v);
}

std::string why_not_measured(std::span<const LoadedVoltage> at_one_state, double step_v) {
  const LoadSums sums = sum_loads(at_one_state);
  const auto line = line_of(sums);
  if (!line) return {};
  const double fall_v = -line->slope_ohm * (sums.most_amps - sums.least_amps);
  if (step_v > 0 && fall_v >= kMinFallSteps * step_v) return {};
  return fmt::format(
      "the voltage that the driver shows falls by {:.2f} mV from {:.0f} to {:.0f} A at one state, "
      "less than its steps of {:.2f} mV: it is taken for the requested voltage, not the die's",
      1e3 * fall_v, sums.least_amps, sums.most_amps, 1e3 * step_v);
}

}  // namespace ww::model
