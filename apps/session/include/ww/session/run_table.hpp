// Reads the table of `wirewatt attribute`: one row a run, with its power, its time and its counts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/attribution.hpp"

namespace ww::session {

struct RunColumns {
  std::string power{"power_w"};  // ends in _w, _mw or _kw
  std::string time{"seconds"};   // "seconds", "cycles", or ends in _s, _ms, _us or _ns
  std::string application;       // empty: each run is its own
  // Ends in _v or _mv: counts and levels are scaled by the square of the voltage over
  // `reference_v`, or over the highest voltage of the table. Empty: they are not scaled.
  std::string voltage;
  std::optional<double> reference_v;
  std::vector<std::string> terms;      // [PART/]NAME=COLUMN[+COLUMN...]; empty: each column is one
  std::vector<std::string> levels;     // columns that are not divided by the time
  std::vector<std::string> baselines;  // NAME=COLUMN[+COLUMN...][,...]
};

struct RunTable {
  model::AttributionTable table;
  // Time of each run, in seconds; absent where the table counts cycles.
  std::optional<std::vector<double>> seconds;
  std::optional<double> reference_v;  // of the scaling by voltage [V]
  std::string device;                 // empty unless all runs say the same
  bool is_virtual{};                  // a run is of a virtual device
  std::size_t without_power{};        // runs left out because their power is empty
  struct Baseline {
    std::string name;
    model::AttributionTable table;
  };
  std::vector<Baseline> baselines;
};

// Reads a CSV file, or (.json) an array of objects. Errors: io_error, parse_error (with file, line
// and column), invalid_argument (an option that names no column or has a wrong form), bad_data.
[[nodiscard]] Result<RunTable> read_run_table(const std::string& path, const RunColumns& columns);

}  // namespace ww::session
