#include "drawing/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "values/values.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 800;  // of the power trace; each shows its lowest and highest
constexpr std::size_t kMaxDots = 700;
constexpr double kSessionGapS = 5;

// Kinds of plateaus as the legend of the power trace names them.
struct PlateauKind {
  const char* name;
  int colour;
  std::vector<std::string_view> kinds;
};
const std::vector<PlateauKind>& plateau_kinds() {
  static const std::vector<PlateauKind> kKinds{
      {"stream", 1, {"stream"}},
      {"lock-in: short and long path in turns", 8, {"lock_in"}},
      {"idle, cool-down", 7, {"idle", "cooldown"}},
      {"heat, step test", 6, {"heat", "step_test"}}};
  return kKinds;
}

// One colour for each payload, in every chart of the page.
int payload_colour(const std::string& pattern) {
  static const std::map<std::string, int> kColours{{"random", 1},      {"zeros", 2},
                                                   {"half_random", 3}, {"uniform_lines", 4},
                                                   {"ones", 6},        {"aa", 7}};
  const auto found = kColours.find(pattern);
  return found == kColours.end() ? 8 : found->second;
}
constexpr int kThrottledColour = 5;  // of any payload: at rates below the fastest

// "930 MHz, 1.169 V"; "state 3" where neither model nor campaign has such a state.
std::string state_name(const json& model, int state) {
  const auto name_of = [](const json& one) {
    return fmt::format("{} MHz, {} V", figure_text(number_of(one, "clock_hz") / 1e6),
                       figure_text(number_of(one, "voltage_v")));
  };
  for (const json& one : list_of(model, "states")) {
    if (one.value("dvfs_state", -1) == state) return name_of(one);
  }
  const json& all = list_of(model, "clock_states");
  const auto at = static_cast<std::size_t>(std::max(state, 0));
  return state >= 0 && at < all.size() ? name_of(all[at]) : fmt::format("state {}", state);
}

// The clock state in which the answer was measured; -1 where the model has none.
int reference_state(const json& model) {
  const double clock_hz = number_of(object_of(model, "reference"), "clock_hz");
  for (const json& one : list_of(model, "states")) {
    if (number_of(one, "clock_hz") == clock_hz) return one.value("dvfs_state", -1);
  }
  return -1;
}

// The clock state at whose voltage a plateau was measured.
std::string state_at(const json& model, double voltage_v) {
  const json* nearest = nullptr;
  for (const json& one : list_of(model, "states")) {
    const auto off = [&](const json& state) {
      return std::abs(number_of(state, "voltage_v") - voltage_v);
    };
    if (nearest == nullptr || off(one) < off(*nearest)) nearest = &one;
  }
  return nearest == nullptr ? std::string() : state_name(model, nearest->value("dvfs_state", -1));
}

// Random payload at its fastest: the variant that the answer comes from.
int reference_throttle(const json& rows) {
  int throttle = std::numeric_limits<int>::max();
  for (const json& row : rows) {
    if (text_of(row, "pattern") == "random") {
      throttle = std::min(throttle, row.value("throttle", 0));
    }
  }
  return throttle;
}

Plot empty_plot(std::string title, std::string x_label, std::string y_label,
                std::string description) {
  Plot plot;
  plot.title = std::move(title);
  plot.description = std::move(description);
  plot.x_label = std::move(x_label);
  plot.y_label = std::move(y_label);
  return plot;
}

}  // namespace

