// Power and energy that Score-P's metric plugins recorded in a trace (OTF2, Open Trace Format 2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace ww::otf2 {

struct PowerTrace {
  // Times are seconds since the trace's start. A column has the name of its metric; where several
  // processes recorded a metric of that name, the process follows in brackets.
  measure::SensorRecording recording;
  std::int64_t start_ns{};  // of the trace, by its own timer
  double ticks_per_s{};     // of that timer: 1e9 for a clock of the system, else a cycle count
  std::vector<std::string> gaps;  // metrics of power or energy that were not read and why
};

// Whether `path` is a trace's anchor (NAME.otf2), or a folder of Score-P that contains one.
[[nodiscard]] bool is_trace(const std::string& path);

// Reads all metrics whose unit is one of power or of energy. PAPI's metrics have no unit in a
// trace; those of rocm_smi, nvml, coretemp (hwmon and craypm) are read in the unit of their source.
// Errors: missing_dependency (built without OTF2), parse_error (not a trace, or cut short: with the
// library's own words), bad_data (no clock, time runs backwards), unsupported (no such metric).
[[nodiscard]] Result<PowerTrace> read_power_trace(const std::string& path);

}  // namespace ww::otf2
