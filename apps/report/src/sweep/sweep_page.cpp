#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "sweep/sweep_charts.hpp"
#include "sweep/sweep_view.hpp"
#include "values/names.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

// Least and most of a metric, and where.
struct Extremes {
  std::size_t least{}, most{};  // rows
};
std::optional<Extremes> extremes_of(const SweepView& view, std::size_t metric) {
  std::optional<Extremes> found;
  const auto& rows = view.table.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& value = rows[i].metrics[metric];
    if (!value || !view.settled[i]) continue;
    if (!found) found = Extremes{i, i};
    if (*value < *rows[found->least].metrics[metric]) found->least = i;
    if (*value > *rows[found->most].metrics[metric]) found->most = i;
  }
  return found;
}

std::string counts_line(const SweepView& view) {
  return fmt::format("{} points of 'wirewatt {}', {} ok.", view.counts.total(),
                     view.facts.at("command"), view.counts.at(sweep::PointStatus::ok));
}

void answer_parts(Html& page, const SweepView& view, const sweep::PartVariation& variation) {
  const auto percent = [&](double value) { return 100 * value / std::abs(variation.mean); };
  page.answer(
      fmt::format("{} % from part to part", figure_text(percent(variation.deviation), 3)),
      {fmt::format(
           "Standard deviation of {} among parts, beyond what their own intervals explain; "
           "95% interval {} %.",
           view.parts_metric,
           interval_text(percent(variation.deviation_low), percent(variation.deviation_high))),
       fmt::format(
           "Mean over such parts {} ({}). Equal parts would scatter like this with a chance "
           "of {}.",
           figure_text(variation.mean), interval_text(variation.mean_low, variation.mean_high),
           variation.same_p < 1e-3 ? "less than 0.001" : figure_text(variation.same_p, 3)),
       counts_line(view)});
}

void answer_metric(Html& page, const SweepView& view, const std::vector<MetricEffects>& effects) {
  const auto extremes = view.shown > 0 ? extremes_of(view, 0) : std::nullopt;
  if (!extremes) {
    page.answer(fmt::format("{} of {} points ok", view.counts.at(sweep::PointStatus::ok),
                            view.counts.total()),
                {counts_line(view)});
    return;
  }
  const auto& rows = view.table.rows;
  const auto at = [&](std::size_t row) {
    return fmt::format("{} at {}", metric_text(rows[row].metrics[0]),
                       settings_text(view.table, rows[row]));
  };
  std::vector<std::string> lines{fmt::format("Least {}; most {}. One run a point: no interval.",
                                             at(extremes->least), at(extremes->most))};
  if (!effects.empty() && effects.front().metric == view.table.metrics[0]) {
    const auto& most = effects.front().effects.front();
    lines.push_back(fmt::format("{} matters most: it explains {} % of the variance by itself.",
                                most.axis, figure_text(100 * most.share.value_or(0), 3)));
  }
  lines.push_back(counts_line(view));
  page.answer(fmt::format("{} from {} to {}", metric_name(view.table.metrics[0]),
                          figure_text(*rows[extremes->least].metrics[0]),
                          figure_text(*rows[extremes->most].metrics[0])),
              lines);
}

