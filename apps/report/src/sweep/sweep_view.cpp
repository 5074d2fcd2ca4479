#include "sweep/sweep_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "values/values.hpp"
#include "ww/sweep/choices.hpp"

namespace ww::report {
namespace {

constexpr std::size_t kMaxFailures = 500;
constexpr std::size_t kMaxSeries = 8;      // that the page has colours for
constexpr std::size_t most_curves = 50;    // that were asked for
constexpr std::size_t kMaxLevels = 2'000;  // along x

std::size_t place(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

std::set<std::string> levels_of(const sweep::Table& table, std::size_t axis) {
  std::set<std::string> levels;
  for (const auto& row : table.rows) levels.insert(row.settings[axis]);
  return levels;
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value);
}

bool any_has(const sweep::Table& table, std::size_t metric) {
  return std::ranges::any_of(table.rows,
                             [&](const auto& row) { return row.metrics[metric].has_value(); });
}

Result<std::size_t> axis_of(const sweep::Table& table, const std::string& name) {
  const auto at = place(table.settings, name);
  if (at < table.settings.size()) return at;
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("is not an axis of this sweep; its axes are {}", fmt::join(table.settings, ", ")),
      name);
}

Status read_points(const sweep::Store& store, SweepView& view) {
  return store.each([&](sweep::StoredPoint&& point) -> Status {
    if (!point.host.empty()) view.hosts.insert(point.host);
    if (view.configuration.empty()) view.configuration = point.configuration;
    view.wall_s += point.wall_s.value_or(0);
    if (point.status == sweep::PointStatus::ok || view.failures.size() >= kMaxFailures) return {};
    view.failures.push_back(
        {point.index, std::string(sweep::to_string(point.status)), point.reason, {}});
    return {};
  });
}

// The table of all points, with what is shown and what goals need, and its marks.
Status read_table(const sweep::Store& store, const SweepOptions& options, SweepView& view) {
  WW_ASSIGN(axes, sweep::axes_of(store));
  auto metrics = options.metrics;
  if (metrics.empty()) {
    WW_ASSIGN(usual, sweep::usual_metrics(store));
    metrics = std::move(usual);
  }
  view.shown = metrics.size();
  for (const auto& goal : view.goals) {
    if (place(metrics, goal.metric) == metrics.size()) metrics.push_back(goal.metric);
  }
  WW_ASSIGN(marked, sweep::load_marked_table(store, std::move(axes), std::move(metrics)));
  view.table = std::move(marked.table);
  view.settled = std::move(marked.marks.settled);
  view.is_virtual = marked.marks.is_virtual;
  return {};
}

// Drops shown metrics that no point has; one that was asked for is an error.
Status keep_found_metrics(SweepView& view, const SweepOptions& options) {
  auto& table = view.table;
  for (std::size_t at = view.shown; at-- > 0;) {
    if (any_has(table, at)) continue;
    if (!options.metrics.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "no point has such a number among its results; 'wirewatt sweep show --csv' lists "
                  "them all",
                  table.metrics[at]);
    }
    const auto offset = static_cast<std::ptrdiff_t>(at);
    table.metrics.erase(table.metrics.begin() + offset);
    for (auto& row : table.rows) row.metrics.erase(row.metrics.begin() + offset);
    --view.shown;
  }
  return {};
}

Status find_front(SweepView& view, const SweepOptions& options) {
  for (const auto& goal : view.goals) {
    if (any_has(view.table, view.column(goal.metric))) continue;
    if (!options.pareto.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "no point has such a number among its results; 'wirewatt sweep show --csv' lists "
                  "them all",
                  goal.metric);
    }
    view.goals.clear();
    return {};
  }
  std::vector<std::size_t> columns;
  for (const auto& goal : view.goals) columns.push_back(view.column(goal.metric));
  if (columns.empty()) return {};
  view.front = sweep::settled_front(view.table, view.settled, view.goals, columns);
  return {};
}