Plot power_over_time(const json& model, const std::vector<StoredRun>& runs) {
  Plot plot = empty_plot(
      "Power over time", "time [s]", "power [W]",
      "Sensor power over the whole campaign; shaded spans are the plateaus that were averaged, "
      "after the sensor's delay and rise were cut off.");
  struct Point {
    double time_s, power_w;
  };
  std::vector<Point> points;
  std::map<std::int64_t, double> offset_s;  // where a session stands on the common axis
  double end_s = 0;
  std::size_t first = 0;
  while (first < runs.size()) {
    std::size_t last = first;
    while (last < runs.size() && runs[last].session == runs[first].session) ++last;
    std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
    for (std::size_t r = first; r < last; ++r) {
      for (const SensorReading& sample : runs[r].samples) {
        if (sample.power_uw) start_ns = std::min(start_ns, sample.time_ns);
      }
    }
    const double offset = first == 0 ? 0 : end_s + kSessionGapS;
    offset_s[runs[first].session] = offset;
    for (std::size_t r = first; r < last; ++r) {
      for (const SensorReading& sample : runs[r].samples) {
        if (!sample.power_uw) continue;
        const double time = offset + static_cast<double>(sample.time_ns - start_ns) * 1e-9;
        points.push_back({time, static_cast<double>(*sample.power_uw) * 1e-6});
        end_s = std::max(end_s, time);
      }
    }
    first = last;
  }
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.time_s < b.time_s; });
  Series trace;
  trace.line = true;
  trace.colour = 5;
  const std::size_t stride = std::max<std::size_t>(1, points.size() / kColumns);
  for (std::size_t i = 0; i < points.size(); i += stride) {
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), i + stride));
    const auto [low, high] =
        std::minmax_element(points.begin() + static_cast<std::ptrdiff_t>(i), end,
                            [](const Point& a, const Point& b) { return a.power_w < b.power_w; });
    const auto& earlier = low < high ? *low : *high;
    const auto& later = low < high ? *high : *low;
    trace.dots.push_back({earlier.time_s, earlier.power_w, 0, {}});
    if (stride > 1) trace.dots.push_back({later.time_s, later.power_w, 0, {}});
  }
  std::set<std::size_t> seen;
  for (const json& row : list_of(model, "plateaus")) {
    if (!row.value("used", false)) continue;
    const double offset = offset_s[row.value("session", std::int64_t{0})];
    const std::string kind = text_of(row, "kind");
    for (std::size_t k = 0; k < plateau_kinds().size(); ++k) {
      const PlateauKind& one = plateau_kinds()[k];
      if (std::ranges::find(one.kinds, kind) == one.kinds.end()) continue;
      seen.insert(k);
      plot.bands.push_back(
          {offset + number_of(row, "start_s"), offset + number_of(row, "end_s"), one.colour});
    }
  }
  plot.series.push_back(std::move(trace));
  // Series without points of their own, for the legend of the spans.
  for (const std::size_t k : seen) {
    plot.series.push_back({plateau_kinds()[k].name, plateau_kinds()[k].colour, {}, false, 4});
  }
  return plot;
}

Plot idle_against_temperature(const json& model) {
  Plot plot = empty_plot(
      "Idle power against temperature", "temperature [°C], reconstructed", "idle power [W]",
      "Idle power at the temperature reconstructed from power history, with the fitted cubic of "
      "each voltage and frequency state.");
  const json& points = list_of(model, "idle_points");
  const std::size_t stride = std::max<std::size_t>(1, points.size() / kMaxDots);
  std::map<int, Series> states;
  for (std::size_t i = 0; i < points.size(); i += stride) {
    const json& point = points[i];
    if (!point.is_array() || point.size() != 3 || !point[1].is_number() || !point[2].is_number()) {
      continue;
    }
    const int state = point[0].is_number() ? point[0].get<int>() : 0;
    states[state].dots.push_back({point[1].get<double>(), point[2].get<double>(), 0, {}});
  }
  for (auto& [state, series] : states) {
    series.colour = 1 + state % 4;
    series.radius = 1.8;
    series.name = states.size() > 1 ? state_name(model, state) : "idle and cool-down";
    plot.series.push_back(std::move(series));
  }
  for (const json& curve : list_of(model, "idle")) {
    Series line;
    line.line = true;
    line.colour = 5;
    const double low = number_of(curve, "low_c");
    const double high = number_of(curve, "high_c");
    const double reference = number_of(curve, "reference_c");
    const json& c = list_of(curve, "coefficients_w");
    for (int i = 0; i <= 60; ++i) {
      const double t = low + (high - low) * i / 60.0;
      double power = 0;
      double u = 1;
      for (const json& coefficient : c) {
        power += u * (coefficient.is_number() ? coefficient.get<double>() : 0);
        u *= (t - reference) / 10;
      }
      line.dots.push_back({t, power, 0, {}});
    }
    plot.series.push_back(std::move(line));
  }
  return plot;
}

