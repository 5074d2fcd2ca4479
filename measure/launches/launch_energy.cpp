#include "ww/measure/launch_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "launches/launch_fit.hpp"
#include "launches/launch_problem.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/core/statistics.hpp"
#include "ww/measure/sensor_check.hpp"

namespace ww::measure {
namespace {

double weighted(const std::vector<double>& c, const std::vector<double>& value) {
  return std::inner_product(c.begin(), c.end(), value.begin(), 0.0);
}

double covariance_of(const std::vector<double>& a, const std::vector<double>& b,
                     const std::vector<double>& covariance) {
  double sum = 0;
  const std::size_t p = a.size();
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) sum += a[i] * covariance[i * p + j] * b[j];
  }
  return sum;
}

Status check_launches(std::span<const PowerPoint> readings, std::span<const KernelLaunch> launches,
                      const LaunchSensor& sensor, const LaunchOptions& options) {
  if (launches.empty()) return fail(ErrorCode::bad_data, "no launches", "launches");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const TimeSpan& time = launches[i].time;
    if (!(time.to_s > time.from_s) || (i > 0 && time.from_s < launches[i - 1].time.to_s)) {
      return fail(ErrorCode::bad_data,
                  "launches must be in order of time, last longer than 0 and not overlap",
                  fmt::format("launch {}", i));
    }
  }
  if (!sensor.accumulator && (sensor.kind == ResponseKind::not_resolved || !(sensor.time_s > 0))) {
    return fail(ErrorCode::invalid_argument,
                "its window or lag is not known; find it with `wirewatt doctor`", "sensor");
  }
  if (!std::ranges::is_sorted(options.bins_s, std::less_equal<>{}) ||
      (!options.bins_s.empty() && options.bins_s.front() <= 0)) {
    return fail(ErrorCode::invalid_argument, "must rise from above 0", "bins_s");
  }
  if (!std::ranges::is_sorted(readings, {}, &PowerPoint::time_s)) {
    return fail(ErrorCode::bad_data, "readings must be in order of time", "readings");
  }
  return {};
}

// Sensors at the ends of the response's intervals, in pairs.
std::vector<LaunchSensor> response_ends(const LaunchSensor& sensor) {
  std::vector<LaunchSensor> ends;
  if (!sensor.accumulator && sensor.high_s > sensor.low_s && sensor.low_s > 0) {
    ends.assign(2, sensor);
    ends[0].time_s = sensor.low_s;
    ends[1].time_s = sensor.high_s;
  }
  if (sensor.delay_error_s > 0) {
    ends.resize(ends.size() + 2, sensor);
    ends[ends.size() - 2].delay_s -= sensor.delay_error_s;
    ends[ends.size() - 1].delay_s += sensor.delay_error_s;
  }
  return ends;
}

// 95% half-width that whole steps of the readings leave on a plateau's height.
double step_error_w(double quantum_w, double noise_w) {
  if (quantum_w <= 0) return 0;
  const double dither2 = std::max(0.0, noise_w * noise_w - quantum_w * quantum_w / 12);
  const double pi = std::numbers::pi;
  return quantum_w * std::exp(-2 * pi * pi * dither2 / (quantum_w * quantum_w));
}

double wider_side(const Interval& interval) {
  return std::max(interval.high - interval.value, interval.value - interval.low);
}

void judge_launch(LaunchEnergy& found, const LaunchOptions& options) {
  const double steady = std::hypot(found.response_j, found.quantum_j, found.gain_j);
  const double target = options.wanted * found.energy_j;
  if (target > steady) {
    found.launches_wanted = static_cast<double>(found.launches) * found.noise_j * found.noise_j /
                            (target * target - steady * steady);
    found.launches_wanted = std::ceil(std::max(1.0, *found.launches_wanted));
  }
  if (found.half_j <= options.resolved * found.energy_j) {
    found.status = RowStatus::ok;
    return;
  }
  found.reason = fmt::format("{:.3g} J with a half-width of {:.3g} J after {} launches",
                             found.energy_j, found.half_j, found.launches);
  found.reason +=
      found.launches_wanted
          ? fmt::format("; {:.0f} launches would bring it to {:.0f}%", *found.launches_wanted,
                        100 * options.wanted)
          : fmt::format("; no number of launches would bring it to {:.0f}%", 100 * options.wanted);
}

}  // namespace

