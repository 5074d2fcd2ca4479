// attribute --record: runs kernels of single classes of work, and makes a table of them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/classes.hpp"

namespace ww::cli {

struct RecordedTable {
  std::string path;                 // classes.csv in the recording's folder
  std::vector<std::string> terms;   // of counters that AMD's cards have, as --term takes them
  std::vector<std::string> levels;  // as --level takes them
  std::string voltage;  // as --voltage-column takes it; empty where no telemetry shows one
};

// Records, or goes on with a recording, and writes the table: columns run, app (the class), device,
// power_w, seconds, active, voltage_v and temperature_c where the telemetry shows them, and one for
// each counter. Errors: invalid_argument (the recording is of another device or seed than `command`
// names); those of run_classes and of files; cancelled if it was interrupted (the same command goes
// on).
[[nodiscard]] Result<RecordedTable> record_classes(microbench::ClassesRequest request,
                                                   const CLI::App& command);

}  // namespace ww::cli
