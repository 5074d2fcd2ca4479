#include "sweep/sweep_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_map>

#include "values/names.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

constexpr std::size_t kMaxDrawn = 2000;  // points beside the front
constexpr std::size_t kMaxNames = 24;    // below an axis
constexpr std::size_t kMaxEffectBars = 30;

struct Mean {
  double sum{};
  std::size_t points{};  // of the cell
  std::size_t values{};  // that have one
};

// Values of an axis as they first occur, or in order where all are numbers.
struct Levels {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> places;  // of the names
  std::vector<double> at;                               // along x
  bool numbers{true};
};

Levels levels_along(const sweep::Table& table, std::size_t axis) {
  Levels levels;
  for (const auto& row : table.rows) {
    const auto& text = row.settings[axis];
    if (!levels.places.try_emplace(text, levels.names.size()).second) continue;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    levels.numbers = levels.numbers && !text.empty() && *end == '\0' && std::isfinite(value);
    levels.names.push_back(text);
    levels.at.push_back(value);
  }
  if (!levels.numbers) {
    for (std::size_t i = 0; i < levels.at.size(); ++i) levels.at[i] = static_cast<double>(i);
  }
  return levels;
}

std::string axes_text(const SweepView& view, const std::vector<std::size_t>& axes) {
  std::string text;
  for (const auto axis : axes) text += (text.empty() ? "" : " and ") + view.table.settings[axis];
  return text;
}

std::vector<std::size_t> averaged_axes(const SweepView& view) {
  std::vector<std::size_t> rest;
  for (std::size_t axis = 0; axis < view.table.settings.size(); ++axis) {
    const bool used =
        axis == view.over.front() || std::ranges::find(view.by, axis) != view.by.end();
    if (!used && levels_along(view.table, axis).names.size() > 1) rest.push_back(axis);
  }
  return rest;
}

}  // namespace

Plot sweep_curves(const SweepView& view, std::size_t metric) {
  Plot plot;
  const std::string& name = view.table.metrics[metric];
  plot.y_label = metric_name(name);
  if (view.over.empty()) return plot;
  const auto over = view.over.front();
  const Levels levels = levels_along(view.table, over);
  plot.title = fmt::format("{} over {}", plain_name(name), view.table.settings[over]);
  plot.x_label = view.table.settings[over];
  if (!levels.numbers && levels.names.size() <= kMaxNames) plot.x_names = levels.names;
  std::vector<std::string> order;
  std::map<std::string, std::vector<Mean>> cells;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    const auto& row = view.table.rows[i];
    std::string name;
    for (const auto axis : view.by) {
      name += fmt::format("{}{}={}", name.empty() ? "" : ", ", view.table.settings[axis],
                          row.settings[axis]);
    }
    const auto [at, fresh] = cells.try_emplace(name, levels.names.size());
    if (fresh) order.push_back(name);
    Mean& cell = at->second[levels.places.at(row.settings[over])];
    ++cell.points;
    if (!view.settled[i] || !row.metrics[metric]) continue;
    ++cell.values;
    cell.sum += *row.metrics[metric];
  }
  for (const auto& name : order) {
    Series series{name, static_cast<int>(plot.series.size() % 8) + 1, {}, true, 3, true};
    const auto& means = cells.at(name);
    for (std::size_t i = 0; i < means.size(); ++i) {
      if (means[i].points == 0) continue;
      if (means[i].values < means[i].points) {
        ++left_out;
        continue;
      }
      series.dots.push_back(
          {levels.at[i], means[i].sum / static_cast<double>(means[i].values), 0, {}});
    }
    std::ranges::sort(series.dots, {}, &Dot::x);
    plot.series.push_back(std::move(series));
  }
  const auto rest = averaged_axes(view);
  plot.description = fmt::format("{} along {}", plot.y_label, plot.x_label);
  if (!view.by.empty()) plot.description += ", for each " + axes_text(view, view.by);
  plot.description += rest.empty() ? "." : fmt::format("; means over {}.", axes_text(view, rest));
  if (left_out > 0) {
    plot.description +=
        fmt::format(" {} left out: a point of theirs has no result, or its network is not stable.",
                    left_out == 1 ? "One is" : fmt::format("{} are", left_out));
  }
  return plot;
}

