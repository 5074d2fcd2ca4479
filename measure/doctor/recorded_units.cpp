#include "ww/measure/recorded/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "quantile.hpp"

namespace ww::measure {
namespace {

struct Unit {
  std::string_view name;
  double value;  // in watts or joules
};
constexpr std::array kWattUnits{Unit{"W", 1.0}, Unit{"mW", 1e-3}, Unit{"uW", 1e-6}};
constexpr std::array kJouleUnits{Unit{"J", 1.0}, Unit{"mJ", 1e-3}, Unit{"uJ", 1e-6},
                                 Unit{"nJ", 1e-9}, Unit{"counts of 2^-16 J", kJoulesPerTick}};
constexpr double kRoundedTick_j = 15.3e-6;  // of AMD's headers

Unit named(std::string_view column, std::span<const Unit> units) {
  Unit found = units.front();
  for (const Unit& unit : units) {
    std::string ending = fmt::format("_{}", unit.name);
    std::ranges::transform(ending, ending.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    if (column.ends_with(ending)) found = unit;
  }
  return found;
}

bool is_drawn(double watts) {
  constexpr double kLeast_w = 0.5;
  return watts >= kLeast_w && watts <= energy::kMaxDeviceWatts;
}

double mean_over(std::span<const PowerPoint> polls, const PowerSeries& truth) {
  double sum = 0;
  std::size_t count = 0;
  for (const PowerPoint& poll : polls) {
    if (poll.time_s < truth.start_s || poll.time_s > truth.end_s()) continue;
    sum += poll.power_w;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

double mean_of(const PowerSeries& series) {
  double sum = 0;
  for (const double power : series.power_w) sum += power;
  return sum / static_cast<double>(series.power_w.size());
}

// Energy at a time, on straight lines between the readings.
double energy_at(std::span<const EnergyPoint> points, double time_s) {
  const auto next = std::ranges::lower_bound(points, time_s, {}, &EnergyPoint::time_s);
  if (next == points.begin()) return points.front().energy_j;
  if (next == points.end()) return points.back().energy_j;
  const EnergyPoint& before = *(next - 1);
  const double share = (time_s - before.time_s) / (next->time_s - before.time_s);
  return before.energy_j + share * (next->energy_j - before.energy_j);
}

EnergyColumn metered_energy(const PowerSeries& series) {
  EnergyColumn column;
  column.polls.push_back({series.start_s, 0});
  for (std::size_t i = 0; i < series.power_w.size(); ++i) {
    column.polls.push_back({series.start_s + static_cast<double>(i + 1) * series.step_s,
                            column.polls.back().energy_j + series.power_w[i] * series.step_s});
  }
  return column;
}

constexpr std::size_t kBins = 16;
constexpr double kMinBin_s = 1;

struct Bins {
  std::vector<double> counter_w, meter_w;
};

// meter = slope * counter + offset, without one of the bins (kBins: with all).
std::pair<double, double> line_without(const Bins& bins, std::size_t left_out) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (i == left_out) continue;
    n += 1;
    x += bins.counter_w[i];
    y += bins.meter_w[i];
    xx += bins.counter_w[i] * bins.counter_w[i];
    xy += bins.counter_w[i] * bins.meter_w[i];
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {slope, (y - slope * x) / n};
}

double ratio_without(const Bins& bins, std::size_t left_out) {
  double x = 0, y = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    if (i == left_out) continue;
    x += bins.counter_w[i];
    y += bins.meter_w[i];
  }
  return y / x;
}

// Standard deviation of an estimate, by leaving out one bin after the other.
template <class Estimate>
double jackknife(const Estimate& estimate) {
  double sum = 0, square = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    const double value = estimate(i);
    sum += value;
    square += value * value;
  }
  const auto n = static_cast<double>(kBins);
  return std::sqrt(std::max(0.0, (square - sum * sum / n) * (n - 1) / n));
}

}  // namespace

UnitFound unit_of_power(const PollColumn& column, const PowerSeries& truth,
                        const std::string& truth_name) {
  const Unit name = named(column.name, kWattUnits);
  const auto found = [&](double factor, const std::string& why) -> UnitFound {
    for (const Unit& unit : kWattUnits) {
      if (std::abs(unit.value / name.value / factor - 1) > 1e-6) continue;
      return {factor, fmt::format("{}: taken in {}, not in {}", why, unit.name, name.name)};
    }
    return {1, why};
  };
  if (column.polls.empty()) return {};
  if (!truth.empty()) {
    const double known_w = mean_of(truth);
    const double ratio = mean_over(column.polls, truth) / known_w;
    if (!is_drawn(known_w) || !(ratio > 0)) return {};
    for (const double factor : {1e-6, 1e-3, 1e3, 1e6}) {
      if (ratio * factor < 0.5 || ratio * factor > 2) continue;
      return found(factor,
                   fmt::format("its readings are {:.4g} times those of {}", ratio, truth_name));
    }
    return {};
  }
  std::vector<double> values;
  for (const PowerPoint& poll : column.polls) values.push_back(poll.power_w);
  const double usual_w = quantile(values, 0.5);
  for (const double factor : {1e-3, 1e-6}) {
    if (usual_w <= energy::kMaxDeviceWatts || !is_drawn(usual_w * factor)) continue;
    return found(factor, fmt::format("no device draws {:.6g} W", usual_w));
  }
  return {};
}

UnitFound unit_of_energy(const EnergyColumn& column, const energy::Energy& readings) {
  constexpr double kAlike = 0.03;
  constexpr double kAlikeRounded = 6e-4;
  if (!readings.ok() || column.polls.size() < 2 || !is_drawn(readings.power_w)) return {};
  const double counted_j = column.polls.back().energy_j - column.polls.front().energy_j;
  if (!(counted_j > 0)) return {};
  const Unit name = named(column.name, kJouleUnits);
  const double ratio = counted_j / readings.energy_j;
  for (const Unit& unit : kJouleUnits) {
    const double factor = unit.value / name.value;
    if (std::abs(ratio * factor - 1) > kAlike) continue;
    if (factor != 1) {
      return {factor, fmt::format("{:.4g} times the joules of the readings: it counts in {}, not "
                                  "in {}",
                                  ratio, unit.name, name.name)};
    }
    constexpr double kRounded = kRoundedTick_j / kJoulesPerTick;
    const double half = (readings.high_j - readings.low_j) / 2 / readings.energy_j;
    if (std::abs(ratio - kRounded) > kAlikeRounded) return {};
    const bool certain = half < kRounded - 1;
    return {certain ? 1 / kRounded : 1.0,
            fmt::format("{:.4f} times the joules of the readings, as counts of 2^-16 J have that "
                        "are taken for 15.3 uJ{}",
                        ratio, certain ? "" : "; the readings are not sure enough to decide")};
  }
  return {};
}

std::optional<CounterGain> compare_with_meter(const EnergyColumn& counter,
                                              const PowerSeries& meter) {
  constexpr double kMinChange = 0.2;  // of the mean power, from the least bin to the most
  if (meter.empty() || counter.polls.size() < kBins) return std::nullopt;
  const EnergyColumn metered = metered_energy(meter);
  const double from_s = std::max(meter.start_s, counter.polls.front().time_s);
  const double to_s = std::min(meter.end_s(), counter.polls.back().time_s);
  const double bin_s = (to_s - from_s) / static_cast<double>(kBins);
  if (!(bin_s >= kMinBin_s)) return std::nullopt;
  Bins bins;
  CounterGain gain;
  for (std::size_t i = 0; i < kBins; ++i) {
    const double begin_s = from_s + static_cast<double>(i) * bin_s, end_s = begin_s + bin_s;
    const double counted_j = energy_at(counter.polls, end_s) - energy_at(counter.polls, begin_s);
    const double metered_j = energy_at(metered.polls, end_s) - energy_at(metered.polls, begin_s);
    gain.counter_j += counted_j;
    gain.meter_j += metered_j;
    bins.counter_w.push_back(counted_j / bin_s);
    bins.meter_w.push_back(metered_j / bin_s);
  }
  if (!(gain.counter_j > 0)) return std::nullopt;
  gain.ratio = ratio_without(bins, kBins);
  gain.ratio_sd = jackknife([&](std::size_t i) { return ratio_without(bins, i); });
  const auto [least, most] = std::ranges::minmax(bins.counter_w);
  if (most - least > kMinChange * gain.counter_j / (to_s - from_s)) {
    const auto [slope, offset_w] = line_without(bins, kBins);
    gain.slope = slope;
    gain.offset_w = offset_w;
    gain.slope_sd = jackknife([&](std::size_t i) { return line_without(bins, i).first; });
  }
  return gain;
}

}  // namespace ww::measure
