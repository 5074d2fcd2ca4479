#include "ww/runner/kernel_energy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>

#include "samples_file.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/energy_tick.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/launch_energy.hpp"

namespace ww::runner {
namespace {

constexpr double kGainTolerance = 0.05;

struct LaunchTable {
  std::vector<std::string> kernels;
  std::vector<measure::KernelLaunch> launches;
};

double seconds_of(std::int64_t time_ns) {
  return static_cast<double>(time_ns) * 1e-9;
}

// Each dispatch has a row for each counter; the first one is enough.
Result<LaunchTable> read_launch_table(const std::string& file) {
  WW_ASSIGN(text, read_file(file));
  LaunchTable table;
  std::map<std::string, std::size_t, std::less<>> known;
  std::optional<measure::CsvColumns> columns;
  std::int64_t last = 0;
  WW_TRY(measure::each_csv_row(text, file, {}, [&](measure::CsvRow& row) -> Status {
    if (!columns) {
      columns.emplace(row, file);
      return {};
    }
    WW_ASSIGN(dispatch, columns->integer(row, "Dispatch_Id"));
    if (dispatch == last) return {};
    last = dispatch;
    WW_ASSIGN(name, columns->text(row, "Kernel_Name"));
    WW_ASSIGN(start_ns, columns->integer(row, "Start_Timestamp"));
    WW_ASSIGN(end_ns, columns->integer(row, "End_Timestamp"));
    const auto [kernel, fresh] = known.try_emplace(std::string(name), known.size());
    if (fresh) table.kernels.push_back(kernel->first);
    table.launches.push_back({kernel->second, {seconds_of(start_ns), seconds_of(end_ns)}});
    return {};
  }));
  return table;
}

// Mean power between readings of the energy counter, up to the program's last launch: after it the
// driver launches kernels again for the whole program's sake, and does not say when.
std::vector<measure::PowerPoint> counted_power(const SamplesFile& samples, double end_s) {
  std::vector<measure::PowerPoint> points;
  const energy::EnergyReading* before = nullptr;
  for (const auto& reading : samples.series.readings) {
    if (reading.ticks == energy::kAbsent || seconds_of(reading.time_ns) > end_s) continue;
    if (before != nullptr) {
      const double joules = static_cast<double>(reading.ticks - before->ticks) * kJoulesPerTick;
      points.push_back(
          {seconds_of(reading.time_ns), joules / seconds_of(reading.time_ns - before->time_ns)});
    }
    before = &reading;
  }
  return points;
}

KernelEnergy judged(const std::string& kernel, const measure::LaunchEnergy& found) {
  KernelEnergy energy;
  energy.kernel = kernel;
  energy.launches = found.launches;
  energy.status = found.status;
  energy.reason = found.reason;
  energy.launches_wanted = found.launches_wanted;
  if (found.status == RowStatus::ok) {
    energy.energy_j = model::Interval{found.energy_j, found.energy_j - found.half_j,
                                      found.energy_j + found.half_j}
                          .times(static_cast<double>(found.launches));
  }
  return energy;
}

// A kernel that the regression could not part. Where its launches are shorter than the readings ask
// for, more of them would help.
KernelEnergy unresolved(const LaunchTable& table, std::size_t kernel,
                        std::span<const measure::PowerPoint> points, const std::string& why) {
  constexpr double kEnoughReadings = 100;
  KernelEnergy unknown;
  unknown.kernel = table.kernels[kernel];
  unknown.reason = why;
  double busy_s = 0;
  for (const auto& launch : table.launches) {
    if (launch.kernel != kernel) continue;
    ++unknown.launches;
    busy_s += launch.time.to_s - launch.time.from_s;
  }
  if (points.size() < 2 || !(busy_s > 0)) return unknown;
  const double period_s =
      (points.back().time_s - points.front().time_s) / static_cast<double>(points.size() - 1);
  if (busy_s >= kEnoughReadings * period_s) return unknown;
  unknown.launches_wanted =
      std::ceil(static_cast<double>(unknown.launches) * kEnoughReadings * period_s / busy_s);
  unknown.reason = fmt::format(
      "its launches took {:.3g} ms, and the sensor reads every {:.3g} ms; {:.0f} launches would "
      "fill {:.0f} readings",
      1e3 * busy_s, 1e3 * period_s, *unknown.launches_wanted, kEnoughReadings);
  return unknown;
}

}  // namespace

Result<std::vector<KernelEnergy>> kernel_energies(const std::string& samples_file,
                                                  const std::string& counters_file) {
  WW_ASSIGN(table, read_launch_table(counters_file));
  std::vector<KernelEnergy> energies;
  if (table.launches.empty()) return energies;
  WW_ASSIGN(samples, read_samples_file(samples_file));
  if (!samples.counts_energy()) {
    for (std::size_t k = 0; k < table.kernels.size(); ++k) {
      energies.push_back(unresolved(table, k, {}, kNoEnergyCounter));
    }
    return energies;
  }
  const auto points = counted_power(samples, table.launches.back().time.to_s);
  measure::LaunchSensor sensor;
  sensor.accumulator = true;
  sensor.gain_tolerance_95 = kGainTolerance;
  measure::LaunchOptions options;
  options.drift_order = 1;
  options.wanted = 1.2 * kGainTolerance;  // the gain alone is in every half-width
  const auto found = measure::launch_energies(points, table.launches, {}, sensor, options);
  for (std::size_t k = 0; k < table.kernels.size(); ++k) {
    if (found) {
      energies.push_back(judged(table.kernels[k], found->kernels[k]));
      continue;
    }
    energies.push_back(unresolved(table, k, points, found.error().text()));
  }
  return energies;
}

}  // namespace ww::runner
