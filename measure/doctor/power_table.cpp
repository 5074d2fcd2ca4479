#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "several_devices.hpp"
#include "traffic/number_text.hpp"
#include "ww/core/statistics.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/sensor_recording.hpp"

namespace ww::measure {
namespace {

struct UnitName {
  std::string_view name;
  double factor;
};
constexpr UnitName kTimeUnits[] = {{"time_s", 1.0},   {"time_ms", 1e-3}, {"time_us", 1e-6},
                                   {"time_ns", 1e-9}, {"t_s", 1.0},      {"t_ms", 1e-3},
                                   {"t_us", 1e-6},    {"t_ns", 1e-9}};
constexpr UnitName kPowerUnits[] = {{"_w", 1.0}, {"_mw", 1e-3}, {"_uw", 1e-6}};
constexpr UnitName kEnergyUnits[] = {{"_j", 1.0}, {"_mj", 1e-3}, {"_uj", 1e-6}};

// Kind and unit of a table's column, by its name.
struct TableColumn {
  enum class Kind { other, time, load, power, energy, meter, meter_mean, meter_energy };
  Kind kind{Kind::other};
  double factor{1};
};

TableColumn column_of(std::string_view name) {
  using Kind = TableColumn::Kind;
  if (name == "load") return {Kind::load};
  for (const UnitName& unit : kTimeUnits) {
    if (name == unit.name) return {Kind::time, unit.factor};
  }
  for (const UnitName& unit : kPowerUnits) {
    if (!name.ends_with(unit.name)) continue;
    const auto stem = name.substr(0, name.size() - unit.name.size());
    return {stem == "meter"        ? Kind::meter
            : stem == "meter_mean" ? Kind::meter_mean
                                   : Kind::power,
            unit.factor};
  }
  for (const UnitName& unit : kEnergyUnits) {
    if (!name.ends_with(unit.name)) continue;
    const auto stem = name.substr(0, name.size() - unit.name.size());
    return {stem == "meter" ? Kind::meter_energy : Kind::energy, unit.factor};
  }
  return {};
}

template <class Points>
double usual_gap_s(const Points& points) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    gaps.push_back(points[i].time_s - points[i - 1].time_s);
  }
  return median(std::move(gaps));
}

// The meter's readings as means over 1 ms, straight lines between them.
PowerSeries series_of(const std::vector<PowerPoint>& meter) {
  PowerSeries series;
  if (meter.size() < 2) return series;
  series.start_s = meter.front().time_s;
  series.step_s = 1e-3;
  series.known_to_s = usual_gap_s(meter);
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

// Joules since the first reading of means that each hold since the one before.
EnergyColumn summed(const std::vector<PowerPoint>& means) {
  EnergyColumn column;
  double energy_j = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (i > 0) energy_j += means[i].power_w * (means[i].time_s - means[i - 1].time_s);
    column.polls.push_back({means[i].time_s, energy_j});
  }
  return column;
}