LaunchSensor launch_sensor(const SensorResponse& response) {
  LaunchSensor sensor;
  sensor.kind = response.kind;
  sensor.time_s = response.time_s;
  sensor.low_s = response.low_s;
  sensor.high_s = response.high_s;
  sensor.delay_s = response.delay_s;
  sensor.delay_error_s = 0.002;
  return sensor;
}

LaunchSensor launch_sensor(const SensorCheck& check) {
  constexpr double kUnknownInterval = 0.1;
  SensorResponse response;
  response.kind = check.kind;
  response.time_s = check.time_s;
  const bool known = check.high_s > check.low_s;
  response.low_s = known ? check.low_s : (1 - kUnknownInterval) * check.time_s;
  response.high_s = known ? check.high_s : (1 + kUnknownInterval) * check.time_s;
  response.delay_s = check.delay_s;
  LaunchSensor sensor = launch_sensor(response);
  sensor.quantum_w = check.resolution_w;
  return sensor;
}

LaunchSensor register_response(ResponseKind kind, double time_s, double relative_error) {
  LaunchSensor sensor;
  sensor.kind = kind;
  sensor.time_s = time_s;
  sensor.low_s = time_s * (1 - relative_error);
  sensor.high_s = time_s * (1 + relative_error);
  sensor.delay_error_s = 0.005;
  sensor.gain_tolerance_95 = 0.05;
  return sensor;
}

