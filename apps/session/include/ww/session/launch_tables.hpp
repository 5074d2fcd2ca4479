// Reads launches and a sensor's readings that somebody recorded by one clock, from two CSV files.
#pragma once

#include <string>

#include "ww/core/result.hpp"
#include "ww/energy/energy.hpp"
#include "ww/session/kernel_energy.hpp"

namespace ww::session {

struct RecordedLaunches {
  // Times are counted from the first launch, because some clocks are too long for nanoseconds in a
  // double. Kernels are in the order of their names.
  LaunchLog log;
  energy::EnergySeries polls;  // of the power register
};

// `launches`: columns kernel, start and end, or rocprofv3's kernel trace. `power`: columns time and
// `watts`. The names of times end in _s, _ms, _us or _ns. Errors: io_error; parse_error and
// bad_data with file and line (a missing column, a field that is no number, time that runs
// backwards).
[[nodiscard]] Result<RecordedLaunches> read_recorded_launches(const std::string& launches,
                                                              const std::string& power,
                                                              const std::string& watts);

}  // namespace ww::session
