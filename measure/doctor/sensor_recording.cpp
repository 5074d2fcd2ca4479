#include "ww/measure/sensor_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "several_devices.hpp"
#include "traffic/counter_forms.hpp"
#include "traffic/number_text.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/named_file.hpp"
#include "ww/measure/csv.hpp"

namespace ww::measure {
namespace {

template <class T>
bool take(std::string_view& text, T& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  return true;
}

// "2023/07/14 10:12:46.483"
std::optional<double> seconds_of(std::string_view text) {
  int year = 0;
  unsigned month = 0, day = 0;
  int hour = 0, minute = 0;
  double second = 0;
  const auto skip = [&text](char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  const bool read = take(text, year) && skip('/') && take(text, month) && skip('/') &&
                    take(text, day) && skip(' ') && take(text, hour) && skip(':') &&
                    take(text, minute) && skip(':') && take(text, second) && text.empty();
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                         std::chrono::day{day}};
  if (!read || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second >= 61 || year < 1970) {
    return {};
  }
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second;
}

// "56.12", "56.12 W", "[N/A]".
std::optional<double> watts_of(std::string_view text, double factor) {
  if (text.ends_with(" mW")) {
    text.remove_suffix(3);
    factor = 1e-3;
  } else if (text.ends_with(" W")) {
    text.remove_suffix(2);
    factor = 1;
  }
  if (const auto value = number(text, Decimal::point)) return *value * factor;
  return {};
}

struct PowerColumn {
  std::size_t index{};
  double factor{1};
};

// "power.draw [W]" and its kin; limits are no readings.
std::optional<PollColumn> power_column(std::string_view header, double& factor) {
  if (!header.starts_with("power.draw")) return {};
  const auto unit = header.find(" [");
  factor = header.find("[mW]") != std::string_view::npos ? 1e-3 : 1.0;
  return PollColumn{std::string(header.substr(0, unit)), {}};
}

std::uint16_t u16(std::span<const std::byte> data, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(data[at]) |
                                    std::to_integer<unsigned>(data[at + 1]) << 8);
}

// 12 bits above 4; bit 11 is the sign, and a negative reading is none.
double reading(std::uint16_t raw) {
  const unsigned value = raw >> 4;
  return (value & 0x800u) != 0 ? 0.0 : static_cast<double>(value);
}

Result<double> parse_microseconds(std::string_view text, const std::string& source) {
  std::int64_t value = 0;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const bool read = take(text, value);
  if (!read || text.find_first_not_of(" \r\n") != std::string_view::npos || value < 0) {
    return fail(ErrorCode::parse_error, "not a time in microseconds", source);
  }
  return static_cast<double>(value) * 1e-6;
}

}  // namespace

Result<std::vector<PollColumn>> parse_polls(std::string_view text, const std::string& source) {
  WW_ASSIGN(rows, parse_csv(text, source, {.first_line = 1, .skip_prefix = {}, .trim = true}));
  if (rows.empty()) return fail(ErrorCode::parse_error, "the file is empty", source);
  const Header header(rows.front());
  const auto time = header.find({"timestamp"});
  if (time == Header::npos) {
    return at_line(ErrorCode::unsupported, "no column 'timestamp': not polls of nvidia-smi", source,
                   rows.front().line);
  }
  std::vector<PollColumn> columns;
  std::vector<PowerColumn> where;
  for (std::size_t i = 0; i < rows.front().fields.size(); ++i) {
    double factor = 1;
    if (auto column = power_column(rows.front().fields[i], factor)) {
      columns.push_back(std::move(*column));
      where.push_back({i, factor});
    }
  }
  if (columns.empty()) {
    return at_line(ErrorCode::unsupported, "no column 'power.draw'", source, rows.front().line);
  }
  WW_TRY(require_one_device(rows, source));
  double last_s = 0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const CsvRow& row = rows[r];
    const bool cut = row.fields.size() != rows.front().fields.size();
    if ((cut || row.cut) && r + 1 == rows.size()) break;  // cut off while it was written
    if (cut) {
      return at_line(
          ErrorCode::parse_error,
          fmt::format("{} fields under {} columns", row.fields.size(), rows.front().fields.size()),
          source, row.line);
    }
    const auto at = seconds_of(row.fields[time]);
    if (!at) {
      return at_line(ErrorCode::parse_error, fmt::format("'{}' is no time", row.fields[time]),
                     source, row.line);
    }
    if (*at < last_s) {
      return at_line(ErrorCode::bad_data, "time runs backwards", source, row.line);
    }
    last_s = *at;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& value = row.fields[where[c].index];
      const auto power = watts_of(value, where[c].factor);
      if (power) {
        columns[c].polls.push_back({*at, *power});
      } else if (!is_absent(value) && !value.starts_with('[')) {
        return at_line(ErrorCode::parse_error, fmt::format("'{}' is no power", value), source,
                       row.line);
      }
    }
  }
  WW_TRY(require_one_device(columns, source));
  return columns;
}

