#include "ww/runner/sensed_energy.hpp"

#include <fmt/format.h>

#include "ww/energy/energy.hpp"
#include "ww/runner/samples_file.hpp"

namespace ww::runner {
namespace {

// The virtual GPU's driver records 40 idle readings before the first launch and after the last one.
// Ten of them are left to the load: readings average over a short time and arrive late.
constexpr std::size_t kIdleReadings = 30;

constexpr const char* kNoEnergyCounter =
    "the sensor has no energy counter, and its power register may lag or miss short launches";

}  // namespace

Result<SensedRun> sensed_run(const std::string& samples_file) {
  WW_ASSIGN(recording, read_samples_file(samples_file));
  if (!recording.counts_energy()) {
    return fail(ErrorCode::unsupported, kNoEnergyCounter, samples_file);
  }
  const auto& readings = recording.series.readings;
  if (readings.size() < 2 * kIdleReadings + 2) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} readings of the sensor; {} are needed", readings.size(),
                            2 * kIdleReadings + 2),
                samples_file);
  }
  const auto above = energy::energy_above_idle(
      recording.series,
      {readings.front().time_ns, readings[kIdleReadings].time_ns,
       readings[readings.size() - 1 - kIdleReadings].time_ns, readings.back().time_ns});
  if (!above.ok()) return fail(ErrorCode::bad_data, above.reason, samples_file);
  SensedRun run;
  run.dynamic_j = model::Interval{above.energy_j, above.low_j, above.high_j}.times(
      1 / static_cast<double>(recording.launches));
  run.idle_w = above.idle_w;
  return run;
}

Result<model::Interval> dynamic_energy_j(const std::string& samples_file) {
  WW_ASSIGN(run, sensed_run(samples_file));
  return run.dynamic_j;
}

}  // namespace ww::runner