Table points_table(const SweepView& view, const std::string& caption,
                   const std::vector<std::size_t>& rows, bool with_front) {
  Table table{caption, {{"point", true}}, {}};
  for (const auto& axis : view.table.settings) table.columns.push_back({axis});
  std::vector<std::size_t> metrics;
  for (std::size_t i = 0; i < view.shown; ++i) metrics.push_back(i);
  for (const auto& goal : view.goals) {
    if (const auto at = view.column(goal.metric); at >= view.shown) metrics.push_back(at);
  }
  for (const auto metric : metrics)
    table.columns.push_back({metric_name(view.table.metrics[metric]), true});
  const bool some_unsettled = std::ranges::find(view.settled, false) != view.settled.end();
  if (some_unsettled) table.columns.push_back({"stable"});
  if (with_front) table.columns.push_back({"on the front"});
  for (const auto at : rows) {
    const auto& row = view.table.rows[at];
    std::vector<std::string> cells{std::to_string(row.index)};
    for (const auto& setting : row.settings) cells.push_back(setting.empty() ? "–" : setting);
    for (const auto metric : metrics) cells.push_back(metric_text(row.metrics[metric]));
    if (some_unsettled) cells.emplace_back(view.settled[at] ? "yes" : "no");
    if (with_front) {
      cells.emplace_back(std::ranges::find(view.front, at) != view.front.end() ? "yes" : "no");
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void add_parts(Html& page, const SweepView& view, const sweep::PartVariation& variation) {
  page.chart("Part to part", parts_plot(view, variation));
  Table table{"Every part",
              {{"part"},
               {metric_name(view.parts_metric), true},
               {"95%", true},
               {"from the mean [standard deviations]", true}},
              {}};
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const auto& part = view.parts[i];
    table.rows.push_back({part.name, figure_text(part.value, 6), interval_text(part.low, part.high),
                          fmt::format("{:+.2f}", variation.distance[i])});
  }
  page.table(table);
}

void add_sensitivity(Html& page, const std::vector<MetricEffects>& effects) {
  if (effects.empty()) return;
  page.chart("Which axis matters", effect_bars(effects));
  Table table{"Sensitivity to every axis",
              {{"metric"},
               {"axis"},
               {"of the variance [%]", true},
               {"range of the means", true},
               {"least mean"},
               {"most mean"}},
              {}};
  for (const auto& one : effects) {
    for (const auto& effect : one.effects) {
      const auto [least, most] =
          std::ranges::minmax_element(effect.levels, {}, &sweep::AxisEffect::Level::mean);
      const auto text = [](const sweep::AxisEffect::Level& level) {
        return fmt::format("{} at {}", figure_text(level.mean, 5), level.value);
      };
      table.rows.push_back({plain_name(one.metric), effect.axis,
                            figure_text(100 * effect.share.value_or(0), 3),
                            figure_text(effect.range, 5), text(*least), text(*most)});
    }
  }
  page.table(table);
}

void add_failures(Html& page, const SweepView& view) {
  if (view.failures.empty()) return;
  page.section("What has no good result, and why");
  Table table{
      "Points without a good result", {{"point", true}, {"status"}, {"reason"}, {"settings"}}, {}};
  for (const auto& failure : view.failures) {
    table.rows.push_back(
        {std::to_string(failure.point), failure.status, failure.reason, failure.settings});
  }
  page.table(table);
}

void add_provenance(Html& page, const SweepView& view) {
  page.section("Provenance");
  std::string hosts;
  for (const auto& host : view.hosts) hosts += (hosts.empty() ? "" : ", ") + host;
  const auto fact = [&](const char* key) {
    const auto at = view.facts.find(key);
    return at == view.facts.end() ? std::string() : at->second;
  };
  page.table({"Provenance",
              {{"what"}, {"value"}},
              {{"sweep", fact("name")},
               {"command", "wirewatt " + fact("command")},
               {"time of all points together", fmt::format("{} s", figure_text(view.wall_s))},
               {"machines", hosts},
               {"collected", fact("collected_utc")},
               {"program", fact("program_hash")}}});
  page.add(
      "<figure><pre tabindex=\"0\" aria-label=\"The plan\">{}</pre><figcaption>The plan."
      "</figcaption></figure>",
      escape(fact("plan")));
}

}  // namespace

Result<std::string> sweep_page(const std::filesystem::path& folder, const SweepOptions& options) {
  WW_ASSIGN(view, read_sweep(folder, options));
  Html page(fmt::format("Sweep: {}", view.facts["name"]), view.is_virtual);
  const auto effects = effects_of(view);
  std::optional<sweep::PartVariation> variation;
  if (view.parts.size() > 1) {
    if (auto found = sweep::part_variation(view.parts)) variation = std::move(*found);
  }
  if (variation) {
    answer_parts(page, view, *variation);
  } else {
    answer_metric(page, view, effects);
  }
  if (!view.failures.empty()) {
    std::string what;
    for (const auto& [status, count] : view.counts.of) {
      if (status == sweep::PointStatus::ok) continue;
      what += fmt::format("{}{} {}", what.empty() ? "" : ", ", count, sweep::to_string(status));
    }
    page.warn("Not every point has a good result:", what + ". The table below says why.");
  }
  if (const auto unsettled = std::ranges::count(view.settled, false); unsettled > 0) {
    page.warn(
        fmt::format("{} not stable.",
                    unsettled == 1 ? "One point is" : fmt::format("{} points are", unsettled)),
        "Such networks take less than they are offered, so that latency grows with the length "
        "of the run; charts, front and shares leave them out.");
  }
  if (variation) add_parts(page, view, *variation);
  if (!view.goals.empty() && !view.front.empty()) {
    page.chart("Pareto front", front_plot(view));
    auto rows = view.front;
    if (rows.size() > kMaxTableRows) rows.resize(kMaxTableRows);
    page.table(points_table(view, "Points on the front", rows, false));
  }
  if (!view.over.empty() && !variation) {
    for (std::size_t metric = 0; metric < view.shown; ++metric) {
      const Plot plot = sweep_curves(view, metric);
      page.chart(plot.title, plot);
    }
  }
  if (!variation) add_sensitivity(page, effects);
  add_failures(page, view);
  page.section("Every point");
  std::vector<std::size_t> rows(std::min(view.table.rows.size(), kMaxTableRows));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  if (rows.size() < view.table.rows.size()) {
    page.add(
        "<p class=\"mut\">The first {} of {} points; 'wirewatt sweep show FOLDER --csv FILE' "
        "writes all.</p>",
        rows.size(), view.table.rows.size());
  }
  page.table(points_table(view, "Every point", rows, !view.goals.empty()));
  add_provenance(page, view);
  return page.finish();
}

}  // namespace ww::report
