// IISWC'16, section V, from a calibration of the virtual W9100.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "iiswc16/iiswc16.hpp"
#include "ww/core/figure.hpp"
#include "ww/model/technology.hpp"

namespace ww::study::iiswc16 {
namespace {

using nlohmann::json;

constexpr const char* kNotRun = "this campaign does not run it";

std::optional<double> number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// A result that the virtual chip's ledger forces: it can fail, but passing proves nothing.
const char* forced_when(bool holds) {
  return holds ? kByConstruction : kDiffers;
}

// The clock state that the figures hold for: the fastest that was heated.
int reference_state(const json& model) {
  int state = 0;
  for (const json& pair : model.value("pairs", json::array())) {
    state = std::max(state, pair.value("dvfs_state", 0));
  }
  return state;
}

// Slope of energy on distance for one payload and rate, and how straight it is.
struct Line {
  double slope{};
  double r_squared{};
  std::size_t points{};
};

using Variant = std::pair<std::string, int>;

std::map<Variant, Line> lines_of(const json& model) {
  struct Sums {
    double ed{}, dd{}, ee{};
    std::size_t points{};
  };
  std::map<Variant, Sums> sums;
  const int reference = reference_state(model);
  for (const json& pair : model.value("pairs", json::array())) {
    if (pair.value("dvfs_state", reference) != reference) continue;
    auto& sum = sums[{pair.value("pattern", ""), pair.value("throttle", 0)}];
    const double d = pair.value("centred_distance_mm", 0.0);
    const double e = pair.value("energy_fj_per_bit", 0.0);
    sum.ed += e * d;
    sum.dd += d * d;
    sum.ee += e * e;
    ++sum.points;
  }
  std::map<Variant, Line> lines;
  for (const auto& [variant, sum] : sums) {
    if (!(sum.dd > 0) || !(sum.ee > 0)) continue;
    lines[variant] = {sum.ed / sum.dd, sum.ed * sum.ed / (sum.dd * sum.ee), sum.points};
  }
  return lines;
}

// Mean bits a second of the plateaus that were used.
std::map<Variant, double> rates_of(const json& model) {
  std::map<Variant, std::pair<double, int>> sums;
  for (const json& row : model.value("plateaus", json::array())) {
    if (row.value("kind", "") != "stream" || !row.value("used", false)) continue;
    auto& sum = sums[{row.value("pattern", ""), row.value("throttle", 0)}];
    sum.first += row.value("bits_per_second", 0.0);
    ++sum.second;
  }
  std::map<Variant, double> rates;
  for (const auto& [variant, sum] : sums) rates[variant] = sum.first / sum.second;
  return rates;
}

void add_tables(Reproduction& out, const json& model, const sim::gpu::Architecture& sheet) {
  const auto chip = [&](const char* quantity, double paper, double ours, const char* unit) {
    out.add({"Table I", quantity, paper, ours, unit, paper == ours ? kByConstruction : kDiffers,
             "read from the virtual chip, which is set after the table"});
  };
  chip("compute units", 44, sheet.compute_units(), "");
  chip("compute units a shader engine", 11, sheet.cus_per_engine, "");
  chip("core clock", 930,
       sheet.dvfs.empty()
           ? 0
           : sheet.dvfs[static_cast<std::size_t>(sheet.reference_state)].clock_hz * 1e-6,
       "MHz");
  chip("L1 a compute unit", 16, static_cast<double>(sheet.l1_bytes) / 1024, "KiB");
  chip("L2", 1024, static_cast<double>(sheet.l2_bytes) / 1024, "KiB");
  chip("L2 partitions", 16, sheet.l2_channels, "");
  const json distances = model.value("distances", json::object());
  double sum = 0;
  int pairs = 0;
  for (const json& row : distances.value("engine_to_quadrant_mm", json::array())) {
    for (const json& distance : row) {
      if (!distance.is_number()) continue;
      sum += distance.get<double>();
      ++pairs;
    }
  }
  const auto distance = [&](const char* quantity, double paper, std::optional<double> ours) {
    const bool near = ours && std::abs(*ours - paper) <= 0.05 * paper;
    out.add({"Table II", quantity, paper, or_null(ours), "mm",
             ours ? forced_when(near) : kUnavailable,
             "the published floorplan was placed so that these distances come out"});
  };
  distance("registers to L1", 3.5, number(distances, "registers_to_l1_mm"));
  distance("L1 to L2", 10.5, pairs > 0 ? std::optional(sum / pairs) : std::nullopt);
  distance("L2 to memory controller", 11.5, number(distances, "l2_to_memory_mm"));
}

void add_idle(Reproduction& out, const json& model) {
  for (const json& curve : model.value("idle", json::array())) {
    const auto rms = number(curve, "rms_w");
    const json coefficients = curve.value("coefficients_w", json::array());
    if (!rms || coefficients.size() != 4 || !coefficients[1].is_number()) continue;
    const double low = number(curve, "low_c").value_or(0);
    const double high = number(curve, "high_c").value_or(0);
    // A cubic shows itself by what it has beyond a straight line over the temperatures visited.
    const double half_range = (high - low) / 20;  // in the polynomial's unit of 10 K
    const double bend = std::abs(coefficients[2].get<double>()) * half_range * half_range +
                        std::abs(coefficients[3].get<double>()) * std::pow(half_range, 3);
    const double swing = coefficients[1].get<double>() / 10 * (high - low);
    const bool fits = *rms < 0.02 * std::abs(swing) + 0.02;
    const bool straight = bend < *rms;
    out.add({"Fig. 4",
             fmt::format("idle power against temperature, state {}", curve.value("dvfs_state", 0)),
             "cubic",
             fmt::format("cubic, {:.3g} W/K at {:.0f} C, rms {:.2g} W",
                         coefficients[1].get<double>() / 10,
                         number(curve, "reference_c").value_or(0), *rms),
             "", fits && straight ? kVacuous : matches_when(fits),
             fmt::format(
                 "{:.1f} to {:.1f} C; beyond a straight line the curve bends by {:.2g} W{}; the "
                 "paper's values are in a picture alone",
                 low, high, bend, straight ? ", less than its rms: any smooth curve fits" : "")});
  }
}

void add_distance(Reproduction& out, const json& model, const std::map<Variant, Line>& lines,
                  const std::map<Variant, double>& rates) {
  const json paths = model.value("paths", json::object());
  out.add({"Fig. 5a", "long over short path, chip dynamic power", 5.0,
           or_null(number(paths, "long_over_short_percent")), "%", kByConstruction,
           "the virtual chip's events are scaled so that a stream takes some 80 W and 4 W more on "
           "the long path"});
  const auto random = lines.find({"random", 0});
  if (random == lines.end()) {
    out.add({"Fig. 5b", "linear in distance (R2)", "linear", nullptr, "", kUnavailable, kNotRun});
    return;
  }
  out.add({"Fig. 5b", "energy against distance, R2", "linear", random->second.r_squared, "",
           forced_when(random->second.r_squared >= 0.99),
           fmt::format("the chip's energy is linear in length; {} pairs of engine and quadrant, "
                       "offsets of both taken out; the paper has "
                       "three points",
                       random->second.points)});
  std::map<double, std::pair<double, int>> by_distance;
  const int reference = reference_state(model);
  for (const json& pair : model.value("pairs", json::array())) {
    if (pair.value("pattern", "") != "random" || pair.value("throttle", 0) != 0 ||
        pair.value("dvfs_state", reference) != reference) {
      continue;
    }
    const double mm = std::round(pair.value("distance_mm", 0.0) * 100) / 100;
    by_distance[mm].first += pair.value("energy_fj_per_bit", 0.0);
    ++by_distance[mm].second;
  }
  json points = json::array();
  if (!by_distance.empty()) {
    const double nearest = by_distance.begin()->second.first / by_distance.begin()->second.second;
    for (const auto& [mm, sum] : by_distance) {
      points.push_back(
          {{"x", mm}, {"y", (sum.first / sum.second - nearest) * 1e-15 * rates.at({"random", 0})}});
    }
  }
  out.charts.push_back(
      {{"title", "Fig. 5b: interconnect power against distance"},
       {"description", "Random payload, saturated; power beyond the nearest pair."},
       {"x_label", "distance of engine and quadrant [mm]"},
       {"y_label", "power [W]"},
       {"lines", json::array({{{"name", "virtual W9100"}, {"points", points}}})}});
  const auto value = number(model.value("energy_fj_per_bit_mm", json::object()), "value");
  const auto volt = number(model.value("reference", json::object()), "voltage_v");
  if (!value || !volt) return;
  for (const auto& source : model::wire_sources()) {
    const bool keckler = source.name.starts_with("Keckler");
    if (!keckler && !source.name.starts_with("DARPA")) continue;
    const double ratio = *volt / source.voltage_v;
    const double scaled = source.per_random_bit() * ratio * ratio;
    out.add({"section V.A", fmt::format("energy per bit and mm against {}", source.name),
             keckler ? "within 10%" : "within 15%", 100 * (*value / scaled - 1), "%",
             keckler                                 ? kByConstruction
             : std::abs(*value / scaled - 1) <= 0.15 ? kMatches
                                                     : kDiffers,
             fmt::format("ours {:.4g}, the estimate scaled with V^2 {:.4g} fJ/bit/mm; the chip's "
                         "wires were set near Keckler's; the paper scales with factors "
                         "that it does not state",
                         *value, scaled)});
  }
}

double x_of(const json& point) {
  return point.at("x").get<double>();
}

bool is_left_of(const json& a, const json& b) {
  return x_of(a) < x_of(b);
}

void add_toggles(Reproduction& out, const std::map<Variant, Line>& lines) {
  const auto random = lines.find({"random", 0});
  const auto of = [&](const char* pattern) -> std::optional<double> {
    const auto found = lines.find({pattern, 0});
    if (found == lines.end() || random == lines.end()) return std::nullopt;
    return 100 * found->second.slope / random->second.slope;
  };
  json bars = json::array();
  for (const char* pattern : {"zeros", "ones", "aa", "half_random", "random"}) {
    if (const auto value = of(pattern)) bars.push_back({{"name", pattern}, {"parts", {*value}}});
  }
  out.charts.push_back({{"title", "Fig. 7: payload and interconnect power"},
                        {"description", "Energy per bit and millimetre, relative to random data."},
                        {"unit", "%"},
                        {"legend", {"virtual W9100"}},
                        {"bars", bars}});
  for (const char* pattern : {"zeros", "ones"}) {
    const auto value = of(pattern);
    out.add({"Fig. 7a", fmt::format("{} relative to random data", pattern), "about 10",
             or_null(value), "%", value ? kByConstruction : kUnavailable,
             value ? "how often the arbiter lets go of a bus was set after this figure" : kNotRun});
  }
  const auto zeros = of("zeros");
  const auto ones = of("ones");
  const auto aa = of("aa");
  if (zeros && ones && aa) {
    const bool same = *aa > *zeros && *zeros > *ones && *ones > -5;
    out.add({"Fig. 7a", "order of payloads without toggles", "As > zeros > ones",
             fmt::format("As {:.1f}, zeros {:.1f}, ones {:.1f}", *aa, *zeros, *ones), "%",
             matches_when(same),
             "a parked bus rests at ones: zeros switch it whole, 0xAA pays for quiet neighbours"});
  } else {
    out.add({"Fig. 7a", "order of payloads without toggles", "As > zeros > ones", nullptr, "",
             kUnavailable, kNotRun});
  }
  const auto half = of("half_random");
  if (zeros && half) {
    const double straight = (*zeros + 100) / 2;
    out.add({"Fig. 7b", "half-random data (25%) between zeros and random", "linear", *half, "%",
             forced_when(std::abs(*half - straight) < 5),
             fmt::format("the chip's energy is linear in toggles; {:.1f}% would lie on the line of "
                         "zeros and random data",
                         straight)});
  } else {
    out.add({"Fig. 7b", "linear in toggle rate", "linear", nullptr, "", kUnavailable, kNotRun});
  }
}

void add_dvfs(Reproduction& out, const json& model) {
  // Interconnect power at full rate is energy times clock; a line through the origin.
  double xy = 0;
  double xx = 0;
  double yy = 0;
  std::size_t states = 0;
  json points = json::array();
  for (const json& state : model.value("states", json::array())) {
    const auto energy = number(state, "energy_fj_per_bit_mm");
    const auto volt = number(state, "voltage_v");
    const auto clock = number(state, "clock_hz");
    if (!energy || !volt || !clock) continue;
    const double x = *volt * *volt * *clock;
    const double y = *energy * *clock;
    xy += x * y;
    xx += x * x;
    yy += y * y;
    ++states;
    points.push_back({{"x", x * 1e-9}, {"y", y * 1e-12}});
  }
  if (states < 3) {
    out.add({"Fig. 8", "interconnect power against V^2 f", "linear", nullptr, "", kUnavailable,
             "this campaign streams in fewer than three clock states"});
    return;
  }
  const double residual = (yy - xy * xy / xx) / yy;
  out.add({"Fig. 8", "interconnect power against V^2 f, R2 of a line through the origin", "linear",
           1 - residual, "", forced_when(1 - residual >= 0.99),
           fmt::format("the chip's energy is proportional to V^2; {} clock states", states)});
  std::sort(points.begin(), points.end(), is_left_of);
  const double most = x_of(points.back());
  const json line =
      json::array({{{"x", 0}, {"y", 0}}, {{"x", most}, {"y", xy / xx * most * 1e-3}}});
  out.charts.push_back(
      {{"title", "Fig. 8: interconnect power against V^2 f"},
       {"description",
        "Power of a millimetre that carries a random bit in each cycle, in every clock state; the "
        "paper's is proportional to V^2 f."},
       {"x_label", "V^2 f [V^2 GHz]"},
       {"y_label", "power [mW for each mm and bit]"},
       {"lines", json::array({{{"name", "virtual W9100"}, {"points", points}},
                              {{"name", "proportional"}, {"points", line}}})}});
}

void add_bandwidth(Reproduction& out, const std::map<Variant, Line>& lines,
                   const std::map<Variant, double>& rates) {
  const auto full = lines.find({"random", 0});
  bool any = false;
  json points = json::array();
  json proportional = json::array({{{"x", 0}, {"y", 0}}});
  for (const auto& [variant, line] : lines) {
    if (variant.first != "random" || full == lines.end()) continue;
    const auto rate = rates.find(variant);
    const auto full_rate = rates.find({"random", 0});
    if (rate == rates.end() || full_rate == rates.end()) continue;
    const double bandwidth = rate->second / full_rate->second;
    const double power = line.slope / full->second.slope * bandwidth;
    points.push_back({{"x", 100 * bandwidth}, {"y", 100 * power}});
    if (variant.second == 0) continue;
    any = true;
    out.add({"Fig. 9",
             fmt::format("interconnect power at {:.0f}% of the bandwidth", 100 * bandwidth),
             fmt::format("about {:.0f}", 100 * bandwidth), 100 * power, "%",
             forced_when(std::abs(power / bandwidth - 1) < 0.1),
             "each bit costs the same on the chip: half the bandwidth, half the power"});
  }
  proportional.push_back({{"x", 100}, {"y", 100}});
  std::sort(points.begin(), points.end(), is_left_of);
  out.charts.push_back(
      {{"title", "Fig. 9: interconnect power against bandwidth"},
       {"description", "Random payload; the line is what the paper finds."},
       {"x_label", "share of the bandwidth [%]"},
       {"y_label", "share of the power [%]"},
       {"lines", json::array({{{"name", "virtual W9100"}, {"points", points}},
                              {{"name", "proportional"}, {"points", proportional}}})}});
  if (!any) {
    out.add({"Fig. 9", "interconnect power at half the bandwidth", "about 50", nullptr, "%",
             kUnavailable, kNotRun});
  }
}

}  // namespace

void add_characterisation(Reproduction& out, const json& model,
                          const sim::gpu::Architecture& chip) {
  const auto lines = lines_of(model);
  const auto rates = rates_of(model);
  add_tables(out, model, chip);
  add_idle(out, model);
  add_distance(out, model, lines, rates);
  add_toggles(out, lines);
  add_dvfs(out, model);
  add_bandwidth(out, lines, rates);
}

}  // namespace ww::study::iiswc16