std::string runs_backwards(double seconds) {
  return fmt::format("time runs backwards, by {:.3g} s: if the clock was set, make two files of it",
                     seconds);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (auto at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

bool grew(const EnergyColumn& column) {
  return !column.polls.empty() && column.polls.back().energy_j > column.polls.front().energy_j;
}

}  // namespace

PowerSeries power_between(const PollColumn& column) {
  return series_of(column.polls);
}

PowerSeries mean_power(const EnergyColumn& column) {
  constexpr double kMaxSteps = 1e7;
  PowerSeries series;
  if (!grew(column)) return series;
  // A counter that rests from poll to poll and then moves did not stop: its moves alone are known.
  std::vector<EnergyPoint> polls{column.polls.front()};
  for (const EnergyPoint& poll : column.polls) {
    if (poll.energy_j < polls.back().energy_j) return series;
    if (poll.energy_j > polls.back().energy_j) polls.push_back(poll);
  }
  series.start_s = polls.front().time_s;
  series.step_s = 1e-3;
  series.known_to_s = usual_gap_s(polls);
  const double steps = std::floor((polls.back().time_s - series.start_s) / series.step_s);
  if (!(steps > 0) || steps > kMaxSteps) return {};
  std::size_t at = 0;
  double before = polls.front().energy_j;
  for (double i = 1; i <= steps; ++i) {
    const double time = series.start_s + i * series.step_s;
    while (at + 2 < polls.size() && polls[at + 1].time_s < time) ++at;
    const double span = polls[at + 1].time_s - polls[at].time_s;
    const double share = span > 0 ? (time - polls[at].time_s) / span : 1.0;
    const double now = polls[at].energy_j + share * (polls[at + 1].energy_j - polls[at].energy_j);
    series.power_w.push_back((now - before) / series.step_s);
    before = now;
  }
  return series;
}

std::vector<PowerPoint> power_of_moves(const EnergyColumn& column) {
  std::vector<PowerPoint> power;
  const auto& polls = column.polls;
  for (std::size_t i = 0, from = 0; i < polls.size(); ++i) {
    const double joules = polls[i].energy_j - polls[from].energy_j;
    const double seconds = polls[i].time_s - polls[from].time_s;
    if (joules == 0 || !(seconds > 0)) continue;  // not refreshed since
    if (joules > 0) power.push_back({polls[from].time_s, joules / seconds});
    from = i;
  }
  return power;
}

const EnergyColumn* counter_beside(const SensorRecording& recording,
                                   std::string_view power_column) {
  const auto stem = [](std::string_view name, std::string_view word) {
    const auto colons = name.find(":::");
    const auto device = name.find(":device=");
    if (colons < device && device != std::string_view::npos) {
      return fmt::format("{}{}", name.substr(0, colons), name.substr(device));
    }
    // Metrics of PAPI ("rocm_smi:::energy_count:device=0") have no unit behind their names.
    const bool has_unit = colons == std::string_view::npos;
    std::string text(has_unit ? name.substr(0, name.rfind('_')) : name);
    if (const auto at = text.find(word); at != std::string::npos) text.erase(at, word.size());
    return text;
  };
  const EnergyColumn* only = nullptr;
  std::size_t count = 0;
  for (const EnergyColumn& counter : recording.counters) {
    if (!grew(counter)) continue;
    if (stem(counter.name, "energy") == stem(power_column, "power")) return &counter;
    only = &counter;
    ++count;
  }
  return count == 1 ? only : nullptr;
}

Result<SensorRecording> parse_pmt_log(std::string_view text, const std::string& source) {
  SensorRecording recording;
  std::optional<double> first_s;
  double last_s = 0;
  std::size_t line = 0;
  const auto at_line = [&] { return fmt::format("{}:{}", source, line); };
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto words = words_of(text.substr(at, end - at));
    const bool cut = end == text.size();
    at = end + 1;
    ++line;
    if (words.empty() || words.front() == "M") continue;  // a mark of the program that was measured
    if (recording.columns.empty()) {
      if (words.front() != "timestamp" || words.size() < 2) {
        return fail(ErrorCode::unsupported, "no log of PMT: its first line is 'timestamp NAME ...'",
                    at_line());
      }
      for (const std::string_view name : std::span(words).subspan(1)) {
        recording.columns.push_back({std::string(name), {}});
      }
      continue;
    }
    if (words.size() != recording.columns.size() + 1) {
      if (cut) break;
      return fail(
          ErrorCode::parse_error,
          fmt::format("{} fields under {} columns", words.size(), recording.columns.size() + 1),
          at_line());
    }
    std::vector<double> values;
    for (const std::string_view word : words) {
      const auto value = number(word, Decimal::point);
      if (!value || !std::isfinite(*value)) {
        return fail(ErrorCode::parse_error, fmt::format("'{}' is not a number", word), at_line());
      }
      values.push_back(*value);
    }
    if (!first_s) first_s = values[0];
    const double now = values[0] - *first_s;
    if (now < last_s) return fail(ErrorCode::bad_data, runs_backwards(last_s - now), at_line());
    last_s = now;
    for (std::size_t c = 0; c < recording.columns.size(); ++c) {
      recording.columns[c].polls.push_back({now, values[c + 1]});
    }
  }
  if (recording.columns.empty()) return fail(ErrorCode::parse_error, "the file is empty", source);
  recording.zero_s = first_s.value_or(0);
  WW_TRY(require_one_device(recording.columns, source));
  return recording;
}

