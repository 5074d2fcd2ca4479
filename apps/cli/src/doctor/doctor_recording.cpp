// The doctor's look at recorded power: of cards that are elsewhere, and beside an external meter.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "doctor/doctor_output.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/recorded_energy.hpp"
#include "ww/measure/sensor_response.hpp"
#include "ww/otf2/power_trace.hpp"

namespace ww::cli {
namespace {

using measure::ResponseKind;
using measure::SensorRecording;
using measure::SensorResponse;
using measure::Verdict;
using nlohmann::json;

Result<SensorRecording> read(const std::string& path) {
  if (otf2::is_trace(path)) {
    WW_ASSIGN(trace, otf2::read_power_trace(path));
    for (const auto& gap : trace.gaps) spdlog::warn("{}: {}", path, gap);
    return std::move(trace.recording);
  }
  if (std::error_code ec; std::filesystem::is_directory(path, ec)) {
    return measure::read_sensor_recording(path);
  }
  WW_ASSIGN(text, read_file(path));
  auto polls = measure::parse_polls(text, path);
  if (polls) {
    SensorRecording recording;
    recording.columns = std::move(*polls);
    const double zero_s =
        recording.columns.front().polls.empty() ? 0.0 : recording.columns.front().polls[0].time_s;
    for (auto& column : recording.columns) {
      for (auto& poll : column.polls) poll.time_s -= zero_s;
    }
    return recording;
  }
  if (auto log = measure::parse_pmt_log(text, path);
      log || log.error().code != ErrorCode::unsupported) {
    return log;
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
  measure::Spikes spikes;
  SensorResponse response;
  energy::Energy energy;
  std::string unit;   // what the counter beside it counts, where that is not what its name says
  std::string truth;  // what it was compared with
  std::vector<measure::SteadyError> errors;
};

// A counter of 2^-16 J whose ticks a program took for 15.3 uJ, as AMD's headers round them.
std::string unit_of(const measure::EnergyColumn& counter, const energy::Energy& shown) {
  constexpr double kRounded = 15.3e-6 / kJoulesPerTick;
  constexpr double kAlike = 6e-4;
  const energy::Energy counted = measure::counter_energy(counter);
  if (!counted.ok() || !shown.ok()) return {};
  if (std::abs(counted.energy_j / shown.energy_j - kRounded) > kAlike) return {};
  return fmt::format(
      "{} has {:.4f} times the joules of these readings, as counts of 2^-16 J have that are taken "
      "for 15.3 uJ: {:.2f} J",
      counter.name, counted.energy_j / shown.energy_j, counted.energy_j / kRounded);
}

Column look(const measure::PollColumn& polls, const SensorRecording& recording) {
  Column column;
  column.name = polls.name;
  column.polls = polls.polls.size();
  column.period = measure::find_update_period(polls.polls);
  column.spikes = measure::find_spikes(polls.polls, column.period);
  const auto readings = measure::refreshes(polls.polls, column.period);
  const auto* counter = measure::counter_beside(recording, polls.name);
  const measure::PowerSeries meter =
      !recording.meter.empty() || counter == nullptr ? recording.meter : mean_power(*counter);
  if (!meter.empty()) {
    column.truth = !recording.meter.empty() ? "external meter" : counter->name;
    column.response = measure::fit_response(readings, column.period, meter);
    column.errors = measure::steady_errors(readings, meter, recording.switches, column.response);
  } else {
    column.truth = recording.switches.empty() ? "nothing" : "load switches";
    column.response = measure::fit_response_to_load(readings, column.period, recording.switches);
  }
  column.energy =
      measure::register_energy(polls.polls, column.period, column.response, column.spikes);
  if (counter != nullptr) column.unit = unit_of(*counter, column.energy);
  return column;
}

// Power and joules of a counter.
struct Counter {
  std::string name;
  std::size_t polls{};
  measure::UpdatePeriod period;
  energy::Energy energy;
  Verdict verdict{Verdict::good};
};

Counter look(const measure::EnergyColumn& polls) {
  Counter counter{polls.name, polls.polls.size(), {}, measure::counter_energy(polls)};
  std::vector<measure::PowerPoint> values;
  bool zero = true;
  for (const auto& poll : polls.polls) {
    values.push_back({poll.time_s, poll.energy_j});
    zero = zero && poll.energy_j == 0;
  }
  counter.period = measure::find_update_period(values);
  if (zero) {
    counter.energy.reason =
        "it reads 0 throughout: nothing counts there; of a package's two dies the other one holds "
        "the sensor";
  }
  if (!counter.energy.ok()) counter.verdict = Verdict::bad;
  return counter;
}

json interval(const energy::Energy& energy) {
  if (!energy.ok()) return nullptr;
  return {{"value", energy.energy_j}, {"low", energy.low_j}, {"high", energy.high_j}};
}

json to_json(const Counter& counter) {
  return {{"name", counter.name},
          {"verdict", to_string(counter.verdict)},
          {"polls", counter.polls},
          {"period_s", counter.period.resolved ? json(counter.period.period_s) : json()},
          {"energy_j", interval(counter.energy)},
          {"power_w", counter.energy.ok() ? json(counter.energy.power_w) : json()},
          {"reason", counter.energy.reason}};
}

std::string text_of(const energy::Energy& energy) {
  if (!energy.ok()) return "none: " + energy.reason;
  return fmt::format("{:.2f} J ({:.2f} to {:.2f}), {:.1f} W{}{}", energy.energy_j, energy.low_j,
                     energy.high_j, energy.power_w, energy.reason.empty() ? "" : "; ",
                     energy.reason);
}

void print(const Counter& counter) {
  print_table({{counter.name, std::string(to_string(counter.verdict))},
               {"  joules", text_of(counter.energy)}});
}

Verdict verdict_of(const Column& column) {
  const bool refreshed = column.period.resolved || column.period.within_poll;
  if (!refreshed || column.response.kind == ResponseKind::not_resolved) {
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
          {"refreshed_within_s", known(column.period.within_poll, column.period.poll_s)},
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
          {"counter_unit", column.unit},
          {"steady_errors", errors}};
}

void print(const Column& column) {
  const auto& response = column.response;
  std::vector<std::vector<std::string>> rows;
  rows.push_back({column.name, std::string(to_string(verdict_of(column)))});
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
  if (!column.spikes.at.empty()) {
    rows.push_back({"  spikes", fmt::format("{} readings of one poll stand out, by up to {:.1f} W; "
                                            "they are left out of the joules",
                                            column.spikes.at.size(), column.spikes.largest_w)});
  }
  rows.push_back({"  joules", text_of(column.energy)});
  if (!column.unit.empty()) rows.push_back({"  counter", column.unit});
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
  json counters = json::array();
  for (const auto& polls : recording->counters) {
    if (polls.polls.empty()) continue;
    any = true;
    const Counter counter = look(polls);
    if (as_json) {
      counters.push_back(to_json(counter));
    } else {
      print(counter);
    }
  }
  if (!any) {
    return report_error({ErrorCode::bad_data, "no column holds a reading", path});
  }
  if (as_json) {
    print_json({{"recording", path},
                {"meter", !recording->meter.empty()},
                {"columns", columns},
                {"counters", counters}});
  }
  return 0;
}

}  // namespace ww::cli
