// wirewatt doctor --recording: recorded power of cards that are elsewhere.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "doctor/doctor_output.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/recorded/check.hpp"
#include "ww/otf2/power_trace.hpp"

namespace ww::cli {
namespace {

using measure::CounterCheck;
using measure::RegisterCheck;
using measure::ResponseKind;
using measure::SensorRecording;
using nlohmann::json;

Result<SensorRecording> read(const std::string& path) {
  if (otf2::is_trace(path)) {
    WW_ASSIGN(trace, otf2::read_power_trace(path));
    for (const auto& gap : trace.gaps) log::warn("{}: {}", path, gap);
    return std::move(trace.recording);
  }
  if (std::error_code ec; std::filesystem::is_directory(path, ec)) {
    return measure::read_sensor_recording(path);
  }
  WW_ASSIGN(text, read_file(path));
  return measure::parse_recorded_power(text, path);
}

// Adds the meter of FILE or FILE:COLUMN.
Status read_meter(SensorRecording& recording, const std::string& file) {
  std::string path = file, column;
  std::error_code ec;
  if (const auto colon = file.rfind(':');
      colon != std::string::npos && !std::filesystem::exists(file, ec)) {
    path = file.substr(0, colon);
    column = file.substr(colon + 1);
  }
  WW_ASSIGN(meter, read(path));
  return measure::add_meter(recording, meter, column, path);
}

json interval(const energy::Energy& energy) {
  if (!energy.ok()) return nullptr;
  return {{"value", energy.energy_j}, {"low", energy.low_j}, {"high", energy.high_j}};
}

json to_json(const CounterCheck& counter) {
  return {
      {"name", counter.name},
      {"verdict", to_string(counter.verdict())},
      {"polls", counter.polls},
      {"period_s", counter.period.resolved ? json(counter.period.period_s) : json()},
      {"energy_j", interval(counter.energy)},
      {"power_w", counter.energy.ok() ? json(counter.energy.power_w) : json()},
      {"unit", counter.unit.text},
      {"meter_over_counter", counter.gain ? json(counter.gain->ratio) : json()},
      {"meter_over_counter_sd", counter.gain ? json(counter.gain->ratio_sd) : json()},
      {"meter_slope", counter.gain && counter.gain->slope ? json(*counter.gain->slope) : json()},
      {"meter_offset_w",
       counter.gain && counter.gain->slope ? json(*counter.gain->offset_w) : json()},
      {"reason", counter.energy.reason}};
}

std::string text_of(const energy::Energy& energy) {
  if (!energy.ok()) return "none: " + energy.reason;
  return fmt::format("{:.2f} J ({:.2f}..{:.2f}), {:.1f} W{}{}", energy.energy_j, energy.low_j,
                     energy.high_j, energy.power_w, energy.reason.empty() ? "" : "; ",
                     energy.reason);
}

std::string text_of(const measure::CounterGain& gain) {
  std::string text = fmt::format("{:.2f} J for {:.2f} J counted: {:.3f} times as much (sd {:.3f})",
                                 gain.meter_j, gain.counter_j, gain.ratio, gain.ratio_sd);
  if (gain.slope) {
    text += fmt::format("; of changes {:.3f} (sd {:.3f}) and {:+.1f} W that no load changes",
                        *gain.slope, gain.slope_sd, *gain.offset_w);
  }
  return text;
}

void print(const CounterCheck& counter) {
  std::vector<std::vector<std::string>> rows{
      {counter.name, std::string(to_string(counter.verdict()))},
      {"  joules", text_of(counter.energy)}};
  if (!counter.unit.text.empty()) rows.push_back({"  unit", counter.unit.text});
  if (counter.gain) rows.push_back({"  meter", text_of(*counter.gain)});
  print_table(rows);
}

json to_json(const RegisterCheck& column) {
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
          {"verdict", to_string(column.verdict())},
          {"polls", column.polls},
          {"period_s", known(column.period.resolved, column.period.period_s)},
          {"period_reason", column.period.reason},
          {"refreshed_within_s", known(column.period.within_poll, column.period.within_s)},
          {"held_s", known(column.period.held_s > 0, column.period.held_s)},
          {"spikes", column.spikes.at.size()},
          {"largest_spike_w", known(!column.spikes.at.empty(), column.spikes.largest_w)},
          {"compared_with", column.truth},
          {"response", to_string(response.kind)},
          {"reason", response.reason},
          {"note", response.note},
          {"window_s", known(response.kind == ResponseKind::window, response.time_s)},
          {"lag_s", known(response.kind == ResponseKind::lag, response.time_s)},
          {"at_most", response.at_most},
          {"low_s", known(resolved, response.low_s)},
          {"high_s", known(resolved, response.high_s)},
          {"delay_s", known(resolved, response.delay_s)},
          {"seen", known(resolved, response.seen(column.period))},
          {"gain", response.gain ? json(*response.gain) : json()},
          {"offset_w", response.offset_w ? json(*response.offset_w) : json()},
          {"gain_reason", response.gain_reason},
          {"energy_j", interval(column.energy)},
          {"energy_reason", column.energy.reason},
          {"unit", column.unit.text},
          {"counter_unit", column.counter_unit.text},
          {"steady_errors", errors}};
}

void print(const RegisterCheck& column) {
  const auto& response = column.response;
  std::vector<std::vector<std::string>> rows;
  rows.push_back({column.name, std::string(to_string(column.verdict()))});
  rows.push_back({"  update period",
                  column.period.resolved ? fmt::format("{:.2f} ms", column.period.period_s * 1e3)
                  : column.period.within_poll ? column.period.reason
                                              : "not resolved: " + column.period.reason});
  if (response.kind == ResponseKind::not_resolved) {
    rows.push_back({"  response", "not resolved: " + response.reason});
  } else if (response.at_most) {
    rows.push_back({"  response", fmt::format("{} at most {:.1f} ms", to_string(response.kind),
                                              response.time_s * 1e3)});
  } else {
    std::string text =
        fmt::format("{} {:.1f} ms ({:.1f}..{:.1f}), delay {:.0f} ms, by {}",
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
  if (!column.spikes.at.empty()) {
    rows.push_back({"  spikes", fmt::format("{} readings of one poll stand out, by up to {:.1f} W; "
                                            "they are left out of the joules",
                                            column.spikes.at.size(), column.spikes.largest_w)});
  }
  rows.push_back({"  joules", text_of(column.energy)});
  if (!column.unit.text.empty()) rows.push_back({"  unit", column.unit.text});
  if (!column.counter_unit.text.empty()) {
    rows.push_back(
        {"  counter", fmt::format("{} has {}", column.counter, column.counter_unit.text)});
  }
  for (const auto& error : column.errors) {
    rows.push_back({"  " + error.what,
                    fmt::format("{:+.1f}% at {:.0f} W", 100 * error.relative(), error.meter_w)});
  }
  print_table(rows);
}

}  // namespace

int doctor_recording(const std::string& path, const std::string& meter, bool as_json) {
  auto recording = read(path);
  if (!recording) return report_error(recording.error());
  if (!meter.empty()) {
    const auto added = read_meter(*recording, meter);
    if (!added) return report_error(added.error());
  }
  const auto checked = measure::check_recording(*recording, path);
  if (!checked) return report_error(checked.error());
  if (!as_json) {
    for (const auto& column : checked->registers) print(column);
    for (const auto& counter : checked->counters) print(counter);
    return 0;
  }
  json columns = json::array();
  for (const auto& column : checked->registers) columns.push_back(to_json(column));
  json counters = json::array();
  for (const auto& counter : checked->counters) counters.push_back(to_json(counter));
  print_json({{"recording", path},
              {"meter", !recording->meter.empty()},
              {"columns", columns},
              {"counters", counters}});
  return 0;
}

}  // namespace ww::cli