Result<SensorRecording> parse_power_table(std::string_view text, const std::string& source) {
  using Kind = TableColumn::Kind;
  WW_ASSIGN(rows, parse_csv(text, source, {.first_line = 1, .skip_prefix = "#", .trim = true}));
  if (rows.empty()) return fail(ErrorCode::parse_error, "the file is empty", source);
  const auto& head = rows.front().fields;
  std::vector<TableColumn> kinds;
  std::vector<std::size_t> place;  // among those of its kind
  std::optional<std::size_t> time;
  SensorRecording recording;
  for (std::size_t i = 0; i < head.size(); ++i) {
    kinds.push_back(column_of(head[i]));
    place.push_back(kinds[i].kind == Kind::power ? recording.columns.size()
                                                 : recording.counters.size());
    if (kinds[i].kind == Kind::time) time = i;
    if (kinds[i].kind == Kind::power) recording.columns.push_back({head[i], {}});
    if (kinds[i].kind == Kind::energy) recording.counters.push_back({head[i], {}});
  }
  if (!time || (recording.columns.empty() && recording.counters.empty())) {
    return fail(ErrorCode::unsupported,
                "a table of power needs a column time_s (or time_ms, time_us, time_ns) and one of "
                "readings, power_w or energy_j; meter_w, meter_mean_w or meter_j and load (0 or 1) "
                "may be there",
                fmt::format("{}:{}", source, rows.front().line));
  }
  WW_TRY(require_one_device(rows, source));
  std::vector<PowerPoint> metered, meter_means;
  EnergyColumn meter_energy;
  std::optional<double> first_s;
  double last_s = 0, last_load = 0;
  std::vector<double> row_gaps_s;
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
      return std::optional(*read * kinds[i].factor);
    };
    WW_ASSIGN(stamp, value(*time));
    if (!stamp) return fail(ErrorCode::parse_error, "no time", at_row);
    const double now = *stamp - first_s.value_or(*stamp);
    if (!first_s) first_s = *stamp;
    if (now < last_s) return fail(ErrorCode::bad_data, runs_backwards(last_s - now), at_row);
    // The load was switched between the row before and this one.
    const double between_s = (now + last_s) / 2;
    if (r > 1) row_gaps_s.push_back(now - last_s);
    last_s = now;
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (kinds[i].kind == Kind::other || kinds[i].kind == Kind::time) continue;
      WW_ASSIGN(shown, value(i));
      if (!shown) continue;
      switch (kinds[i].kind) {
        case Kind::power: recording.columns[place[i]].polls.push_back({now, *shown}); break;
        case Kind::energy: recording.counters[place[i]].polls.push_back({now, *shown}); break;
        case Kind::meter: metered.push_back({now, *shown}); break;
        case Kind::meter_mean: meter_means.push_back({now, *shown}); break;
        case Kind::meter_energy: meter_energy.polls.push_back({now, *shown}); break;
        case Kind::load:
          if ((*shown != 0) != (last_load != 0)) recording.switches.push_back(between_s);
          last_load = *shown;
          break;
        case Kind::time:
        case Kind::other: break;
      }
    }
  }
  WW_TRY(require_one_device(recording.columns, source));
  recording.zero_s = first_s.value_or(0);
  if (!recording.switches.empty()) recording.switches_known_to_s = median(std::move(row_gaps_s));
  // The better of what the meter gives: joules leave nothing out.
  recording.meter = mean_power(meter_energy);
  if (recording.meter.empty()) recording.meter = mean_power(summed(meter_means));
  if (recording.meter.empty()) recording.meter = series_of(metered);
  return recording;
}

}  // namespace ww::measure
