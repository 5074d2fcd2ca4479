// Reads what a calibration prices: an application's traffic, from profilers' counter files.
#pragma once

#include <string>
#include <vector>

#include "ww/calibration/calibration.hpp"
#include "ww/core/result.hpp"
#include "ww/session/traffic.hpp"

namespace ww::session {

// Sums up dispatches already read. `file` is named in errors. Error bad_data: no dispatch.
[[nodiscard]] Result<calibration::Traffic> application_traffic(const CountedDispatches& counted,
                                                               const std::string& file);

// Reads the files. `architecture` is what the user says of counters that do not name theirs; empty:
// what the calibration assumes of them. Errors: those of read_dispatches, bad_data (no dispatch),
// invalid_argument (the files name another architecture than `architecture`).
[[nodiscard]] Result<CountedDispatches> read_application(const std::vector<std::string>& files,
                                                         const std::string& architecture,
                                                         const calibration::Provenance& calibrated);

}  // namespace ww::session