Plot front_plot(const SweepView& view) {
  Plot plot;
  const auto x = view.column(view.goals[0].metric);
  const auto y = view.goals.size() > 1 ? view.column(view.goals[1].metric) : x;
  plot.title = "Pareto front";
  plot.x_label = metric_name(view.table.metrics[x]);
  plot.y_label = metric_name(view.table.metrics[y]);
  Series all{"other points", 5, {}, false, 2};
  Series front{"front", 1, {}, true, 4, true};
  const auto dot = [&](std::size_t row) {
    const auto& of = view.table.rows[row];
    return Dot{*of.metrics[x], *of.metrics[y], 0, settings_text(view.table, of)};
  };
  std::vector<bool> on_front(view.table.rows.size());
  for (const auto row : view.front) {
    on_front[row] = true;
    front.dots.push_back(dot(row));
  }
  std::ranges::sort(front.dots, {}, &Dot::x);
  std::vector<std::size_t> others;
  for (std::size_t row = 0; row < view.table.rows.size(); ++row) {
    const auto& metrics = view.table.rows[row].metrics;
    if (!on_front[row] && view.settled[row] && metrics[x] && metrics[y]) others.push_back(row);
  }
  const std::size_t step = others.size() / kMaxDrawn + 1;
  for (std::size_t i = 0; i < others.size(); i += step) all.dots.push_back(dot(others[i]));
  plot.description = "Points that no other point beats";
  for (const auto& goal : view.goals) {
    plot.description += fmt::format("{} {} {}", &goal == &view.goals.front() ? ":" : ",",
                                    goal.largest ? "large" : "small", plain_name(goal.metric));
  }
  plot.description += ".";
  if (step > 1) {
    plot.description += fmt::format(" One of every {} of the other points is drawn.", step);
  }
  plot.series = {std::move(all), std::move(front)};
  return plot;
}

std::vector<MetricEffects> effects_of(const SweepView& view) {
  std::vector<MetricEffects> all;
  const auto table = view.settled_table();
  for (std::size_t metric = 0; metric < view.shown; ++metric) {
    auto effects = sweep::sensitivity(table, metric);
    std::erase_if(effects, [](const auto& effect) { return !effect.share; });
    if (!effects.empty()) all.push_back({table.metrics[metric], std::move(effects)});
  }
  return all;
}

BarChart effect_bars(const std::vector<MetricEffects>& all) {
  BarChart chart;
  chart.title = "What each axis explains";
  chart.description =
      "Share of a metric's variance that an axis explains by itself, the others averaged over; "
      "what "
      "is missing to 100 % axes explain together.";
  chart.unit = "%";
  chart.legend = {"share of the variance"};
  for (const auto& one : all) {
    for (const auto& effect : one.effects) {
      if (chart.bars.size() >= kMaxEffectBars) return chart;
      chart.bars.push_back({fmt::format("{}: {}", plain_name(one.metric), effect.axis),
                            {100 * effect.share.value_or(0)},
                            {},
                            {},
                            {}});
    }
  }
  return chart;
}

Plot parts_plot(const SweepView& view, const sweep::PartVariation& variation) {
  Plot plot;
  plot.title = "Part to part";
  plot.description = fmt::format(
      "{} of every part with its 95% interval; lines: the mean over such parts and its interval.",
      view.parts_metric);
  plot.y_label = metric_name(view.parts_metric);
  plot.x_label = axes_text(view, [&] {
    std::vector<std::size_t> axes(view.table.settings.size());
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = i;
    return axes;
  }());
  Series parts{"parts", 1, {}, false, 4};
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const auto& part = view.parts[i];
    parts.dots.push_back({static_cast<double>(i), part.value, (part.high - part.low) / 2,
                          fmt::format("{}: {} ({})", part.name, figure_text(part.value),
                                      interval_text(part.low, part.high))});
    if (view.parts.size() <= kMaxNames) plot.x_names.push_back(part.name);
  }
  const auto level = [&](const char* name, int colour, double at) {
    const auto last = static_cast<double>(view.parts.size()) - 1;
    return Series{name, colour, {{-0.4, at, 0, {}}, {last + 0.4, at, 0, {}}}, true};
  };
  plot.series = {std::move(parts), level("mean", 4, variation.mean),
                 level("95% low", 5, variation.mean_low),
                 level("95% high", 5, variation.mean_high)};
  return plot;
}

}  // namespace ww::report
