#include "fit/segments/segments_registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/solver/assumptions.hpp"
#include "ww/core/mean.hpp"
#include "ww/model/regression.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::model {
namespace {

constexpr double kFewestLanes = 16;  // take each of a load's bytes once

void refuse(Figure& row, std::string reason) {
  row.status = RowStatus::not_identified;
  row.reason = std::move(reason);
}

}  // namespace

void fit_registers(const std::vector<SegmentPoint>& points,
                   const std::vector<SegmentReading>& readings, double droop, SegmentsFit& fit) {
  Figure& per_mm = fit.registers_l1;
  per_mm.name = "registers_l1";
  per_mm.unit = "fJ/bit/mm";
  Figure& per_bit = fit.registers_l1_per_bit;
  per_bit.name = "registers_l1_per_bit";
  per_bit.unit = "fJ/bit";
  const auto refuse_both = [&](const std::string& reason) {
    refuse(per_mm, reason);
    refuse(per_bit, reason);
  };

  struct Visit {
    Mean power_w, rate;
  };
  std::map<std::pair<std::int64_t, std::size_t>, Visit> visits;  // block, point
  std::map<std::int64_t, Mean> blocks;
  Mean power_w, toggles, copies, mm, mm_square;
  double slowest = HUGE_VAL, fewest_toggles = HUGE_VAL;
  double fastest = 0, most_toggles = 0;
  for (const SegmentReading& reading : readings) {
    const SegmentPoint& point = points[reading.point];
    if (point.segment != "registers_l1") continue;
    Visit& visit = visits[{reading.block, reading.point}];
    visit.power_w.add(reading.power_w);
    visit.rate.add(reading.crossbar_bits_per_s);
    blocks[reading.block].add(reading.power_w);
    power_w.add(reading.power_w);
    slowest = std::min(slowest, reading.crossbar_bits_per_s);
    fastest = std::max(fastest, reading.crossbar_bits_per_s);
    copies.add(point.lanes / kFewestLanes);
    mm.add(point.mm);
    mm_square.add(point.mm * point.mm);
    if (point.ones) continue;
    const double toggle_rate = reading.toggle_rate.value_or(kRandomToggleRate);
    toggles.add(toggle_rate);
    fewest_toggles = std::min(fewest_toggles, toggle_rate);
    most_toggles = std::max(most_toggles, toggle_rate);
  }
  if (visits.empty() || toggles.count == 0) {
    return refuse_both("no runs into more and fewer registers; record them: --only registers_l1");
  }
  if (fastest > (1 + kMaxRatesDiffer) * slowest) {
    return refuse_both(
        fmt::format("rates of runs that should differ in registers alone differ by {:.1f}%",
                    100 * (fastest / slowest - 1)));
  }
  if (most_toggles > (1 + kMaxTogglesDiffer) * fewest_toggles) {
    return refuse_both(fmt::format(
        "lines of runs that should differ in registers alone toggle the wires before the L1 {:.3f} "
        "to {:.3f} a bit",
        fewest_toggles, most_toggles));
  }

  std::vector<double> y;
  std::vector<Regressor> columns{
      {"register bits", {}}, {"random", {}}, {"register bits of random data", {}}};
  for (const auto& [at, visit] : visits) {
    const SegmentPoint& point = points[at.second];
    // Blocks drift.
    const double watts = visit.power_w.value() - blocks[at.first].value() + power_w.value();
    const double bits = point.lanes / kFewestLanes - copies.value();
    const double random = point.ones ? -0.5 : 0.5;
    y.push_back(watts / visit.rate.value() * 1e15);
    columns[0].values.push_back(bits);
    columns[1].values.push_back(random);
    columns[2].values.push_back(bits * random);
  }
  const auto fitted = regress(y, columns);
  if (!fitted) return refuse_both(fitted.error().message);
  const auto& any = fitted->coefficients[1];
  const auto& sought = fitted->coefficients[3];
  fit.registers = {.readings = static_cast<int>(fitted->rows),
                   .inflation = sought.inflation,
                   .condition = fitted->condition,
                   .r_squared = fitted->r_squared,
                   .any_data_fj_per_bit = any.value - sought.value / 2,
                   .toggle_rate = toggles.value()};
  const double heat = kMaxHeatShare / 2;
  const double scale = kRandomToggleRate / toggles.value();
  const double value = sought.value * (1 - heat) * scale;
  const double half = std::hypot((sought.high - sought.low) / 2 * scale, heat * value,
                                 droop * kMaxExponentOff / kPowerExponent * value);
  if (sought.status != RowStatus::ok) {
    refuse(per_bit, sought.reason);
  } else if (half > std::abs(value) / 2) {
    refuse(per_bit, fmt::format("{:.3g} fJ/bit with a half-width of {:.3g}", value, half));
  } else {
    per_bit.value = value;
    per_bit.low = value - half;
    per_bit.high = value + half;
  }

  // Wire and register write take every bit equally: only ways of unequal length separate them.
  const double spread = std::sqrt(std::max(mm_square.value() - mm.value() * mm.value(), 0.0));
  std::string reason = fmt::format(
      "{} readings over ways that differ by {:.2g} mm (sd), and {:.2g} mm are needed: every bit "
      "that takes this way is also written to a register, and only unequal ways tell the two apart",
      visits.size(), spread < 1e-6 ? 0.0 : spread, kMinSegmentContrastMm);
  if (per_bit.high && mm.value() > 0) {
    reason += fmt::format("; at most {:.3g} fJ/bit/mm, if the {:.2g} mm of wire cost all of it",
                          *per_bit.high / mm.value(), mm.value());
  }
  refuse(per_mm, std::move(reason));
}

}  // namespace ww::model
