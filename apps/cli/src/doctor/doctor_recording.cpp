// The doctor's look at recorded power: of cards that are elsewhere, and beside an external meter.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "doctor/doctor_output.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/recorded/units.hpp"
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
    for (const auto& gap : trace.gaps) log::warn("{}: {}", path, gap);
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
    recording.zero_s = zero_s;
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

// An external meter's own file, by the same clock: its column of that name, or its only one of
// joules, or else of watts.
Status add_meter(SensorRecording& recording, const std::string& file) {
  std::string path = file, name;
  std::error_code ec;
  if (const auto colon = file.rfind(':');
      colon != std::string::npos && !std::filesystem::exists(file, ec)) {
    path = file.substr(0, colon);
    name = file.substr(colon + 1);
  }
  WW_ASSIGN(meter, read(path));
  std::vector<std::string> names;
  std::vector<measure::PowerSeries> series;
  const auto add = [&](const std::string& column, measure::PowerSeries power) {
    if (!name.empty() && column != name) return;
    names.push_back(column);
    series.push_back(std::move(power));
  };
  for (const auto& column : meter.counters) add(column.name, mean_power(column));
  if (names.empty()) {
    for (const auto& column : meter.columns) add(column.name, power_between(column));
  }
  if (names.size() != 1) {
    return fail(ErrorCode::bad_data,
                names.empty() ? "the meter's file has no such column"
                              : fmt::format("the meter's file has {}: name one, as in {}:{}",
                                            fmt::join(names, ", "), path, names.front()),
                file);
  }
  if (series.front().empty()) return fail(ErrorCode::bad_data, "the meter shows no power", file);
  recording.meter = std::move(series.front());
  recording.meter.start_s += meter.zero_s - recording.zero_s;
  recording.meter_name = names.front();
  return {};
}

struct Column {
  std::string name;
  std::size_t polls{};
  measure::UnitFound unit;
  measure::UpdatePeriod period;
  measure::Spikes spikes;
  SensorResponse response;
  energy::Energy energy;
  std::string counter;              // beside it
  measure::UnitFound counter_unit;  // of that
  std::string truth;                // what it was compared with
  std::vector<measure::SteadyError> errors;
};

template <class Points, class Value>
void scale(Points& points, Value value, double factor) {
  for (auto& point : points) point.*value *= factor;
}

// Response and joules against one truth, which may be empty.
void respond(Column& column, const measure::PollColumn& polls, const SensorRecording& recording,
             const measure::PowerSeries& truth) {
  const auto readings = measure::refreshes(polls.polls, column.period);
  if (!truth.empty()) {
    column.response = measure::fit_response(readings, column.period, truth);
    column.errors = measure::steady_errors(readings, truth, recording.switches, column.response);
  } else {
    column.response = measure::fit_response_to_load(readings, column.period, recording.switches,
                                                    recording.switches_known_to_s);
  }
  column.energy =
      measure::register_energy(polls.polls, column.period, column.response, column.spikes);
}

Column look(measure::PollColumn polls, const SensorRecording& recording) {
  using measure::EnergyPoint;
  using measure::PowerPoint;
  Column column;
  column.name = polls.name;
  column.polls = polls.polls.size();
  column.period = measure::find_update_period(polls.polls);
  const bool metered = !recording.meter.empty();
  column.unit = measure::unit_of_power(polls, recording.meter, recording.meter_name);
  scale(polls.polls, &PowerPoint::power_w, column.unit.factor);
  column.spikes = measure::find_spikes(polls.polls, column.period);
  const auto* beside = measure::counter_beside(recording, polls.name);
  if (beside == nullptr) {
    column.truth = metered                      ? recording.meter_name
                   : recording.switches.empty() ? "nothing"
                                                : "load switches";
    respond(column, polls, recording, recording.meter);
    return column;
  }
  column.counter = beside->name;
  measure::EnergyColumn counter = *beside;
  const auto rescale = [&] {
    const auto unit = measure::unit_of_energy(counter, column.energy);
    column.counter_unit = unit;
    scale(counter.polls, &EnergyPoint::energy_j, unit.factor);
    return unit.factor != 1;
  };
  column.energy = measure::register_energy(polls.polls, column.period, {}, column.spikes);
  rescale();
  if (!metered) {
    const auto unit = measure::unit_of_power(polls, mean_power(counter), beside->name);
    scale(polls.polls, &PowerPoint::power_w, unit.factor);
    if (unit.factor != 1) column.unit = unit;
  }
  // A meter that is read seldom shows no response that a counter does not show better.
  const bool by_meter =
      metered && recording.meter.known_to_s <= std::max(1e-3, mean_power(counter).known_to_s);
  column.truth = by_meter ? recording.meter_name : beside->name;
  respond(column, polls, recording, by_meter ? recording.meter : mean_power(counter));
  // The response makes the readings' joules surer.
  if (column.counter_unit.factor == 1 && rescale() && !by_meter) {
    respond(column, polls, recording, mean_power(counter));
  }
  return column;
}

// Power and joules of a counter.
struct Counter {
  std::string name;
  std::size_t polls{};
  measure::UnitFound unit;
  measure::UpdatePeriod period;
  energy::Energy energy;
  std::optional<measure::CounterGain> gain;
  Verdict verdict{Verdict::good};
};

Counter look(measure::EnergyColumn polls, const SensorRecording& recording,
             const std::vector<Column>& columns) {
  Counter counter{polls.name, polls.polls.size(), {}, {}, {}, {}};
  for (const Column& column : columns) {
    if (column.counter == polls.name) counter.unit = column.counter_unit;
  }
  scale(polls.polls, &measure::EnergyPoint::energy_j, counter.unit.factor);
  counter.energy = measure::counter_energy(polls);
  counter.gain = measure::compare_with_meter(polls, recording.meter);
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
  return {
      {"name", counter.name},
      {"verdict", to_string(counter.verdict)},
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

void print(const Counter& counter) {
  std::vector<std::vector<std::string>> rows{
      {counter.name, std::string(to_string(counter.verdict))},
      {"  joules", text_of(counter.energy)}};
  if (!counter.unit.text.empty()) rows.push_back({"  unit", counter.unit.text});
  if (counter.gain) rows.push_back({"  meter", text_of(*counter.gain)});
  print_table(rows);
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
    if (const auto added = add_meter(*recording, meter); !added) return report_error(added.error());
  }
  json columns = json::array();
  std::vector<Column> seen;
  for (const auto& polls : recording->columns) {
    if (polls.polls.empty()) continue;
    seen.push_back(look(polls, *recording));
    if (as_json) {
      columns.push_back(to_json(seen.back()));
    } else {
      print(seen.back());
    }
  }
  bool any = !seen.empty();
  json counters = json::array();
  for (const auto& polls : recording->counters) {
    if (polls.polls.empty()) continue;
    any = true;
    const Counter counter = look(polls, *recording, seen);
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
