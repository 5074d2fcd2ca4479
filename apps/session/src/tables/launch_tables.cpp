#include "ww/session/launch_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/csv.hpp"

namespace ww::session {
namespace {

using measure::CsvColumns;
using measure::CsvRow;

// A column of times: its name, in the unit that its ending says.
struct TimeColumn {
  std::string name;
  double seconds{};
};
Result<TimeColumn> time_column(const CsvColumns& columns, const std::string& path,
                               const std::string& stem, const std::string& nanoseconds) {
  for (const auto& [ending, seconds] : std::array<std::pair<const char*, double>, 4>{
           {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}, {"_ns", 1e-9}}}) {
    if (columns.has(stem + ending)) return TimeColumn{stem + ending, seconds};
  }
  if (!nanoseconds.empty() && columns.has(nanoseconds)) return TimeColumn{nanoseconds, 1e-9};
  return fail(ErrorCode::bad_data,
              fmt::format("has no column {0}_s, {0}_ms, {0}_us or {0}_ns{1}{2}", stem,
                          nanoseconds.empty() ? "" : ", nor ", nanoseconds),
              path);
}

Result<std::vector<CsvRow>> rows_of(const std::string& path) {
  WW_ASSIGN(text, read_file(path));
  measure::CsvOptions trimmed;
  trimmed.trim = true;
  WW_ASSIGN(rows, measure::parse_csv(text, path, trimmed));
  if (rows.size() < 2) return fail(ErrorCode::parse_error, "has no rows below its heading", path);
  return rows;
}

std::int64_t whole_ns(double seconds) {
  return static_cast<std::int64_t>(std::llround(seconds * 1e9));
}

Result<energy::EnergySeries> read_polls(const std::string& path, const std::string& watts,
                                        double origin_s) {
  WW_ASSIGN(rows, rows_of(path));
  const CsvColumns columns(rows.front(), path);
  WW_ASSIGN(time, time_column(columns, path, "time", ""));
  energy::EnergySeries polls;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(at, columns.number(*row, time.name));
    WW_ASSIGN(power_w, columns.number(*row, watts));
    const std::int64_t time_ns = whole_ns(at * time.seconds - origin_s);
    if (!polls.readings.empty() && time_ns < polls.readings.back().time_ns) {
      return fail(ErrorCode::bad_data, "time runs backwards",
                  fmt::format("{}:{}", path, row->line));
    }
    polls.readings.push_back(
        {time_ns, energy::kAbsent, static_cast<std::int64_t>(std::llround(power_w * 1e6))});
  }
  return polls;
}

// Launches since the first one, whose time is `origin_s`. Kernels are in the order of their names.
Result<LaunchLog> read_launches(const std::string& path, double& origin_s) {
  WW_ASSIGN(rows, rows_of(path));
  const CsvColumns columns(rows.front(), path);
  WW_ASSIGN(start, time_column(columns, path, "start", "Start_Timestamp"));
  WW_ASSIGN(end, time_column(columns, path, "end", "End_Timestamp"));
  const std::string name = columns.has("Kernel_Name") ? "Kernel_Name" : "kernel";
  struct Named {
    std::string kernel;
    double from{}, to{};
  };
  std::vector<Named> named;
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    WW_ASSIGN(kernel, columns.text(*row, name));
    WW_ASSIGN(from, columns.number(*row, start.name));
    WW_ASSIGN(to, columns.number(*row, end.name));
    named.push_back({std::string(kernel), from * start.seconds, to * end.seconds});
  }
  origin_s = std::ranges::min(named, {}, &Named::from).from;
  std::ranges::sort(named, {}, &Named::kernel);
  LaunchLog log;
  for (const auto& launch : named) {
    log.add(launch.kernel, whole_ns(launch.from - origin_s), whole_ns(launch.to - origin_s));
  }
  return log;
}

}  // namespace

Result<RecordedLaunches> read_recorded_launches(const std::string& launches,
                                                const std::string& power,
                                                const std::string& watts) {
  double origin_s = 0;
  WW_ASSIGN(log, read_launches(launches, origin_s));
  WW_ASSIGN(polls, read_polls(power, watts, origin_s));
  return RecordedLaunches{std::move(log), std::move(polls)};
}

}  // namespace ww::session
