#include "ww/measure/step_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "quantile.hpp"
#include "ww/measure/update_period.hpp"

namespace ww::measure {
namespace {

struct Point {
  double time_s{};
  double value{};
};

struct Line {
  double at_zero{};
  double slope{};
  [[nodiscard]] double operator()(double t) const { return at_zero + slope * t; }
};

// Time between refreshes: the period that explains all changes, if one does (gaps between changes
// are multiples of the polls, not of the period); else, where every poll shows a new value or few
// do, a low quantile of the gaps between readings that changed, because two refreshes may by chance
// show the same value but never come early.
double refresh_period(std::span<const SensorReading> readings) {
  std::vector<PowerPoint> polls;
  for (const SensorReading& reading : readings) {
    if (!reading.power_uw) continue;
    polls.push_back({static_cast<double>(reading.time_ns) * 1e-9,
                     static_cast<double>(*reading.power_uw) * 1e-6});
  }
  if (const auto found = find_update_period(polls); found.resolved) return found.period_s;
  std::vector<double> gaps;
  std::optional<std::int64_t> last;
  for (const SensorReading& reading : readings) {
    if (!reading.changed || !reading.power_uw) continue;
    if (last && reading.time_ns > *last) {
      gaps.push_back(static_cast<double>(reading.time_ns - *last) * 1e-9);
    }
    last = reading.time_ns;
  }
  return gaps.empty() ? 0.0 : quantile(std::move(gaps), 0.2);
}

std::vector<Point> between(std::span<const SensorReading> readings, std::int64_t from_ns,
                           std::int64_t to_ns, std::int64_t zero_ns) {
  std::vector<Point> points;
  for (const SensorReading& reading : readings) {
    if (reading.time_ns < from_ns || reading.time_ns >= to_ns || !reading.power_uw) continue;
    points.push_back({static_cast<double>(reading.time_ns - zero_ns) * 1e-9,
                      static_cast<double>(*reading.power_uw) * 1e-6});
  }
  return points;
}

std::optional<Line> line_through(std::span<const Point> points) {
  if (points.size() < 2) return std::nullopt;
  double t = 0, v = 0;
  for (const Point& p : points) {
    t += p.time_s;
    v += p.value;
  }
  const auto n = static_cast<double>(points.size());
  t /= n;
  v /= n;
  double tt = 0, tv = 0;
  for (const Point& p : points) {
    tt += (p.time_s - t) * (p.time_s - t);
    tv += (p.time_s - t) * (p.value - v);
  }
  const double slope = tt > 0 ? tv / tt : 0.0;
  return Line{v - slope * t, slope};
}

double scatter(std::span<const Point> points, const Line& line) {
  double sum = 0;
  for (const Point& p : points) sum += (p.value - line(p.time_s)) * (p.value - line(p.time_s));
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(points.size(), 1)));
}

struct Edge {
  std::vector<Point> points;  // time since the switch, share of the step shown
  double length_s{};          // from the switch to the next one
  double step_w{};
  double noise_w{};
  bool settled{};  // the level after the switch hardly moves any more
};

// One switch at `at`, the level before it since `from`, the level after it until `to`.
std::optional<Edge> normalised(std::span<const SensorReading> readings, std::int64_t from,
                               std::int64_t at, std::int64_t to) {
  // The second half of each level has settled, unless the sensor is too slow for the test.
  const auto before = between(readings, from + (at - from) / 2, at, at);
  const auto after = between(readings, at, to, at);
  const auto settled = between(readings, at + (to - at) / 2, to, at);
  const auto low = line_through(before);
  const auto high = line_through(settled);
  if (!low || !high) return std::nullopt;
  const double step = (*high)(0.0) - (*low)(0.0);
  if (step == 0.0) return std::nullopt;
  Edge edge;
  // Heat moves a level by some percent; a sensor that still climbs moves by much of the step.
  const double middle_s = static_cast<double>(to - at) * 0.75e-9;
  const double moved = high->slope * static_cast<double>(to - at) * 1e-9;
  edge.settled = std::abs(moved) < 0.3 * std::abs((*high)(middle_s) - (*low)(0.0));
  edge.step_w = step;
  edge.noise_w = scatter(settled, *high);
  edge.length_s = static_cast<double>(to - at) * 1e-9;
  for (const Point& p : after) {
    // Heating moves the level after the switch, not the one before it.
    const double span = (*high)(p.time_s) - (*low)(0.0);
    if (span * step <= 0) continue;
    edge.points.push_back({p.time_s, (p.value - (*low)(0.0)) / span});
  }
  return edge;
}

// All edges laid over each other, averaged in bins of one period.
std::vector<Point> overlay(const std::vector<Edge>& edges, double bin_s) {
  std::vector<Point> all;
  for (const Edge& edge : edges) all.insert(all.end(), edge.points.begin(), edge.points.end());
  std::ranges::sort(all, {}, &Point::time_s);
  std::vector<Point> bins;
  for (std::size_t i = 0; i < all.size();) {
    // Compared by its number: the end of a bin, as a product, may round to the point's own time.
    const double bin = std::floor(all[i].time_s / bin_s);
    Point mean;
    std::size_t count = 0;
    for (; i < all.size() && std::floor(all[i].time_s / bin_s) == bin; ++i, ++count) {
      mean.time_s += all[i].time_s;
      mean.value += all[i].value;
    }
    bins.push_back(
        {mean.time_s / static_cast<double>(count), mean.value / static_cast<double>(count)});
  }
  return bins;
}

