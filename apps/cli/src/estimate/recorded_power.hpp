// Power that a trace of Score-P recorded while a profile was taken, for the timeline.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::cli {

struct RecordedPower {
  std::string file;
  std::string metric;  // a part of its name; empty where the trace has only one
};

void add_recorded_power_options(CLI::App& command, RecordedPower& power);

// Adds the readings to the process of the launches; none where no file is named. Times are joined
// as they stand, so both must come from one clock of the system. Errors: those of the trace;
// invalid_argument (no such metric, or several), bad_data (a timer that counts cycles; times that
// lie apart), unsupported (launches without times, or of several processes).
Status add_recorded_power(timeline::Timeline& timeline, const RecordedPower& power,
                          std::span<const measure::CounterDispatch> launches);

}  // namespace ww::cli
