#include "ww/model/segments_fit.hpp"
#include "ww/core/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "fit/segments/segments_registers.hpp"
#include "fit/solver/assumptions.hpp"
#include "fit/solver/core_voltage.hpp"
#include "fit/solver/reading_steps.hpp"
#include "ww/core/mean.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/model/regression.hpp"

namespace ww::model {
namespace {

using nlohmann::json;

struct Figures {
  Mean power_w, crossbar, memory;
};

// Power that a run would have drawn at another rate: rates differ by what distance does to latency,
// and power that does not go with the rate must not be taken for the wires'. A stream that waits
// between loads, as throttled ones do, still draws what busy CUs draw; one that begins late or ends
// early in its launch draws nothing meanwhile. `share` 0: the former, 1: all power above `idle_w`
// goes.
double power_at(double rate, const Figures& full, const Figures& slow, double idle_w = 0,
                double share = 0) {
  const double waiting = (full.power_w.value() - slow.power_w.value()) /
                         (full.crossbar.value() - slow.crossbar.value());
  const double all = (full.power_w.value() - idle_w) / full.crossbar.value();
  return full.power_w.value() +
         (waiting + share * (all - waiting)) * (rate - full.crossbar.value());
}

// Brings power to one voltage. Telemetry's steps are as large as what runs differ by, so each
// voltage is taken from the line of voltage over power. Returns by how much that raised differences
// of power, relative: the load line's part alone.
double to_one_voltage(std::vector<SegmentReading>& readings, double nominal_v) {
  Mean power, voltage, product, square;
  for (const auto& reading : readings) {
    if (!reading.voltage_v) return 0;
    power.add(reading.power_w);
    voltage.add(*reading.voltage_v);
  }
  if (readings.empty()) return 0;
  for (const auto& reading : readings) {
    const double off = reading.power_w - power.value();
    product.add(off * (*reading.voltage_v - voltage.value()));
    square.add(off * off);
  }
  if (!(square.value() > 0) || !(voltage.value() > 0)) return 0;
  const double v_per_w = product.value() / square.value();
  const double target = nominal_v > 0 ? nominal_v : voltage.value();
  for (auto& reading : readings) {
    const double here = voltage.value() + v_per_w * (reading.power_w - power.value());
    reading.power_w *= std::pow(target / here, kPowerExponent);
  }
  return -kPowerExponent * v_per_w * power.value() / voltage.value();
}

// Energy per bit against distance; `cell` has an offset of its own.
struct Line {
  double mm{};
  double j_per_bit{};
  std::size_t cell{};
};

// `droop`: what to_one_voltage() returned.
Figure slope_row(const std::string& name, const std::vector<Line>& lines, std::size_t cells,
                 double droop) {
  Figure row;
  row.name = name;
  row.unit = "fJ/bit/mm";
  const auto refuse = [&row](std::string reason) {
    row.status = RowStatus::not_identified;
    row.reason = std::move(reason);
    return row;
  };
  std::vector<Mean> mm(cells);
  for (const Line& line : lines) mm[line.cell].add(line.mm);
  double square = 0;
  for (const Line& line : lines) square += std::pow(line.mm - mm[line.cell].value(), 2);
  if (lines.size() < cells + 3 ||
      std::sqrt(square / static_cast<double>(lines.size())) < kMinSegmentContrastMm) {
    return refuse(fmt::format(
        "{} points at distances that differ by {:.2g} mm (sd); {:.2g} mm and "
        "{} points are needed",
        lines.size(), lines.empty() ? 0.0 : std::sqrt(square / static_cast<double>(lines.size())),
        kMinSegmentContrastMm, cells + 3));
  }
  std::vector<double> y;
  std::vector<Regressor> columns(cells);
  columns[0].name = "mm";
  for (const Line& line : lines) {
    y.push_back(line.j_per_bit * 1e15);
    columns[0].values.push_back(line.mm - mm[line.cell].value());
    for (std::size_t cell = 1; cell < cells; ++cell) {
      columns[cell].values.push_back(line.cell == cell ? 1.0 : 0.0);
    }
  }
  const auto fitted = regress(y, columns);
  if (!fitted) return refuse(fitted.error().message);
  const auto& slope = fitted->coefficients[1];
  const double heat = kMaxHeatShare / 2;
  const double value = slope.value * (1 - heat);
  const double droop_doubt = droop * kMaxExponentOff / kPowerExponent;
  const double half =
      std::hypot((slope.high - slope.low) / 2, heat * slope.value, droop_doubt * slope.value);
  if (slope.status != RowStatus::ok) return refuse(slope.reason);
  if (half > std::abs(value) / 2) {
    return refuse(
        fmt::format("{:.3g} fJ/bit/mm with a half-width of {:.3g}: points at one distance "
                    "differ by more than distance does",
                    value, half));
  }
  row.value = value;
  row.low = value - half;
  row.high = value + half;
  return row;
}

using FiguresByPoint = std::map<std::size_t, Figures>;  // by point

const Figures* figures_of(const FiguresByPoint& sums, const std::vector<SegmentPoint>& points,
                          const SegmentPoint& wanted) {
  const auto at = std::ranges::find(points, wanted);
  if (at == points.end()) return nullptr;
  const auto found = sums.find(static_cast<std::size_t>(at - points.begin()));
  return found == sums.end() ? nullptr : &found->second;
}

// One line for every engine and four of CUs: what makes a leg unlike others is equal for all
// quadrants, which therefore are no repetitions. Every engine is a cell.
std::vector<Line> legs_lines(const std::vector<SegmentPoint>& points, const FiguresByPoint& sums,
                             double idle_w, double share, std::size_t& cells) {
  struct Member {
    double mm{};
    const Figures* full{};
    const Figures* slow{};
  };
  std::map<int, std::map<std::vector<int>, std::map<int, Member>>> engines;  // quadrant, group
  for (const auto& point : points) {
    if (point.segment != "legs" || point.slow) continue;
    SegmentPoint other = point;
    other.slow = true;
    const Figures* full = figures_of(sums, points, point);
    const Figures* slow = figures_of(sums, points, other);
    if (full == nullptr || slow == nullptr) continue;
    engines[point.engine][point.channels][point.group] = {point.mm, full, slow};
  }
  std::vector<Line> lines;
  cells = 0;
  for (const auto& [engine, quadrants] : engines) {
    std::map<int, std::pair<Mean, Mean>> groups;  // mm, J per bit
    for (const auto& [channels, members] : quadrants) {
      Mean rate;
      for (const auto& [group, member] : members) rate.add(member.full->crossbar.value());
      for (const auto& [group, member] : members) {
        groups[group].first.add(member.mm);
        groups[group].second.add(power_at(rate.value(), *member.full, *member.slow, idle_w, share) /
                                 rate.value());
      }
    }
    if (groups.size() < 2) continue;
    for (const auto& [group, means] : groups) {
      lines.push_back({means.first.value(), means.second.value(), cells});
    }
    ++cells;
  }
  return lines;
}

std::vector<Line> memory_lines(const std::vector<SegmentPoint>& points,
                               const FiguresByPoint& sums) {
  std::vector<Line> lines;
  for (const auto& point : points) {
    if (!point.from_memory) continue;
    SegmentPoint full = point;
    full.from_memory = false;
    SegmentPoint slow = full;
    slow.slow = true;
    const Figures* far = figures_of(sums, points, point);
    const Figures* near = figures_of(sums, points, full);
    const Figures* nearer = figures_of(sums, points, slow);
    if (far == nullptr || near == nullptr || nearer == nullptr) continue;
    if (!(far->memory.value() > 0)) continue;
    const double held = power_at(far->crossbar.value(), *near, *nearer);
    lines.push_back({point.mm, (far->power_w.value() - held) / far->memory.value(), 0});
  }
  return lines;
}

// Between the two ways in which power may follow rate anything is as likely.
Figure legs_of(const std::vector<SegmentPoint>& points, const FiguresByPoint& sums,
               std::optional<double> idle_w, double droop) {
  const auto with = [&](double share) {
    std::size_t cells = 0;
    const auto lines = legs_lines(points, sums, idle_w.value_or(0), share, cells);
    return slope_row("legs", lines, std::max<std::size_t>(cells, 1), droop);
  };
  Figure row = with(idle_w ? 0.5 : 0);
  if (!idle_w || !row.value) return row;
  Figure waiting = with(0);
  if (!waiting.value) return waiting;
  const double doubt = kNormal95 * std::abs(*row.value - *waiting.value) / std::numbers::sqrt3;
  const double half = std::hypot(*row.high - *row.value, doubt);
  row.low = *row.value - half;
  row.high = *row.value + half;
  return row;
}

// Why the readings' voltages are not the die's; empty where they are, or where nobody looked.
std::string why_no_voltage(const std::vector<SegmentReading>& readings,
                           const SegmentSurroundings& surroundings) {
  if (!surroundings.voltage_step_v) return {};
  std::vector<LoadedVoltage> loaded;
  for (const SegmentReading& reading : readings) {
    if (!reading.voltage_v) return "no reading shows the core's voltage";
    loaded.push_back({reading.power_w, *reading.voltage_v});
  }
  if (surroundings.idle_w && surroundings.idle_voltage_v) {
    loaded.push_back({*surroundings.idle_w, *surroundings.idle_voltage_v});
  }
  return why_not_measured(loaded, *surroundings.voltage_step_v);
}

AssumedLoadLine load_line_of(const std::vector<SegmentReading>& readings, double nominal_v) {
  double most_amps = 0;
  for (const SegmentReading& reading : readings) {
    most_amps = std::max(most_amps, reading.power_w / nominal_v);
  }
  return assumed_load_line(most_amps, nominal_v);
}

// The voltages that a load line gives.
void assume_load_line(std::vector<SegmentReading>& readings, double nominal_v, double ohm) {
  for (SegmentReading& reading : readings) {
    reading.voltage_v = voltage_on_load_line(nominal_v, ohm, reading.power_w);
  }
}

// Adds to a row at the mean load line what the row at the steepest says.
void widen(Figure& mean, const Figure& steepest) {
  if (!mean.value || !mean.low || !mean.high) return;
  if (!steepest.value) {
    mean = steepest;
    return;
  }
  const double half = std::hypot(*mean.high - *mean.value, *mean.value - *steepest.value);
  mean.low = *mean.value - half;
  mean.high = *mean.value + half;
}

json row_json(const Figure& row) {
  json result = row;
  result["convention"] = "per_random_bit";
  return result;
}

SegmentsFit fit_once(const std::vector<SegmentPoint>& points, std::vector<SegmentReading> readings,
                     const SegmentSurroundings& surroundings) {
  const double droop = to_one_voltage(readings, surroundings.nominal_v);
  // Blocks drift: each reading less its block's mean.
  std::map<std::int64_t, Mean> blocks;
  Mean all;
  for (const auto& reading : readings) {
    blocks[reading.block].add(reading.power_w);
    all.add(reading.power_w);
  }
  FiguresByPoint sums;
  for (const auto& reading : readings) {
    Figures& figures = sums[reading.point];
    figures.power_w.add(reading.power_w - blocks[reading.block].value() + all.value());
    figures.crossbar.add(reading.crossbar_bits_per_s);
    figures.memory.add(reading.memory_bits_per_s);
  }
  SegmentsFit fit;
  fit.runs = static_cast<int>(readings.size());
  fit.legs = legs_of(points, sums, surroundings.idle_w, droop);
  fit.l2_memory = slope_row("l2_memory", memory_lines(points, sums), 1, droop);
  fit_registers(points, readings, droop, fit);
  return fit;
}

// Adds a variance to a row's interval, which may leave nothing that is worth a figure.
void widen(Figure& row, double variance) {
  if (!row.value || !row.low || !row.high || !(variance > 0)) return;
  const double half = std::hypot(*row.high - *row.value, kNormal95 * std::sqrt(variance));
  row.low = *row.value - half;
  row.high = *row.value + half;
  if (half <= std::abs(*row.value) / 2) return;
  row.status = RowStatus::not_identified;
  row.reason = fmt::format(
      "{:.3g} {} with a half-width of {:.3g}: no noise dithers the steps of the readings",
      *row.value, row.unit, half);
  row.value = row.low = row.high = std::nullopt;
}

// Fits, and widens the interval of registers-L1 by the rounding of the readings. Legs and channels
// need no such error: they are lines through points that round independently, so that the scatter
// shows it. Registers-L1 comes from six points that repeat block for block. Its error is the change
// of the result when a group of points that round alike moves by one step.
SegmentsFit fit_at_voltages(const std::vector<SegmentPoint>& points,
                            const std::vector<SegmentReading>& readings,
                            const SegmentSurroundings& surroundings) {
  SegmentsFit fit = fit_once(points, readings, surroundings);
  const double step_w = surroundings.power_step_w;
  Figure& row = fit.registers_l1_per_bit;
  if (!(step_w > 0) || !row.value) return fit;
  std::vector<SteadyPower> powers;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const SegmentReading& reading = readings[i];
    if (!reading.power_spread_w || points[reading.point].segment != "registers_l1") continue;
    powers.push_back({reading.point, reading.power_w, *reading.power_spread_w});
    at.push_back(i);
  }
  if (powers.empty()) return fit;
  double square = 0;
  for (const auto& group : round_alike(powers, step_w)) {
    auto moved = readings;
    for (const std::size_t i : group) moved[at[i]].power_w += step_w;
    const auto other = fit_once(points, std::move(moved), surroundings).registers_l1_per_bit.value;
    if (other) square += std::pow((*other - *row.value) / step_w, 2);
  }
  widen(row, rounding_variance(powers, step_w) * square);
  return fit;
}

}  // namespace