// Time at which the curve passes `level` for good, interpolated; also before the first bin.
std::optional<double> crossing(const std::vector<Point>& curve, double level) {
  Point previous;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const bool stays = i + 1 == curve.size() || curve[i + 1].value >= level;
    if (curve[i].value >= level && stays) {
      const double climb = curve[i].value - previous.value;
      const double share = climb > 0 ? (level - previous.value) / climb : 0.0;
      return previous.time_s + std::clamp(share, 0.0, 1.0) * (curve[i].time_s - previous.time_s);
    }
    if (curve[i].value < level) previous = curve[i];
  }
  return std::nullopt;
}

}  // namespace

Result<StepResponse> analyse_steps(std::span<const SensorReading> readings,
                                   std::span<const LoadStep> steps) {
  if (steps.empty()) return fail(ErrorCode::bad_data, "no load steps", "step test");
  if (std::ranges::none_of(readings, [](const auto& r) { return r.power_uw.has_value(); })) {
    return fail(ErrorCode::bad_data, "no power readings", "step test");
  }
  StepResponse response;
  response.period_s = refresh_period(readings);
  const auto unresolved = [&response](std::string why) {
    response.reason = std::move(why);
    return response;
  };
  if (response.period_s <= 0) return unresolved("the reading never changed");

  std::vector<Edge> edges;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LoadStep& step = steps[i];
    const std::int64_t length = step.off_ns - step.on_ns;
    const std::int64_t before = i == 0 ? step.on_ns - length : steps[i - 1].off_ns;
    const std::int64_t after = i + 1 == steps.size() ? step.off_ns + length : steps[i + 1].on_ns;
    if (auto edge = normalised(readings, before, step.on_ns, step.off_ns)) edges.push_back(*edge);
    if (auto edge = normalised(readings, step.on_ns, step.off_ns, after)) edges.push_back(*edge);
  }
  if (edges.empty()) return unresolved("no step has readings on both sides");

  double shortest_s = edges.front().length_s;
  for (const Edge& edge : edges) {
    response.step_w += std::abs(edge.step_w) / static_cast<double>(edges.size());
    response.noise_w += edge.noise_w / static_cast<double>(edges.size());
    shortest_s = std::min(shortest_s, edge.length_s);
  }
  double lowest_w = std::abs(edges.front().step_w), highest_w = lowest_w;
  for (const Edge& edge : edges) {
    lowest_w = std::min(lowest_w, std::abs(edge.step_w));
    highest_w = std::max(highest_w, std::abs(edge.step_w));
  }
  if (lowest_w < 0.5 * highest_w) {
    return unresolved("the steps differ in height: the reading does not follow the load");
  }
  const auto moving = std::ranges::count(edges, false, &Edge::settled);
  if (static_cast<std::size_t>(2 * moving) > edges.size()) {
    return unresolved("the reading still moves when the load switches back");
  }
  if (shortest_s < 8 * response.period_s) {
    return unresolved("the load switched too fast for the sensor's period");
  }
  if (response.step_w < 3 * response.noise_w) return unresolved("the step drowns in noise");

  const auto curve = overlay(edges, response.period_s);
  const auto t10 = crossing(curve, 0.1);
  const auto t90 = crossing(curve, 0.9);
  if (!t10 || !t90) return unresolved("the reading does not follow the load");

  // A moving average is a ramp: its ends by extrapolation from 10% and 90%.
  const double ramp = (*t90 - *t10) / 0.8;
  response.delay_s = std::max(0.0, *t10 - 0.1 * ramp);
  // A lag has a tail: the first moment from which a few bins together show the whole step.
  constexpr std::size_t together = 5;
  const double averaged = static_cast<double>(edges.size() * together);
  const double noise = response.noise_w / response.step_w / std::sqrt(averaged);
  const double tolerance = std::max(0.02, 4 * noise);
  double settled_s = shortest_s;
  for (std::size_t i = 0; i + together <= curve.size(); ++i) {
    if (curve[i].time_s < *t90) continue;
    double mean = 0;
    for (std::size_t j = i; j < i + together; ++j) mean += curve[j].value / together;
    if (std::abs(mean - 1) <= tolerance) {
      settled_s = std::max(*t90, i == 0 ? 0.0 : curve[i - 1].time_s);
      break;
    }
  }
  response.rise_s = std::max({ramp, settled_s - response.delay_s, response.period_s});
  if (response.delay_s + response.rise_s > 0.45 * shortest_s) {
    return unresolved("the sensor settles too slowly for this test; switch the load more slowly");
  }
  response.resolved = true;
  // 10% to 90% is 0.8 of a moving average's window, with 50% in its middle; of a lag it is ln 9 of
  // its time constants, with 50% a quarter of the way up.
  const auto t50 = crossing(curve, 0.5);
  const double climb_s = *t90 - *t10;
  if (t50 && climb_s > 2.4 * response.period_s) {
    constexpr double between_shapes = 0.38;  // 0.5 and 0.268
    response.lag = (*t50 - *t10) / climb_s < between_shapes;
    response.time_s = response.lag ? climb_s / std::log(9.0) : ramp;
  }
  return response;
}

}  // namespace ww::measure
