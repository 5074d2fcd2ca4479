#include "ww/session/kernel_energy.hpp"
#include "ww/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ww/measure/update_period.hpp"

namespace ww::session {
namespace {

using measure::PowerPoint;

constexpr double kGainTolerance = 0.05;
constexpr double kRestReadings = 30;
// The clocks of launches and of polled readings agree to this.
constexpr double kPolledDelayError_s = 0.002;

// The readings of one column as power, in seconds since the first launch.
struct Column {
  std::string source;
  std::vector<PowerPoint> points;
  double period_s{};
  measure::LaunchSensor sensor;
  std::string reason;  // why there are no points
};

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

bool counts_energy(const energy::EnergySeries& series) {
  return std::ranges::any_of(series.readings,
                             [](const auto& reading) { return reading.ticks != energy::kAbsent; });
}

// Mean power between the moves of the accumulator. The first point has none before it.
Column counted_column(const energy::EnergySeries& series, std::int64_t origin_ns,
                      const KernelSensor& known) {
  Column column;
  column.source = "energy counter";
  column.sensor.accumulator = true;
  column.sensor.gain_tolerance_95 = known.gain_tolerance_95.value_or(kGainTolerance);
  column.sensor.delay_error_s = series.stamped ? 0 : kPolledDelayError_s;
  const auto steps = energy::energy_steps(series);
  if (steps.status != RowStatus::ok) {
    column.reason = steps.reason;
    return column;
  }
  for (const std::size_t move : steps.moves) {
    column.points.push_back({seconds_between(origin_ns, series.readings[move].time_ns),
                             static_cast<double>(steps.power_w[move])});
  }
  return column;
}

// The register at its refreshes.
Column register_column(const energy::EnergySeries& series, std::int64_t origin_ns,
                       const KernelSensor& known) {
  Column column;
  if (!known.response) {
    column.reason =
        "the sensor has no energy counter, and its power register may lag or miss short launches; "
        "give its window or lag, which `wirewatt doctor` finds";
    return column;
  }
  column.source = "power register";
  column.sensor = *known.response;
  for (const auto& reading : series.readings) {
    if (reading.power_uw == energy::kAbsent) continue;
    column.points.push_back({seconds_between(origin_ns, reading.time_ns),
                             static_cast<double>(reading.power_uw) * 1e-6});
  }
  if (series.stamped) return column;
  const auto period = measure::find_update_period(column.points);
  if (period.resolved || period.within_poll) {
    column.points = measure::refreshes(column.points, period);
  } else {
    column.points.clear();
    column.reason = "the sensor's period is not resolved: " + period.reason;
  }
  return column;
}

// Keeps the readings that lie close enough to the launches, and notes the period: the median time
// between readings, because some may be far apart.
void keep_window(Column& column, double end_s) {
  auto& points = column.points;
  if (points.size() < 2) return;
  std::vector<double> steps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    steps.push_back(points[i].time_s - points[i - 1].time_s);
  }
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::ranges::nth_element(steps, middle);
  column.period_s = *middle;
  const double rest_s = kRestReadings * column.period_s;
  std::erase_if(points, [&](const PowerPoint& point) {
    return point.time_s < -rest_s || point.time_s > end_s + rest_s;
  });
}

KernelEnergy judged(const measure::LaunchEnergy& found) {
  KernelEnergy energy;
  energy.launches = found.launches;
  energy.status = found.status;
  energy.reason = found.reason;
  energy.launches_wanted = found.launches_wanted;
  energy.launch = found;
  if (found.status == RowStatus::ok) {
    energy.energy_j = found.interval_j.times(static_cast<double>(found.launches));
  }
  return energy;
}

// A kernel that the regression could not part. Where its launches are shorter than the readings ask
// for, more of them would help.
KernelEnergy unresolved(const LaunchLog& log, std::size_t kernel, double period_s,
                        const std::string& why) {
  constexpr double kEnoughReadings = 100;
  KernelEnergy unknown;
  unknown.reason = why;
  double busy_s = 0;
  for (const auto& launch : log.launches()) {
    if (launch.kernel != kernel) continue;
    ++unknown.launches;
    busy_s += seconds_between(launch.start_ns, launch.end_ns);
  }
  if (!(period_s > 0) || !(busy_s > 0) || busy_s >= kEnoughReadings * period_s) return unknown;
  unknown.launches_wanted =
      std::ceil(static_cast<double>(unknown.launches) * kEnoughReadings * period_s / busy_s);
  unknown.reason = fmt::format(
      "its launches took {:.3g} ms, and the sensor reads every {:.3g} ms; {:.0f} launches would "
      "fill {:.0f} readings",
      1e3 * busy_s, 1e3 * period_s, *unknown.launches_wanted, kEnoughReadings);
  return unknown;
}

// Covariance of the energies of all launches; a gain that is wrong scales all of them.
std::vector<double> covariance_of(const measure::LaunchEnergies& found, double gain_tolerance_95) {
  const double gain = gain_tolerance_95 / kNormal95;
  const std::size_t count = found.kernels.size();
  std::vector<double> covariance(count * count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const auto& one = found.kernels[a];
      const auto& other = found.kernels[b];
      const double launches =
          static_cast<double>(one.launches) * static_cast<double>(other.launches);
      covariance[a * count + b] = launches * (found.covariance[a * count + b] +
                                              gain * gain * one.energy_j * other.energy_j);
    }
  }
  return covariance;
}

