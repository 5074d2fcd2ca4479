#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "several_devices.hpp"
#include "traffic/number_text.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace ww::measure {
namespace {

struct TimeUnit {
  const char* name;
  double seconds;
};
constexpr TimeUnit time_units[] = {
    {"time_s", 1.0}, {"time_ms", 1e-3}, {"time_us", 1e-6}, {"time_ns", 1e-9}};

// The meter's readings as means over 1 ms, straight lines between them.
PowerSeries series_of(const std::vector<PowerPoint>& meter) {
  PowerSeries series;
  if (meter.size() < 2) return series;
  series.start_s = meter.front().time_s;
  series.step_s = 1e-3;
  constexpr double most_steps = 1e7;
  const double steps = (meter.back().time_s - series.start_s) / series.step_s;
  if (!(steps > 0) || steps > most_steps) return {};
  std::size_t at = 0;
  for (double i = 0; i < std::floor(steps); ++i) {
    const double time = series.start_s + (i + 0.5) * series.step_s;
    while (at + 2 < meter.size() && meter[at + 1].time_s < time) ++at;
    const double span = meter[at + 1].time_s - meter[at].time_s;
    const double share = span > 0 ? (time - meter[at].time_s) / span : 0.0;
    series.power_w.push_back(meter[at].power_w +
                             share * (meter[at + 1].power_w - meter[at].power_w));
  }
  return series;
}

}  // namespace

Result<SensorRecording> parse_power_table(std::string_view text, const std::string& source) {
  WW_ASSIGN(rows, parse_csv(text, source, {.first_line = 1, .skip_prefix = "#", .trim = true}));
  if (rows.empty()) return fail(ErrorCode::parse_error, "the file is empty", source);
  const auto& head = rows.front().fields;
  std::optional<std::size_t> time, meter, load;
  double unit = 1;
  SensorRecording recording;
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < head.size(); ++i) {
    for (const TimeUnit& known : time_units) {
      if (head[i] != known.name) continue;
      time = i;
      unit = known.seconds;
    }
    if (head[i] == "meter_w") {
      meter = i;
    } else if (head[i] == "load") {
      load = i;
    } else if (head[i].ends_with("_w")) {
      recording.columns.push_back({head[i], {}});
      where.push_back(i);
    }
  }
  if (!time || recording.columns.empty()) {
    return fail(ErrorCode::unsupported,
                "a table of power needs a column time_s (or time_ms, time_us, time_ns) and one of "
                "readings, power_w; meter_w and load (0 or 1) may be there",
                fmt::format("{}:{}", source, rows.front().line));
  }
  WW_TRY(require_one_device(rows, source));
  std::vector<PowerPoint> metered;
  std::optional<double> first_s;
  double last_s = 0, last_load = 0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto& fields = rows[r].fields;
    const auto at_row = fmt::format("{}:{}", source, rows[r].line);
    if (fields.size() != head.size()) {
      if (r + 1 == rows.size()) break;  // cut off
      return fail(ErrorCode::parse_error,
                  fmt::format("{} fields under {} columns", fields.size(), head.size()), at_row);
    }
    const auto value = [&](std::size_t i) -> Result<std::optional<double>> {
      if (is_absent(fields[i])) return std::optional<double>{};
      const auto read = number(fields[i], Decimal::point);
      if (!read || !std::isfinite(*read)) {
        return fail(ErrorCode::parse_error, fmt::format("'{}' is not a number", fields[i]), at_row);
      }
      return read;
    };
    WW_ASSIGN(stamp, value(*time));
    if (!stamp) return fail(ErrorCode::parse_error, "no time", at_row);
    const double now = *stamp * unit - first_s.value_or(*stamp * unit);
    if (!first_s) first_s = *stamp * unit;
    if (now < last_s) return fail(ErrorCode::bad_data, "time runs backwards", at_row);
    last_s = now;
    for (std::size_t c = 0; c < where.size(); ++c) {
      WW_ASSIGN(power, value(where[c]));
      if (power) recording.columns[c].polls.push_back({now, *power});
    }
    if (meter) {
      WW_ASSIGN(power, value(*meter));
      if (power) metered.push_back({now, *power});
    }
    if (load) {
      WW_ASSIGN(on, value(*load));
      if (on && (*on != 0) != (last_load != 0)) recording.switches.push_back(now);
      if (on) last_load = *on;
    }
  }
  WW_TRY(require_one_device(recording.columns, source));
  recording.meter = series_of(metered);
  return recording;
}

}  // namespace ww::measure