Result<LaunchEnergies> launch_energies(std::span<const PowerPoint> readings,
                                       std::span<const KernelLaunch> launches,
                                       std::span<const TimeSpan> awake, const LaunchSensor& sensor,
                                       const LaunchOptions& options) {
  WW_TRY(check_launches(readings, launches, sensor, options));
  std::size_t kernels = 0;
  for (const auto& launch : launches) kernels = std::max(kernels, launch.kernel + 1);
  LaunchProblem problem;
  problem.drift_columns = static_cast<std::size_t>(options.drift_order) + 1;
  std::vector<LaunchedKernel> launched;
  for (std::size_t m = 0; m < kernels; ++m) {
    launched.push_back(add_kernel(problem, launches, m, options));
    if (launched.back().launches == 0) {
      return fail(ErrorCode::bad_data, "is never launched", fmt::format("kernel {}", m));
    }
  }
  if (!awake.empty()) problem.unknowns.push_back({"awake", {awake.begin(), awake.end()}});
  const std::size_t p = problem.columns();
  if (readings.size() < p + 4) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} readings for {} unknowns; record longer", readings.size(), p),
                "readings");
  }
  problem.middle_s = (readings.front().time_s + readings.back().time_s) / 2;
  problem.half_s = (readings.back().time_s - readings.front().time_s) / 2;
  WW_ASSIGN(solution, solve_launches(problem, readings, sensor));

  LaunchEnergies result;
  result.noise_w = solution.noise_w;
  result.rest_w = solution.value[0];
  result.awake_w = awake.empty() ? 0 : solution.value.back();
  // 95% half-width of c'x by noise.
  const auto noise_of = [&](const std::vector<double>& c) {
    const double variance = covariance_of(c, c, solution.covariance);
    return t_quantile_95(solution.freedom(c)) * std::sqrt(std::max(0.0, variance));
  };
  std::vector<std::vector<double>> own, total;
  for (const auto& kernel : launched) {
    own.push_back(energy_weights(kernel, p));
    total.push_back(total_weights(kernel, problem, !awake.empty()));
  }
  // Shifts of energy and total that the response's intervals allow.
  std::vector<double> own_shift(kernels, 0), total_shift(kernels, 0);
  const auto ends = response_ends(sensor);
  for (std::size_t e = 0; e < ends.size(); ++e) {
    WW_ASSIGN(other, solve_launches(problem, readings, ends[e]));
    for (std::size_t m = 0; m < kernels; ++m) {
      // Half of the squares of both ends: the mean of the pair.
      const double moved = weighted(own[m], other.value) - weighted(own[m], solution.value);
      const double all = weighted(total[m], other.value) - weighted(total[m], solution.value);
      own_shift[m] += moved * moved / 2;
      total_shift[m] += all * all / 2;
    }
  }
  const double step_w = step_error_w(sensor.quantum_w, solution.noise_w);
  for (std::size_t m = 0; m < kernels; ++m) {
    LaunchEnergy found;
    found.launches = launched[m].launches;
    found.duration_s = launched[m].duration_s;
    found.energy_j = weighted(own[m], solution.value);
    found.total_j = weighted(total[m], solution.value);
    double most = 0;
    for (const std::size_t column : launched[m].columns) {
      found.bin_power_w.push_back(solution.value[column]);
      most = std::max(most, solution.most[column]);
    }
    found.noise_j = noise_of(own[m]);
    found.response_j = std::sqrt(own_shift[m]);
    found.quantum_j = step_w / most * found.duration_s;
    found.gain_j = sensor.gain_tolerance_95 * std::abs(found.energy_j);
    found.interval_j =
        through_scale(found.energy_j, std::hypot(found.noise_j, found.response_j, found.quantum_j),
                      sensor.gain_tolerance_95);
    found.half_j = wider_side(found.interval_j);
    const double total_noise = noise_of(total[m]);
    const double total_own =
        std::hypot(std::hypot(total_noise, std::sqrt(total_shift[m]), found.quantum_j),
                   sensor.offset_tolerance_w * found.duration_s);
    found.total_half_j =
        wider_side(through_scale(found.total_j, total_own, sensor.gain_tolerance_95));
    judge_launch(found, options);
    for (std::size_t other = 0; other < kernels; ++other) {
      result.covariance.push_back(covariance_of(own[m], own[other], solution.covariance));
    }
    result.kernels.push_back(std::move(found));
  }
  return result;
}

SwitchedEnergy switched_energy(const LaunchEnergy& kernel, double rest_w, const RestShift& shift) {
  constexpr double kExponent = 3, kExponentError = 1;
  constexpr double kPerKelvin = 0.012, kPerKelvinError = kPerKelvin;
  constexpr double kHotKelvinPerWatt = 0.025, kHotError = kHotKelvinPerWatt;
  const double hotter_ks = shift.temperature_rise_ks + kHotKelvinPerWatt * kernel.energy_j;
  SwitchedEnergy switched;
  switched.energy_j =
      kernel.energy_j + rest_w * (kExponent * shift.voltage_fall_s - kPerKelvin * hotter_ks);
  switched.half_j = std::hypot(
      kernel.half_j, rest_w * kExponentError * shift.voltage_fall_s,
      rest_w * std::hypot(kPerKelvinError * hotter_ks, kPerKelvin * kHotError * kernel.energy_j));
  return switched;
}

std::optional<double> naive_launch_energy(std::span<const PowerPoint> readings,
                                          std::span<const KernelLaunch> launches,
                                          std::size_t kernel) {
  double power = 0, duration = 0;
  std::size_t inside = 0, count = 0;
  for (const auto& launch : launches) {
    if (launch.kernel != kernel) continue;
    duration += launch.time.to_s - launch.time.from_s;
    ++count;
    auto at = std::ranges::lower_bound(readings, launch.time.from_s, {}, &PowerPoint::time_s);
    for (; at != readings.end() && at->time_s < launch.time.to_s; ++at) {
      power += at->power_w;
      ++inside;
    }
  }
  if (inside == 0) return std::nullopt;
  return power / static_cast<double>(inside) * duration / static_cast<double>(count);
}

}  // namespace ww::measure