Plot short_against_long(const json& model) {
  Plot plot = empty_plot(
      "Long path over short path", "L2 quadrant", "dynamic power beyond the short path [W]",
      "Dynamic power of the nearest and the farthest shader engine of each L2 quadrant, random "
      "payload, idle power at the same temperature taken off. Every dot is one plateau, less the "
      "mean of the quadrant's short path in the same clock state.");
  plot.zero_line = true;
  const json& rows = list_of(model, "plateaus");
  const int throttle = reference_throttle(rows);
  struct Row {
    double distance, dynamic;
    int engine;
  };
  // By clock state and quadrant.
  std::map<std::string, std::map<int, std::vector<Row>>> states;
  std::set<int> quadrants;
  for (const json& row : rows) {
    if (!row.value("used", false) || text_of(row, "kind") != "stream" ||
        text_of(row, "pattern") != "random" || row.value("throttle", 0) != throttle) {
      continue;
    }
    const int quadrant = row.value("quadrant", 0);
    quadrants.insert(quadrant);
    states[state_at(model, number_of(row, "voltage_v"))][quadrant].push_back(
        {number_of(row, in_unit(model, "distance").c_str()), number_of(row, "dynamic_w"),
         row.value("engine", 0)});
  }
  for (const int quadrant : quadrants) plot.x_names.push_back(fmt::format("quadrant {}", quadrant));
  constexpr std::array kNearColours{7, 8}, kFarColours{1, 3};
  std::size_t number = 0;
  for (const auto& [state, members_of] : states) {
    const std::string at = states.size() > 1 ? ", " + state : std::string();
    Series near{"short path" + at, kNearColours.at(number % kNearColours.size()), {}, false, 3.5};
    Series far{"long path" + at, kFarColours.at(number % kFarColours.size()), {}, false, 3.5};
    const double aside = 0.12 * static_cast<double>(number);
    for (const auto& [quadrant, members] : members_of) {
      const auto place =
          static_cast<double>(std::distance(quadrants.begin(), quadrants.find(quadrant))) + aside;
      const auto closer = [](const Row& a, const Row& b) { return a.distance < b.distance; };
      const double low = std::ranges::min_element(members, closer)->distance;
      const double high = std::ranges::max_element(members, closer)->distance;
      double sum = 0;
      int count = 0;
      for (const Row& row : members) {
        if (row.distance != low) continue;
        sum += row.dynamic;
        ++count;
      }
      for (const Row& row : members) {
        const Dot dot{place, row.dynamic - sum / count, 0,
                      fmt::format("engine {} to quadrant {}: {:.1f} {}, {:.2f} W{}", row.engine,
                                  quadrant, row.distance, distance_unit(model), row.dynamic, at)};
        if (row.distance == low) near.dots.push_back(dot);
        if (row.distance == high && high != low) far.dots.push_back(dot);
      }
    }
    plot.series.push_back(std::move(near));
    plot.series.push_back(std::move(far));
    ++number;
  }
  return plot;
}