SegmentsFit fit_segments(const std::vector<SegmentPoint>& points,
                         std::vector<SegmentReading> readings,
                         const SegmentSurroundings& surroundings) {
  const double nominal_v = surroundings.nominal_v;
  std::string reason = why_no_voltage(readings, surroundings);
  if (reason.empty() || !(nominal_v > 0)) {
    return fit_at_voltages(points, readings, surroundings);
  }
  const AssumedLoadLine load_line = load_line_of(readings, nominal_v);
  const auto with = [&](double ohm) {
    assume_load_line(readings, nominal_v, ohm);
    return fit_at_voltages(points, readings, surroundings);
  };
  const SegmentsFit steepest = with(load_line.steepest_ohm);
  SegmentsFit fit = with(load_line.ohm);
  widen(fit.legs, steepest.legs);
  widen(fit.l2_memory, steepest.l2_memory);
  widen(fit.registers_l1, steepest.registers_l1);
  widen(fit.registers_l1_per_bit, steepest.registers_l1_per_bit);
  fit.no_voltage_reason = std::move(reason);
  return fit;
}

std::optional<Interval> registers_l1_absolute(const SegmentsFit& fit) {
  const Figure& row = fit.registers_l1_per_bit;
  if (!row.value || !row.low || !row.high) return std::nullopt;
  const double sensor = std::hypot(fit.gain_tolerance_95, fit.regulator_slope_tolerance_95);
  return Interval{*row.value, through_scale(*row.value, *row.value - *row.low, sensor).low,
                  through_scale(*row.value, *row.high - *row.value, sensor).high};
}

