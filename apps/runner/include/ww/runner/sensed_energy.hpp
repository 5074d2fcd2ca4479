// Reads a program's energy from the power sensor's samples of its launches.
#pragma once

#include <string>

#include "ww/core/result.hpp"
#include "ww/model/interval.hpp"

namespace ww::runner {

struct SensedRun {
  model::Interval dynamic_j;  // beyond idle power, of one run of the program
  double idle_w{};            // before and after, their mean
};

// Reads samples (WIREWATT_SAMPLES) that begin and end idle: the energy accumulator, less idle power
// on a straight line from before to after. Errors: parse_error, bad_data (too few readings),
// unsupported (the sensor has no energy counter).
[[nodiscard]] Result<SensedRun> sensed_run(const std::string& samples_file);
// Returns the energy of the run alone [J].
[[nodiscard]] Result<model::Interval> dynamic_energy_j(const std::string& samples_file);

}  // namespace ww::runner
