#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ww/measure/recorded/check.hpp"

namespace ww::measure {
namespace {

template <class Points, class Value>
void scale(Points& points, Value value, double factor) {
  for (auto& point : points) point.*value *= factor;
}

// Finds the response and the joules by one truth, which may be empty.
void find_response(RegisterCheck& check, const PollColumn& polls, const SensorRecording& recording,
                   const PowerSeries& truth) {
  const auto readings = refreshes(polls.polls, check.period);
  if (!truth.empty()) {
    check.response = fit_response(readings, check.period, truth);
    check.errors = steady_errors(readings, truth, recording.switches, check.response);
  } else {
    check.response = fit_response_to_load(readings, check.period, recording.switches,
                                          recording.switches_known_to_s);
  }
  check.energy = register_energy(polls.polls, check.period, check.response, check.spikes);
}

// Compares the register with the device's own counter, or with the meter where that is read as
// often as the counter. The units of both are found first, each by the other one.
void compare_with_counter(RegisterCheck& check, PollColumn& polls, EnergyColumn counter,
                          const SensorRecording& recording) {
  check.counter = counter.name;
  const auto correct_counter = [&] {
    check.counter_unit = unit_of_energy(counter, check.energy);
    scale(counter.polls, &EnergyPoint::energy_j, check.counter_unit.factor);
    return check.counter_unit.factor != 1;
  };
  check.energy = register_energy(polls.polls, check.period, {}, check.spikes);
  correct_counter();
  const bool metered = !recording.meter.empty();
  if (!metered) {
    const auto unit = unit_of_power(polls, mean_power(counter), counter.name);
    scale(polls.polls, &PowerPoint::power_w, unit.factor);
    if (unit.factor != 1) check.unit = unit;
  }
  // A meter that is read more seldom than the counter shows the response less well.
  const bool by_meter =
      metered && recording.meter.known_to_s <= std::max(1e-3, mean_power(counter).known_to_s);
  check.truth = by_meter ? recording.meter_name : counter.name;
  find_response(check, polls, recording, by_meter ? recording.meter : mean_power(counter));
  // With the response known, the readings' joules have a narrower interval, which may show the
  // counter's unit after all.
  if (check.counter_unit.factor == 1 && correct_counter() && !by_meter) {
    find_response(check, polls, recording, mean_power(counter));
  }
}

RegisterCheck check_register(PollColumn polls, const SensorRecording& recording) {
  RegisterCheck check;
  check.name = polls.name;
  check.polls = polls.polls.size();
  check.period = find_update_period(polls.polls);
  check.unit = unit_of_power(polls, recording.meter, recording.meter_name);
  scale(polls.polls, &PowerPoint::power_w, check.unit.factor);
  check.spikes = find_spikes(polls.polls, check.period);
  if (const auto* counter = counter_beside(recording, polls.name); counter != nullptr) {
    compare_with_counter(check, polls, *counter, recording);
    return check;
  }
  check.truth = !recording.meter.empty()     ? recording.meter_name
                : recording.switches.empty() ? "nothing"
                                             : "load switches";
  find_response(check, polls, recording, recording.meter);
  return check;
}

CounterCheck check_counter(EnergyColumn polls, const SensorRecording& recording,
                           const std::vector<RegisterCheck>& registers) {
  CounterCheck check{polls.name, polls.polls.size(), {}, {}, {}, {}};
  for (const auto& beside : registers) {
    if (beside.counter == polls.name) check.unit = beside.counter_unit;
  }
  scale(polls.polls, &EnergyPoint::energy_j, check.unit.factor);
  check.energy = counter_energy(polls);
  check.gain = compare_with_meter(polls, recording.meter);
  std::vector<PowerPoint> values;
  for (const auto& poll : polls.polls) values.push_back({poll.time_s, poll.energy_j});
  check.period = find_update_period(values);
  if (std::ranges::all_of(polls.polls, [](const auto& poll) { return poll.energy_j == 0; })) {
    check.energy.reason =
        "it reads 0 throughout: nothing counts there; of a package's two dies the other one holds "
        "the sensor";
  }
  return check;
}

}  // namespace

Verdict RegisterCheck::verdict() const {
  constexpr double kMinSeen = 0.95;
  constexpr double kMaxGoodResponseS = 0.5;
  const bool refreshes_known = period.resolved || period.within_poll;
  if (!refreshes_known || response.kind == ResponseKind::not_resolved) return Verdict::limited;
  const bool slow = response.time_s > kMaxGoodResponseS;
  return response.seen(period) < kMinSeen || slow ? Verdict::limited : Verdict::good;
}

Result<RecordingCheck> check_recording(const SensorRecording& recording,
                                       const std::string& source) {
  RecordingCheck check;
  for (const auto& column : recording.columns) {
    if (!column.polls.empty()) check.registers.push_back(check_register(column, recording));
  }
  for (const auto& counter : recording.counters) {
    if (counter.polls.empty()) continue;
    check.counters.push_back(check_counter(counter, recording, check.registers));
  }
  if (check.registers.empty() && check.counters.empty()) {
    return fail(ErrorCode::bad_data, "no column holds a reading", source);
  }
  return check;
}

Result<SensorRecording> parse_recorded_power(std::string_view text, const std::string& source) {
  auto polls = parse_polls(text, source);
  if (polls) {
    SensorRecording recording;
    recording.columns = std::move(*polls);
    const auto& first = recording.columns.front().polls;
    recording.zero_s = first.empty() ? 0.0 : first.front().time_s;
    for (auto& column : recording.columns) {
      for (auto& poll : column.polls) poll.time_s -= recording.zero_s;
    }
    return recording;
  }
  if (auto log = parse_pmt_log(text, source); log || log.error().code != ErrorCode::unsupported) {
    return log;
  }
  auto table = parse_power_table(text, source);
  // For columns of neither kind, the table's message says what a table needs.
  if (table || polls.error().code == ErrorCode::unsupported) return table;
  return tl::unexpected(polls.error());
}

Status add_meter(SensorRecording& recording, const SensorRecording& meter,
                 const std::string& column, const std::string& source) {
  const std::string named = column.empty() ? source : source + ":" + column;
  std::vector<std::string> names;
  std::vector<PowerSeries> series;
  const auto add = [&](const std::string& name, PowerSeries power) {
    if (!column.empty() && name != column) return;
    names.push_back(name);
    series.push_back(std::move(power));
  };
  for (const auto& counter : meter.counters) add(counter.name, mean_power(counter));
  if (names.empty()) {
    for (const auto& polls : meter.columns) add(polls.name, power_between(polls));
  }
  if (names.size() != 1) {
    return fail(ErrorCode::bad_data,
                names.empty() ? "the meter's file has no such column"
                              : fmt::format("the meter's file has {}: name one, as in {}:{}",
                                            fmt::join(names, ", "), source, names.front()),
                named);
  }
  if (series.front().empty()) return fail(ErrorCode::bad_data, "the meter shows no power", named);
  recording.meter = std::move(series.front());
  recording.meter.start_s += meter.zero_s - recording.zero_s;
  recording.meter_name = names.front();
  return {};
}

}  // namespace ww::measure