std::vector<measure::KernelLaunch> in_order(const LaunchLog& log, std::int64_t origin_ns) {
  std::vector<measure::KernelLaunch> launches;
  for (const auto& launch : log.launches()) {
    launches.push_back(
        {launch.kernel,
         {seconds_between(origin_ns, launch.start_ns), seconds_between(origin_ns, launch.end_ns)}});
  }
  std::ranges::stable_sort(launches, {},
                           [](const measure::KernelLaunch& launch) { return launch.time.from_s; });
  return launches;
}

}  // namespace

void LaunchLog::add(std::string_view kernel, std::int64_t start_ns, std::int64_t end_ns) {
  auto at = numbers_.find(kernel);
  if (at == numbers_.end()) {
    at = numbers_.emplace(kernel, kernels_.size()).first;
    kernels_.emplace_back(kernel);
  }
  launches_.push_back({at->second, start_ns, end_ns});
}

bool LaunchLog::add(std::span<const measure::CounterDispatch> dispatches) {
  bool all = true;
  for (const auto& dispatch : dispatches) {
    if (dispatch.start_ns && dispatch.duration_ns) {
      add(dispatch.kernel, *dispatch.start_ns,
          *dispatch.start_ns + static_cast<std::int64_t>(std::llround(*dispatch.duration_ns)));
    } else {
      all = false;
    }
  }
  return all;
}

std::vector<double> KernelEnergies::covariance_of_one_launch() const {
  std::vector<double> of_one = covariance;
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    for (std::size_t column = 0; column < kernels.size(); ++column) {
      of_one[row * kernels.size() + column] /= static_cast<double>(kernels[row].launches) *
                                               static_cast<double>(kernels[column].launches);
    }
  }
  return of_one;
}

KernelEnergies kernel_energies(const LaunchLog& log, const energy::EnergySeries& series,
                               const KernelSensor& known) {
  KernelEnergies energies;
  if (log.launches().empty()) return energies;
  const std::int64_t origin_ns =
      std::ranges::min(log.launches(), {}, &LaunchLog::Launch::start_ns).start_ns;
  const auto launches = in_order(log, origin_ns);
  Column column = counts_energy(series) ? counted_column(series, origin_ns, known)
                                        : register_column(series, origin_ns, known);
  keep_window(column, launches.back().time.to_s);
  energies.source = column.source;
  energies.readings = column.points.size();
  energies.period_s = column.period_s;
  std::string why = column.reason;
  if (why.empty()) {
    measure::LaunchOptions options;
    // The gain alone is in every half-width.
    options.wanted = std::max(options.wanted, 1.2 * column.sensor.gain_tolerance_95);
    const auto found =
        measure::launch_energies(column.points, launches, {}, column.sensor, options);
    if (found) {
      for (const auto& kernel : found->kernels) energies.kernels.push_back(judged(kernel));
      energies.covariance = covariance_of(*found, column.sensor.gain_tolerance_95);
      energies.rest_w = found->rest_w;
      energies.noise_w = found->noise_w;
    } else {
      why = found.error().text();
    }
  }
  for (std::size_t k = 0; k < log.kernels().size(); ++k) {
    if (!why.empty()) energies.kernels.push_back(unresolved(log, k, column.period_s, why));
    energies.kernels[k].kernel = log.kernels()[k];
  }
  return energies;
}

std::optional<double> naive_kernel_energy(const LaunchLog& log, const energy::EnergySeries& series,
                                          std::size_t kernel) {
  std::vector<PowerPoint> points;
  for (const auto& poll : series.readings) {
    points.push_back(
        {static_cast<double>(poll.time_ns) * 1e-9, static_cast<double>(poll.power_uw) * 1e-6});
  }
  std::vector<measure::KernelLaunch> launches;
  for (const auto& launch : log.launches()) {
    launches.push_back(
        {launch.kernel,
         {static_cast<double>(launch.start_ns) * 1e-9, static_cast<double>(launch.end_ns) * 1e-9}});
  }
  return measure::naive_launch_energy(points, launches, kernel);
}

}  // namespace ww::session
