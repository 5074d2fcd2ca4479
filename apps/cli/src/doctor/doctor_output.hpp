// Prints the doctor's findings, and its look at recordings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/measure/finding.hpp"
#include "ww/measure/power_source.hpp"
#include "ww/measure/sampler.hpp"
#include "ww/measure/sensor_check.hpp"

namespace ww::cli {

struct DoctorReport {
  std::string device;
  bool is_virtual{};
  std::vector<measure::Finding> findings;   // of the device
  std::vector<measure::Finding> libraries;  // of this machine
  std::string no_amd, no_nvidia;            // why there are no such GPUs
  std::string sensor_name;
  std::vector<measure::FieldState> fields;
  std::optional<measure::SensorReport> sensor;  // of the step test
  std::string no_sensor, no_step_test;          // why not
  std::optional<measure::SamplerStats> sampler;
};

[[nodiscard]] nlohmann::json to_json(const DoctorReport& report);
void print_report(const DoctorReport& report);
// 0; 1 where a power reading or the energy counter is not to be believed; 3 without a sensor.
[[nodiscard]] int exit_code_of(const DoctorReport& report);

// Prints period, window or lag, gain and offset of a recording; gives the exit code. `meter`, which
// may be empty, is the file of an external meter and perhaps its column (FILE:COLUMN).
int doctor_recording(const std::string& path, const std::string& meter, bool as_json);

}  // namespace ww::cli
