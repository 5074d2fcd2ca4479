// The doctor's look at recorded power: of cards that are elsewhere, and beside an external meter.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "doctor/doctor_output.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::cli {
namespace {

using measure::ResponseKind;
using measure::SensorRecording;
using measure::SensorResponse;
using measure::Verdict;
using nlohmann::json;

Result<SensorRecording> read(const std::string& path) {
  if (std::error_code ec; std::filesystem::is_directory(path, ec)) {
    return measure::read_sensor_recording(path);
  }
  WW_ASSIGN(text, read_file(path));
  auto polls = measure::parse_polls(text, path);
  if (polls) {
    SensorRecording recording{std::move(*polls), {}, {}};
    const double zero_s =
        recording.columns.front().polls.empty() ? 0.0 : recording.columns.front().polls[0].time_s;
    for (auto& column : recording.columns) {
      for (auto& poll : column.polls) poll.time_s -= zero_s;
    }
    return recording;
  }
  auto table = measure::parse_power_table(text, path);
  // Columns of neither kind: the table's message says what a table needs.
  if (table || polls.error().code == ErrorCode::unsupported) return table;
  return tl::unexpected(polls.error());
}

struct Column {
  std::string name;
  std::size_t polls{};
  measure::UpdatePeriod period;
  SensorResponse response;
  std::string truth;  // what it was compared with
  std::vector<measure::SteadyError> errors;
};

Column look(const measure::PollColumn& polls, const SensorRecording& recording) {
  Column column;
  column.name = polls.name;
  column.polls = polls.polls.size();
  column.period = measure::find_update_period(polls.polls);
  const auto readings = measure::refreshes(polls.polls, column.period);
  if (!recording.meter.empty()) {
    column.truth = "external meter";
    column.response = measure::fit_response(readings, column.period, recording.meter);
    column.errors =
        measure::steady_errors(readings, recording.meter, recording.switches, column.response);
  } else {
    column.truth = recording.switches.empty() ? "nothing" : "load switches";
    column.response = measure::fit_response_to_load(readings, column.period, recording.switches);
  }
  return column;
}

Verdict verdict_of(const Column& column) {
  if (!column.period.resolved || column.response.kind == ResponseKind::not_resolved) {
    return Verdict::limited;
  }
  const bool slow = column.response.time_s > 0.5;
  return column.response.seen(column.period) < 0.95 || slow ? Verdict::limited : Verdict::good;
}

json to_json(const Column& column) {
  const auto& response = column.response;
  const bool resolved = response.kind != ResponseKind::not_resolved;
  const auto known = [](bool there, double value) { return there ? json(value) : json(); };
  json errors = json::array();
  for (const auto& error : column.errors) {
    errors.push_back({{"what", error.what},
                      {"sensor_w", error.sensor_w},
                      {"meter_w", error.meter_w},
                      {"relative", error.relative()}});
  }
  return {{"name", column.name},
          {"verdict", to_string(verdict_of(column))},
          {"polls", column.polls},
          {"period_s", known(column.period.resolved, column.period.period_s)},
          {"period_reason", column.period.reason},
          {"compared_with", column.truth},
          {"response", to_string(response.kind)},
          {"reason", response.reason},
          {"note", response.note},
          {"window_s", known(response.kind == ResponseKind::window, response.time_s)},
          {"lag_s", known(response.kind == ResponseKind::lag, response.time_s)},
          {"low_s", known(resolved, response.low_s)},
          {"high_s", known(resolved, response.high_s)},
          {"delay_s", known(resolved, response.delay_s)},
          {"seen", known(resolved, response.seen(column.period))},
          {"gain", response.gain ? json(*response.gain) : json()},
          {"offset_w", response.offset_w ? json(*response.offset_w) : json()},
          {"gain_reason", response.gain_reason},
          {"steady_errors", errors}};
}

void print(const Column& column) {
  const auto& response = column.response;
  std::vector<std::vector<std::string>> rows;
  rows.push_back({column.name, std::string(to_string(verdict_of(column)))});
  rows.push_back({"  update period", column.period.resolved
                                         ? fmt::format("{:.2f} ms", column.period.period_s * 1e3)
                                         : "not resolved: " + column.period.reason});
  if (response.kind == ResponseKind::not_resolved) {
    rows.push_back({"  response", "not resolved: " + response.reason});
  } else {
    std::string text =
        fmt::format("{} {:.1f} ms ({:.1f} to {:.1f}), delay {:.0f} ms, by {}",
                    to_string(response.kind), response.time_s * 1e3, response.low_s * 1e3,
                    response.high_s * 1e3, response.delay_s * 1e3, column.truth);
    if (response.seen(column.period) < 0.95) {
      text += fmt::format("; {:.0f}% of the time unseen", 100 * (1 - response.seen(column.period)));
    }
    rows.push_back({"  response", text});
  }
  if (!response.note.empty()) rows.push_back({"  note", response.note});
  rows.push_back({"  gain, offset", response.gain ? fmt::format("{:.3f}, {:+.1f} W", *response.gain,
                                                                *response.offset_w)
                                                  : "none: " + response.gain_reason});
  for (const auto& error : column.errors) {
    rows.push_back({"  " + error.what,
                    fmt::format("{:+.1f}% at {:.0f} W", 100 * error.relative(), error.meter_w)});
  }
  print_table(rows);
}

}  // namespace

int doctor_recording(const std::string& path, bool as_json) {
  const auto recording = read(path);
  if (!recording) return report_error(recording.error());
  bool any = false;
  json columns = json::array();
  for (const auto& polls : recording->columns) {
    if (polls.polls.empty()) continue;
    any = true;
    const Column column = look(polls, *recording);
    if (as_json) {
      columns.push_back(to_json(column));
    } else {
      print(column);
    }
  }
  if (!any) {
    return report_error({ErrorCode::bad_data, "no column holds a reading", path});
  }
  if (as_json) {
    print_json({{"recording", path}, {"meter", !recording->meter.empty()}, {"columns", columns}});
  }
  return 0;
}

}  // namespace ww::cli