Plot energy_against_distance(const json& model) {
  Plot plot = empty_plot(
      "Energy against distance",
      fmt::format("extra distance of the pair of engine and quadrant [{}]", distance_unit(model)),
      "extra energy of the pair [fJ/bit]",
      fmt::format(
          "Energy per bit of every engine and quadrant pair beyond what its engine and its "
          "quadrant explain, against its distance beyond theirs (the means over engines and over "
          "quadrants are taken off both). The slope is the energy per bit and {}; the line is the "
          "fit for random payload in the reference clock state. A lower voltage has a flatter one.",
          distance_unit(model)));
  plot.zero_line = true;
  const json& pairs = list_of(model, "pairs");
  const int throttle = reference_throttle(pairs);
  const int reference = reference_state(model);
  std::map<std::pair<std::string, int>, Series> series;  // by payload and clock state
  double low = 0;
  double high = 0;
  for (const json& pair : pairs) {
    const std::string pattern = text_of(pair, "pattern");
    if (pair.value("throttle", 0) != throttle) continue;
    const double x = number_of(pair, in_unit(model, "centred_distance").c_str());
    low = std::min(low, x);
    high = std::max(high, x);
    const int state = pair.value("dvfs_state", reference);
    Series& member = series[{pattern, state}];
    member.name = pattern;
    if (state != reference) member.name += ", " + state_name(model, state);
    member.colour = state == reference ? payload_colour(pattern) : kThrottledColour;
    member.radius = 3;
    member.dots.push_back(
        {x, number_of(pair, "energy_fj_per_bit"), 2 * number_of(pair, "error_fj_per_bit"),
         fmt::format("{}: engine {} to quadrant {}, {:.1f} {}", pattern, pair.value("engine", 0),
                     pair.value("quadrant", 0), number_of(pair, in_unit(model, "distance").c_str()),
                     distance_unit(model))});
  }
  for (auto& [key, member] : series) plot.series.push_back(std::move(member));
  const double k =
      number_of(object_of(model, in_unit(model, "energy_fj_per_bit").c_str()), "value");
  if (std::isfinite(k)) {
    plot.series.push_back({"", 5, {{low, k * low, 0, {}}, {high, k * high, 0, {}}}, true, 0});
  }
  return plot;
}

Plot residuals(const json& model) {
  Plot plot = empty_plot(
      "Residuals", "stream plateau, in the order of the campaign", "measured - fitted [W]",
      "Measured minus fitted power of every stream plateau in the order of the campaign.");
  plot.zero_line = true;
  std::map<std::string, Series> series;
  double place = 0;
  for (const json& row : list_of(model, "plateaus")) {
    if (!row.value("used", false) || text_of(row, "kind") != "stream") continue;
    place += 1;
    const int throttle = row.value("throttle", 0);
    const std::string name =
        text_of(row, "pattern") + (throttle > 0 ? fmt::format(", throttled {}", throttle) : "");
    series[name].colour = throttle > 0 ? kThrottledColour : payload_colour(text_of(row, "pattern"));
    series[name].dots.push_back(
        {place, number_of(row, "power_w") - number_of(row, "fitted_w"), 0,
         fmt::format("{}: engine {}, quadrant {}, block {}", name, row.value("engine", 0),
                     row.value("quadrant", 0), row.value("block", std::int64_t{0}))});
  }
  for (auto& [name, member] : series) {
    member.name = name;
    plot.series.push_back(std::move(member));
  }
  return plot;
}

Plot corrected_against_uncorrected(const json& model, const json& score) {
  Plot plot = empty_plot(
      "With and without temperature correction", "", "fJ/bit/" + distance_unit(model),
      "Energy per bit and distance as fitted, with its 95% intervals, beside the same fit with "
      "the temperature correction switched off.");
  plot.height = 260;
  plot.x_names = {"corrected, absolute interval", "corrected, sensed interval", "uncorrected"};
  const json energy = object_of(model, in_unit(model, "energy_fj_per_bit").c_str());
  const double value = number_of(energy, "value");
  Series fit{"", 1, {}, false, 5};
  fit.dots.push_back({0, value, (number_of(energy, "high") - number_of(energy, "low")) / 2, {}});
  fit.dots.push_back(
      {1, value, (number_of(energy, "sensed_high") - number_of(energy, "sensed_low")) / 2, {}});
  Series without{"", 4, {}, false, 5};
  without.dots.push_back(
      {2,
       number_of(object_of(model, "paths"), in_unit(model, "uncorrected_fj_per_bit").c_str()),
       0,
       {}});
  plot.series = {std::move(fit), std::move(without)};
  const double truth = number_of(score, "truth_fj_per_bit_mm");
  if (std::isfinite(truth) && distance_unit(model) == "mm") {
    plot.x_names.emplace_back("sealed truth");
    plot.series.push_back({"", 2, {{3, truth, 0, {}}}, false, 5});
  }
  return plot;
}

}  // namespace ww::report