json to_json(const SegmentsFit& fit) {
  const RegistersDiagnostics& registers = fit.registers;
  json rows = json::array();
  for (const Figure* row :
       {&fit.legs, &fit.l2_memory, &fit.registers_l1, &fit.registers_l1_per_bit}) {
    rows.push_back(row_json(*row));
  }
  if (const auto absolute = registers_l1_absolute(fit)) {
    rows.back()["absolute_low"] = absolute->low;
    rows.back()["absolute_high"] = absolute->high;
  }
  return {
      {"segments", std::move(rows)},
      {"registers_l1_diagnostics",
       {{"readings", registers.readings},
        {"inflation", registers.inflation},
        {"condition", registers.condition},
        {"r_squared", registers.r_squared},
        {"any_data_fj_per_bit", registers.any_data_fj_per_bit},
        {"toggle_rate", registers.toggle_rate}}},
      {"device", fit.device},
      {"virtual", fit.is_virtual},
      {"gain_tolerance_95", fit.gain_tolerance_95},
      {"regulator_slope_tolerance_95", fit.regulator_slope_tolerance_95},
      {"voltage", {{"measured", fit.no_voltage_reason.empty()}, {"reason", fit.no_voltage_reason}}},
      {"runs", fit.runs},
      {"rejected", fit.rejected}};
}

}  // namespace ww::model