Result<std::vector<double>> parse_load_switches(std::string_view text, const std::string& source) {
  WW_ASSIGN(rows, parse_csv(text, source, {.first_line = 1, .skip_prefix = {}, .trim = true}));
  if (rows.empty() || rows.front().fields.front() != "timestamp") {
    return fail(ErrorCode::parse_error, "no column 'timestamp'", source);
  }
  std::vector<double> switches;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    WW_ASSIGN(
        at, parse_microseconds(rows[r].fields.front(), fmt::format("{}:{}", source, rows[r].line)));
    if (!switches.empty() && at == switches.back()) continue;
    if (!switches.empty() && at < switches.back()) {
      return at_line(ErrorCode::parse_error, "time runs backwards", source, rows[r].line);
    }
    switches.push_back(at);
  }
  if (switches.empty()) return fail(ErrorCode::parse_error, "no switch of the load", source);
  return switches;
}

Result<PowerSeries> decode_pmd(std::span<const std::byte> data, const std::string& source) {
  constexpr std::size_t record = 18;
  constexpr double counts_per_ms = 2934.5;
  constexpr double cable_v = 0.007568, slot_v = 0.0075, amps = 0.0488;
  if (data.empty() || data.size() % record != 0) {
    return fail(ErrorCode::parse_error,
                fmt::format("{} bytes are not whole records of {}", data.size(), record), source);
  }
  PowerSeries series{0.0, 1e-3, {}};
  std::uint16_t last = u16(data, 0);
  double counts = 0;
  double sum = 0;
  std::size_t in_bin = 0, bin = 0;
  const auto close = [&](std::size_t until) {
    // A millisecond without a record holds the one before it.
    const double mean = in_bin > 0 ? sum / static_cast<double>(in_bin)
                                   : (series.empty() ? 0.0 : series.power_w.back());
    series.power_w.push_back(mean);
    while (series.power_w.size() < until) series.power_w.push_back(mean);
    sum = 0;
    in_bin = 0;
  };
  for (std::size_t at = 0; at < data.size(); at += record) {
    const std::uint16_t clock = u16(data, at);
    counts += static_cast<std::uint16_t>(clock - last);
    last = clock;
    double power = 0;
    for (std::size_t connector = 0; connector < 4; ++connector) {
      const double volts = reading(u16(data, at + 2 + 4 * connector));
      const double current = reading(u16(data, at + 4 + 4 * connector));
      power += volts * (connector == 2 ? slot_v : cable_v) * current * amps;
    }
    const auto now = static_cast<std::size_t>(counts / counts_per_ms);
    if (now != bin) {
      close(now);
      bin = now;
    }
    sum += power;
    ++in_bin;
  }
  close(bin + 1);
  return series;
}

Result<SensorRecording> read_sensor_recording(const std::string& folder) {
  const auto path = [&folder](const char* name) {
    return (std::filesystem::path(folder) / name).string();
  };
  SensorRecording recording;
  WW_ASSIGN(poll_file,
            named_file(folder, "gpudata.csv",
                       "give a recording's folder, or a file of polled or of mean power"));
  WW_ASSIGN(poll_text, read_file(poll_file));
  WW_ASSIGN(columns, parse_polls(poll_text, path("gpudata.csv")));
  recording.columns = std::move(columns);
  std::error_code ignored;
  if (!std::filesystem::exists(path("timestamps.csv"), ignored)) return recording;
  WW_ASSIGN(switch_text, read_file(path("timestamps.csv")));
  WW_ASSIGN(switches, parse_load_switches(switch_text, path("timestamps.csv")));
  recording.switches = std::move(switches);
  const double zero_s = recording.switches.front();
  for (double& at : recording.switches) at -= zero_s;

  double zone_s = 0;
  for (const PollColumn& column : recording.columns) {
    if (column.polls.empty()) continue;
    constexpr double half_hour = 1800;
    const double apart = column.polls.front().time_s - zero_s;
    zone_s = std::round(apart / half_hour) * half_hour;
    const bool overlap =
        column.polls.front().time_s - zone_s < zero_s + recording.switches.back() &&
        column.polls.back().time_s - zone_s > zero_s;
    if (std::abs(zone_s) > 15 * 3600 || !overlap) {
      return fail(ErrorCode::bad_data, "the polls and the load's switches are not of one time",
                  folder);
    }
    break;
  }
  for (PollColumn& column : recording.columns) {
    for (PowerPoint& poll : column.polls) poll.time_s -= zone_s + zero_s;
  }

  if (!std::filesystem::exists(path("PMD_data.bin"), ignored)) return recording;
  WW_ASSIGN(start_text, read_file(path("PMD_start_ts.txt")));
  WW_ASSIGN(start_s, parse_microseconds(start_text, path("PMD_start_ts.txt")));
  WW_ASSIGN(bytes, read_file(path("PMD_data.bin")));
  WW_ASSIGN(meter, decode_pmd(std::as_bytes(std::span(bytes)), path("PMD_data.bin")));
  recording.meter = std::move(meter);
  // The command that starts the stream sleeps 50 ms before it writes the time.
  recording.meter.start_s = start_s - 0.050 - zero_s;
  return recording;
}

}  // namespace ww::measure
