#include "drawing/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "values/values.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 800;  // of the power trace; each shows its lowest and highest
constexpr std::size_t kMaxDots = 700;
constexpr double kSessionGapS = 5;

int kind_colour(const std::string& kind) {
  if (kind == "stream") return 1;
  if (kind == "idle" || kind == "cooldown") return 2;
  if (kind == "heat") return 4;
  return 3;
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
  for (const json& row : list_of(model, "plateaus")) {
    if (!row.value("used", false)) continue;
    const double offset = offset_s[row.value("session", std::int64_t{0})];
    plot.bands.push_back({offset + number_of(row, "start_s"), offset + number_of(row, "end_s"),
                          kind_colour(text_of(row, "kind"))});
  }
  plot.series.push_back(std::move(trace));
  // Series without points of their own, for the legend.
  plot.series.push_back({"stream plateau", 1, {}, false, 4});
  plot.series.push_back({"idle, cool-down", 2, {}, false, 4});
  plot.series.push_back({"heat", 4, {}, false, 4});
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
    series.name = states.size() > 1 ? fmt::format("state {}", state) : "idle and cool-down";
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
      "Short against long path", "L2 quadrant", "dynamic power [W]",
      "Dynamic power of the nearest and the farthest shader engine of each L2 quadrant, random "
      "payload, idle power at the same temperature taken off. Every dot is one plateau.");
  const json& rows = list_of(model, "plateaus");
  const int throttle = reference_throttle(rows);
  struct Row {
    double distance, dynamic;
    int engine;
  };
  std::map<int, std::vector<Row>> quadrants;
  for (const json& row : rows) {
    if (!row.value("used", false) || text_of(row, "kind") != "stream" ||
        text_of(row, "pattern") != "random" || row.value("throttle", 0) != throttle) {
      continue;
    }
    quadrants[row.value("quadrant", 0)].push_back(
        {number_of(row, in_unit(model, "distance").c_str()), number_of(row, "dynamic_w"),
         row.value("engine", 0)});
  }
  Series near{"short path", 2, {}, false, 3.5};
  Series far{"long path", 1, {}, false, 3.5};
  double place = 0;
  for (const auto& [quadrant, members] : quadrants) {
    const auto closer = [](const Row& a, const Row& b) { return a.distance < b.distance; };
    const double low = std::min_element(members.begin(), members.end(), closer)->distance;
    const double high = std::max_element(members.begin(), members.end(), closer)->distance;
    for (const Row& row : members) {
      const std::string hint =
          fmt::format("engine {} to quadrant {}: {:.1f} {}, {:.2f} W", row.engine, quadrant,
                      row.distance, distance_unit(model), row.dynamic);
      if (row.distance == low) near.dots.push_back({place - 0.06, row.dynamic, 0, hint});
      if (row.distance == high) far.dots.push_back({place + 0.06, row.dynamic, 0, hint});
    }
    plot.x_names.push_back(fmt::format("quadrant {}", quadrant));
    place += 1;
  }
  plot.series = {std::move(near), std::move(far)};
  return plot;
}

Plot energy_against_distance(const json& model) {
  Plot plot = empty_plot(
      "Energy against distance",
      fmt::format("distance beyond engine and quadrant means [{}]", distance_unit(model)),
      "energy beyond means [fJ/bit]",
      fmt::format(
          "Energy per bit of every engine and quadrant pair beyond what its engine and its "
          "quadrant explain, against its distance beyond theirs. The slope is the energy per "
          "bit and {}; the line is the fit for random payload.",
          distance_unit(model)));
  plot.zero_line = true;
  const json& pairs = list_of(model, "pairs");
  const int throttle = reference_throttle(pairs);
  std::map<std::string, Series> series;
  double low = 0;
  double high = 0;
  for (const json& pair : pairs) {
    const std::string pattern = text_of(pair, "pattern");
    if (pair.value("throttle", 0) != throttle) continue;
    const double x = number_of(pair, in_unit(model, "centred_distance").c_str());
    low = std::min(low, x);
    high = std::max(high, x);
    series[pattern].dots.push_back(
        {x, number_of(pair, "energy_fj_per_bit"), 2 * number_of(pair, "error_fj_per_bit"),
         fmt::format("{}: engine {} to quadrant {}, {:.1f} {}", pattern, pair.value("engine", 0),
                     pair.value("quadrant", 0), number_of(pair, in_unit(model, "distance").c_str()),
                     distance_unit(model))});
  }
  int colour = 2;
  for (auto& [pattern, member] : series) {
    member.name = pattern;
    member.colour = pattern == "random" ? 1 : std::min(4, colour++);
    member.radius = 3;
    plot.series.push_back(std::move(member));
  }
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
    series[name].dots.push_back(
        {place, number_of(row, "power_w") - number_of(row, "fitted_w"), 0,
         fmt::format("{}: engine {}, quadrant {}, block {}", name, row.value("engine", 0),
                     row.value("quadrant", 0), row.value("block", std::int64_t{0}))});
  }
  int colour = 1;
  for (auto& [name, member] : series) {
    member.name = name;
    member.colour = std::min(5, colour++);
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
