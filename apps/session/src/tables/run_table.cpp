#include "ww/session/run_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/measure/csv.hpp"

namespace ww::session {
namespace {

using measure::CsvColumns;
using measure::CsvRow;

std::vector<std::string> split_at(const std::string& text, char mark) {
  std::vector<std::string> pieces;
  for (std::size_t from = 0;;) {
    const auto to = text.find(mark, from);
    pieces.push_back(text.substr(from, to == std::string::npos ? to : to - from));
    if (to == std::string::npos) return pieces;
    from = to + 1;
  }
}

// The objects as rows below a heading; the "line" of a row is the number of its object.
Result<std::vector<CsvRow>> rows_of_json(const std::string& text, const std::string& path) {
  WW_ASSIGN(json, parse_json(text, path));
  if (!json.is_array() || json.empty() || !json.front().is_object()) {
    return fail(ErrorCode::parse_error, "must be an array of objects, one a run", path);
  }
  std::vector<CsvRow> rows(1);
  for (const auto& [key, _] : json.front().items()) rows[0].fields.push_back(key);
  for (const auto& object : json) {
    CsvRow row;
    row.line = rows.size();
    for (const auto& key : rows[0].fields) {
      const auto at = object.is_object() ? object.find(key) : object.end();
      if (at == object.end() || at->is_structured()) {
        return fail(ErrorCode::parse_error,
                    fmt::format("object {} has no number or text '{}'", row.line, key), path);
      }
      row.fields.push_back(at->is_string() ? at->get<std::string>()
                           : at->is_null() ? ""
                                           : at->dump());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

struct ScaledUnit {
  std::string_view ending;
  double factor;
};
constexpr ScaledUnit kPowerUnits[] = {{"_mw", 1e-3}, {"_kw", 1e3}, {"_w", 1}};
constexpr ScaledUnit kVoltageUnits[] = {{"_mv", 1e-3}, {"_v", 1}};
constexpr ScaledUnit kTimeUnits[] = {{"_ms", 1e-3}, {"_us", 1e-6},  {"_ns", 1e-9},
                                     {"_s", 1},     {"seconds", 1}, {"cycles", 1}};

Result<double> factor_of(const std::string& column, std::span<const ScaledUnit> units,
                         const char* option) {
  std::vector<std::string_view> endings;
  for (const auto& unit : units) {
    if (column.ends_with(unit.ending)) return unit.factor;
    endings.push_back(unit.ending);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("the unit of column '{}' is unknown; let its name end in one of {}",
                          column, fmt::join(endings, ", ")),
              option);
}

struct NamedTerm {
  std::string name, part;
  std::vector<std::string> columns;
};

Result<NamedTerm> term_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' must be NAME=COLUMN or PART/NAME=COLUMN+COLUMN", text), "--term");
  }
  const auto path = text.substr(0, equals);
  const auto slash = path.find('/');
  NamedTerm term;
  term.part = path.substr(0, slash);
  term.name = slash == std::string::npos ? path : path.substr(slash + 1);
  term.columns = split_at(text.substr(equals + 1), '+');
  return term;
}

class RunReader {
 public:
  RunReader(std::vector<CsvRow> rows, std::string path, const RunColumns& columns)
      : path_(std::move(path)),
        columns_(columns),
        head_(rows.front().fields),
        names_(rows.front(), path_),
        rows_(rows.begin() + 1, rows.end()),
        levels_(columns.levels.begin(), columns.levels.end()) {}

  Result<RunTable> read() {
    for (const auto& level : columns_.levels) {
      WW_TRY(require(level, "--level"));
    }
    RunTable result;
    WW_TRY(read_runs(result));
    if (!columns_.voltage.empty()) WW_TRY(read_voltage(result));
    std::vector<NamedTerm> terms;
    if (columns_.terms.empty()) {
      terms = default_terms();
    } else {
      for (const auto& text : columns_.terms) {
        WW_ASSIGN(term, term_of(text));
        terms.push_back(std::move(term));
      }
    }
    WW_TRY(add_terms(terms, "--term", result.table));
    for (const auto& text : columns_.baselines) {
      WW_ASSIGN(parsed, term_of(text));
      RunTable::Baseline baseline{parsed.name, result.table};
      baseline.table.terms.clear();
      std::vector<NamedTerm> of_baseline;
      for (const auto& piece : split_at(text.substr(text.find('=') + 1), ',')) {
        of_baseline.push_back({piece, piece, split_at(piece, '+')});
      }
      WW_TRY(add_terms(of_baseline, "--baseline", baseline.table));
      result.baselines.push_back(std::move(baseline));
    }
    if (result.reference_v) {
      model::refer_to_voltage(result.table, volts_, *result.reference_v);
      for (auto& baseline : result.baselines) {
        model::refer_to_voltage(baseline.table, volts_, *result.reference_v);
      }
    }
    return result;
  }

 private:
  Status require(const std::string& column, const char* option) const {
    if (names_.has(column)) return {};
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} has no column '{}'; it has {}", path_, column, fmt::join(head_, ", ")),
        option);
  }