Status find_parts(const sweep::Store& store, SweepView& view) {
  constexpr std::string_view tail = ".value";
  if (!sweep::are_parts(view.table.settings)) return {};
  for (std::size_t i = 0; i < view.shown; ++i) {
    const auto& metric = view.table.metrics[i];
    if (!metric.ends_with(tail)) continue;
    view.parts_metric = metric.substr(0, metric.size() - tail.size());
    WW_ASSIGN(parts, sweep::load_parts(store, view.table.settings, view.parts_metric));
    view.parts = std::move(parts);
    return {};
  }
  return {};
}

}  // namespace

std::size_t SweepView::column(const std::string& metric) const {
  return place(table.metrics, metric);
}

sweep::Table SweepView::settled_table() const {
  return sweep::settled_rows(table, settled);
}

std::string metric_text(const std::optional<double>& value) {
  return value ? figure_text(*value, 6) : "–";
}

std::string settings_text(const sweep::Table& table, const sweep::Row& row) {
  std::string text;
  for (std::size_t i = 0; i < table.settings.size(); ++i) {
    if (row.settings[i].empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", table.settings[i], row.settings[i]);
  }
  return text;
}

void choose_curves(SweepView& view, const std::vector<sweep::AxisEffect>& effects) {
  const auto& table = view.table;
  std::vector<std::set<std::string>> levels;
  for (std::size_t axis = 0; axis < table.settings.size(); ++axis) {
    levels.push_back(levels_of(table, axis));
  }
  if (view.over.empty()) {
    std::pair<bool, std::size_t> best{false, 1};  // numbers, how many
    for (std::size_t axis = 0; axis < levels.size(); ++axis) {
      if (std::ranges::find(view.by, axis) != view.by.end()) continue;
      const std::pair size{std::ranges::all_of(levels[axis], is_number), levels[axis].size()};
      if (size.second < 2 || size.second > kMaxLevels || size <= best) continue;
      best = size;
      view.over = {axis};
    }
  }
  if (view.over.empty() || !view.by.empty()) return;
  std::size_t combinations = 1;
  std::vector<std::size_t> others;
  for (std::size_t axis = 0; axis < levels.size(); ++axis) {
    if (axis == view.over.front() || levels[axis].size() < 2) continue;
    others.push_back(axis);
    combinations *= levels[axis].size();
  }
  if (combinations <= kMaxSeries) {
    view.by = others;
    return;
  }
  for (const auto& effect : effects) {
    const auto axis = place(table.settings, effect.axis);
    if (axis == view.over.front() || levels[axis].size() < 2) continue;
    if (levels[axis].size() > kMaxSeries) continue;
    view.by = {axis};
    return;
  }
}

Result<SweepView> read_sweep(const std::filesystem::path& folder, const SweepOptions& options) {
  SweepView view;
  WW_ASSIGN(store, sweep::Store::open(folder / "sweep.db"));
  WW_ASSIGN(facts, store.facts());
  view.facts = std::move(facts);
  WW_ASSIGN(counts, store.counts());
  view.counts = std::move(counts);
  view.goals = sweep::usual_goals(view.facts["command"]);
  if (!options.pareto.empty()) {
    WW_ASSIGN(goals, sweep::parse_goals(options.pareto));
    view.goals = std::move(goals);
  }
  WW_TRY(read_table(store, options, view));
  WW_TRY(keep_found_metrics(view, options));
  WW_TRY(find_front(view, options));
  WW_TRY(read_points(store, view));
  for (auto& failure : view.failures) {
    failure.settings = settings_text(view.table, view.table.rows[failure.point]);
  }
  WW_TRY(find_parts(store, view));
  if (!options.over.empty()) {
    WW_ASSIGN(axis, axis_of(view.table, options.over));
    view.over = {axis};
  }
  if (!options.by.empty()) {
    WW_ASSIGN(axis, axis_of(view.table, options.by));
    view.by = {axis};
    if (view.over == view.by) {
      return fail(ErrorCode::invalid_argument,
                  "cannot be the axis along the curves and the axis of the curves at once",
                  options.by);
    }
    if (const auto count = levels_of(view.table, axis).size(); count > most_curves) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("has {} values; at most {} curves can be told apart", count, most_curves),
          options.by);
    }
  }
  choose_curves(view, view.shown > 0 ? sweep::sensitivity(view.settled_table(), 0)
                                     : std::vector<sweep::AxisEffect>());
  return view;
}

}  // namespace ww::report