  Status read_runs(RunTable& result) {
    WW_TRY(require(columns_.power, "--power-column"));
    WW_ASSIGN(watts, factor_of(columns_.power, kPowerUnits, "--power-column"));
    if (!columns_.application.empty()) {
      WW_TRY(require(columns_.application, "--application"));
    }
    WW_TRY(require(columns_.time, "--time-column"));
    WW_ASSIGN(seconds, factor_of(columns_.time, kTimeUnits, "--time-column"));
    std::vector<CsvRow> kept;
    std::set<std::string> devices;
    for (auto& row : rows_) {
      WW_ASSIGN(shown, names_.text(row, columns_.power));
      if (shown.empty()) {
        ++result.without_power;
        continue;
      }
      WW_ASSIGN(power, names_.number(row, columns_.power));
      WW_ASSIGN(time, names_.number(row, columns_.time));
      if (!std::isfinite(time) || time <= 0) {
        return fail(
            ErrorCode::bad_data,
            fmt::format("column '{}' is {}; a run lasts longer than 0", columns_.time, time),
            fmt::format("{}:{}", path_, row.line));
      }
      std::string name = fmt::format("line {}", row.line);
      if (names_.has("run")) {
        WW_ASSIGN(text, names_.text(row, "run"));
        name = text;
      }
      std::string application = name;
      if (!columns_.application.empty()) {
        WW_ASSIGN(text, names_.text(row, columns_.application));
        application = text;
      }
      if (names_.has("device")) {
        WW_ASSIGN(text, names_.text(row, "device"));
        devices.emplace(text);
      }
      result.table.runs.push_back(std::move(name));
      result.table.applications.push_back(std::move(application));
      result.table.power_w.push_back(power * watts);
      times_.push_back(time * seconds);
      kept.push_back(std::move(row));
    }
    rows_ = std::move(kept);
    if (devices.size() == 1) result.device = *devices.begin();
    result.is_virtual = std::ranges::any_of(devices, [](const std::string& device) {
      return device.find(kVirtualLabel) != device.npos;
    });
    if (columns_.time != "cycles") result.seconds = times_;
    return {};
  }

  Status read_voltage(RunTable& result) {
    WW_TRY(require(columns_.voltage, "--voltage-column"));
    WW_ASSIGN(unit_v, factor_of(columns_.voltage, kVoltageUnits, "--voltage-column"));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      WW_ASSIGN(value, names_.number(rows_[r], columns_.voltage));
      if (!std::isfinite(value) || value <= 0) {
        return fail(ErrorCode::bad_data,
                    fmt::format("column '{}' is {}; a voltage is a number above 0",
                                columns_.voltage, value),
                    fmt::format("{}:{}", path_, rows_[r].line));
      }
      volts_.push_back(value * unit_v);
    }
    result.reference_v =
        columns_.reference_v ? *columns_.reference_v : *std::ranges::max_element(volts_);
    return {};
  }

  // Each column of numbers that is not used otherwise; watts of something else are no counts.
  std::vector<NamedTerm> default_terms() const {
    std::vector<NamedTerm> terms;
    for (const auto& name : head_) {
      if (name == columns_.power || name == columns_.time || name == columns_.application ||
          name == columns_.voltage || name == "run" || name == "device") {
        continue;
      }
      if (name.ends_with("_w") && !levels_.contains(name)) continue;
      if (rows_.empty() || !names_.number(rows_.front(), name)) continue;
      terms.push_back({name, name, {name}});
    }
    return terms;
  }

  Status add_terms(const std::vector<NamedTerm>& terms, const char* option,
                   model::AttributionTable& table) const {
    for (const auto& named : terms) {
      model::AttributionTerm term{named.name, named.part, {}};
      term.activity.assign(rows_.size(), 0);
      for (const auto& column : named.columns) {
        WW_TRY(require(column, option));
        for (std::size_t r = 0; r < rows_.size(); ++r) {
          WW_ASSIGN(value, names_.number(rows_[r], column));
          if (!std::isfinite(value) || value < 0) {
            return fail(
                ErrorCode::bad_data,
                fmt::format("column '{}' is {}; counts are numbers of at least 0", column, value),
                fmt::format("{}:{}", path_, rows_[r].line));
          }
          term.activity[r] += levels_.contains(column) ? value : value / times_[r];
        }
      }
      table.terms.push_back(std::move(term));
    }
    return {};
  }

  std::string path_;
  const RunColumns& columns_;
  std::vector<std::string> head_;
  CsvColumns names_;
  std::vector<CsvRow> rows_;
  std::set<std::string> levels_;
  std::vector<double> times_;
  std::vector<double> volts_;  // of each run; empty: not known
};

}  // namespace

Result<RunTable> read_run_table(const std::string& path, const RunColumns& columns) {
  WW_ASSIGN(text, read_file(path));
  measure::CsvOptions trimmed;
  trimmed.trim = true;
  auto rows =
      path.ends_with(".json") ? rows_of_json(text, path) : measure::parse_csv(text, path, trimmed);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->size() < 2) {
    return fail(ErrorCode::parse_error, "has no runs below its heading", path);
  }
  return RunReader(std::move(*rows), path, columns).read();
}

}  // namespace ww::session
