#include "sweep/sweep_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "pages/html.hpp"
#include "sweep/sweep_charts.hpp"
#include "values/names.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

// Places of the second's axes in the first's order.
Result<std::vector<std::size_t>> same_axes(const sweep::Table& first, const sweep::Table& second) {
  for (const auto& [one, other, which] :
       {std::tuple{&first, &second, "first"}, std::tuple{&second, &first, "second"}}) {
    for (const auto& axis : one->settings) {
      if (std::ranges::find(other->settings, axis) != other->settings.end()) continue;
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("is an axis of the {} sweep alone; sweeps over the same axes can be "
                      "compared (first: {}; second: {})",
                      which, fmt::join(first.settings, ", "), fmt::join(second.settings, ", ")),
          axis);
    }
  }
  std::vector<std::size_t> places;
  for (const auto& axis : first.settings) {
    places.push_back(static_cast<std::size_t>(std::ranges::find(second.settings, axis) -
                                              second.settings.begin()));
  }
  return places;
}

std::optional<double> percent(const std::optional<double>& first,
                              const std::optional<double>& second) {
  if (!first || !second || *first == 0) return std::nullopt;
  const double value = 100 * (*second - *first) / std::abs(*first);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string percent_text(const std::optional<double>& value) {
  return value ? fmt::format("{:+.2f}", *value) : "–";
}

// Lists the fixed settings in which both plans differ: "network: mesh and mesh-adaptive".
std::string fixed_differences(const SweepView& first, const SweepView& second) {
  const auto one = nlohmann::json::parse(first.configuration, nullptr, false);
  const auto other = nlohmann::json::parse(second.configuration, nullptr, false);
  if (!one.is_object() || !other.is_object()) return {};
  std::string text;
  const auto add = [&](const std::string& key) {
    if (std::ranges::find(first.table.settings, key) != first.table.settings.end()) return;
    const auto shown = [&](const nlohmann::json& of) {
      if (!of.contains(key)) return std::string("not set");
      return of[key].is_string() ? of[key].get<std::string>() : of[key].dump();
    };
    if (shown(one) == shown(other)) return;
    text += fmt::format("{}{}: {} and {}", text.empty() ? "" : "; ", key, shown(one), shown(other));
  };
  for (const auto& [key, value] : one.items()) add(key);
  for (const auto& [key, value] : other.items()) {
    if (!one.contains(key)) add(key);
  }
  return text;
}

struct Spread {
  std::size_t points{}, lower{}, equal{}, least{}, most{};  // least, most: rows
  double median{};
};
// Returns the spread of a metric's differences, over settled points.
std::optional<Spread> spread_of(const SweepView& view, std::size_t metric) {
  std::vector<double> values;
  Spread spread;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    const auto& value = view.table.rows[i].metrics[metric];
    if (!value || !view.settled[i]) continue;
    if (values.empty() || *value < *view.table.rows[spread.least].metrics[metric]) spread.least = i;
    if (values.empty() || *value > *view.table.rows[spread.most].metrics[metric]) spread.most = i;
    spread.lower += *value < 0 ? 1 : 0;
    spread.equal += *value == 0 ? 1 : 0;
    values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  spread.points = values.size();
  spread.median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
  return spread;
}

std::string fact_of(const SweepView& view, const char* key) {
  const auto at = view.facts.find(key);
  return at == view.facts.end() ? std::string() : at->second;
}

void answer(Html& page, const SweepView& view, const SweepPairs& pairs, const std::string& fixed,
            const std::string& names) {
  std::vector<std::string> lines{names};
  if (!fixed.empty()) lines.push_back("Not alike in the plans: " + fixed + ".");
  const auto spread = view.shown > 0 ? spread_of(view, 0) : std::nullopt;
  lines.push_back(fmt::format("{} points are in both, {} in the first alone, {} in the second.",
                              pairs.pairs.size(), pairs.only_first.size(),
                              pairs.only_second.size()));
  if (!spread) {
    page.answer("No point has a figure in both", lines);
    return;
  }
  const auto at = [&](std::size_t row) {
    return fmt::format("{} % at {}", percent_text(view.table.rows[row].metrics[0]),
                       settings_text(view.table, view.table.rows[row]));
  };
  lines.insert(
      lines.begin() + 1,
      fmt::format("Second less first, by the first: from {} to {}; lower at {}, higher at "
                  "{}, equal at {} of {} points. One run a point: no interval.",
                  at(spread->least), at(spread->most), spread->lower,
                  spread->points - spread->lower - spread->equal, spread->equal, spread->points));
  page.answer(fmt::format("{}: {} % (median)", pairs.metrics.front(), percent_text(spread->median)),
              lines);
}

void add_summary(Html& page, const SweepView& view, const SweepPairs& pairs) {
  Table table{"Every metric",
              {{"metric"},
               {"median [%]", true},
               {"least [%]", true},
               {"most [%]", true},
               {"points", true},
               {"lower at", true},
               {"higher at", true}},
              {}};
  for (std::size_t metric = 0; metric < view.shown; ++metric) {
    const auto spread = spread_of(view, metric);
    if (!spread) {
      table.rows.push_back({metric_name(pairs.metrics[metric]), "–", "–", "–", "0", "–", "–"});
      continue;
    }
    table.rows.push_back({metric_name(pairs.metrics[metric]), percent_text(spread->median),
                          percent_text(view.table.rows[spread->least].metrics[metric]),
                          percent_text(view.table.rows[spread->most].metrics[metric]),
                          std::to_string(spread->points), std::to_string(spread->lower),
                          std::to_string(spread->points - spread->lower - spread->equal)});
  }
  page.table(table);
}

void add_points(Html& page, const SweepView& first, const SweepView& second,
                const SweepView& between, const SweepPairs& pairs) {
  Table table{"Every point of both", {}, {}};
  for (const auto& axis : first.table.settings) table.columns.push_back({axis});
  for (const auto& [name, number] :
       {std::pair{"metric", false}, std::pair{"first", true}, std::pair{"second", true},
        std::pair{"difference [%]", true}}) {
    table.columns.push_back({name, number});
  }
  const bool some_unsettled = std::ranges::find(between.settled, false) != between.settled.end();
  if (some_unsettled) table.columns.push_back({"stable"});
  const std::size_t all = pairs.pairs.size() * pairs.metrics.size();
  for (std::size_t at = 0; at < std::min(all, kMaxTableRows); ++at) {
    const std::size_t i = at / pairs.metrics.size();
    const std::size_t metric = at % pairs.metrics.size();
    const auto& [a, b] = pairs.pairs[i];
    const auto value = [&](const SweepView& view, std::size_t row) {
      return metric_text(view.table.rows[row].metrics[view.column(pairs.metrics[metric])]);
    };
    std::vector<std::string> cells;
    for (const auto& setting : first.table.rows[a].settings) {
      cells.push_back(setting.empty() ? "–" : setting);
    }
    cells.insert(cells.end(), {pairs.metrics[metric], value(first, a), value(second, b),
                               percent_text(between.table.rows[i].metrics[metric])});
    if (some_unsettled) {
      const bool one = first.settled[a];
      const bool other = second.settled[b];
      cells.emplace_back(one && other ? "both" : one ? "first" : other ? "second" : "neither");
    }
    table.rows.push_back(std::move(cells));
  }
  page.section("Every point");
  if (all > kMaxTableRows) {
    page.add(
        "<p class=\"mut\">The first {} of {} figures; 'wirewatt sweep show FOLDER --csv FILE' "
        "writes all of one sweep.</p>",
        kMaxTableRows, all);
  }
  page.table(table);
}

void add_unpaired(Html& page, const SweepView& first, const SweepView& second,
                  const SweepPairs& pairs) {
  if (pairs.only_first.empty() && pairs.only_second.empty()) return;
  page.section("What only one of them has");
  Table table{"Points of one sweep alone", {{"in the"}, {"settings"}}, {}};
  for (const auto& [which, view, rows] : {std::tuple{"first", &first, &pairs.only_first},
                                          std::tuple{"second", &second, &pairs.only_second}}) {
    for (const auto row : *rows) {
      if (table.rows.size() == kMaxTableRows) break;
      table.rows.push_back({which, settings_text(view->table, view->table.rows[row])});
    }
  }
  page.table(table);
}

void add_provenance(Html& page, const SweepView& first, const SweepView& second) {
  page.section("Provenance");
  Table table{"Provenance", {{"what"}, {"first"}, {"second"}}, {}};
  for (const auto& [what, key] :
       {std::pair{"sweep", "name"}, std::pair{"command", "command"},
        std::pair{"collected", "collected_utc"}, std::pair{"program", "program_hash"}}) {
    table.rows.push_back({what, fact_of(first, key), fact_of(second, key)});
  }
  const auto good = [](const SweepView& view) {
    return fmt::format("{} of {}", view.counts.at(sweep::PointStatus::ok), view.counts.total());
  };
  table.rows.push_back({"points with a good result", good(first), good(second)});
  page.table(table);
  for (const auto& [which, view] : {std::pair{"first", &first}, std::pair{"second", &second}}) {
    page.add(
        "<figure><pre tabindex=\"0\" aria-label=\"The {0} plan\">{1}</pre><figcaption>The {0} "
        "plan.</figcaption></figure>",
        which, escape(fact_of(*view, "plan")));
  }
}

}  // namespace

Result<SweepPairs> pair_points(const SweepView& first, const SweepView& second) {
  WW_ASSIGN(places, same_axes(first.table, second.table));
  SweepPairs found;
  for (std::size_t i = 0; i < first.shown; ++i) {
    const auto at = second.column(first.table.metrics[i]);
    if (at < second.shown) found.metrics.push_back(first.table.metrics[i]);
  }
  if (found.metrics.empty()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the two sweeps have no metric in common (first: {}; second: {}); name one "
                    "with --metric",
                    fmt::join(first.table.metrics, ", "), fmt::join(second.table.metrics, ", ")));
  }
  std::map<std::vector<std::string>, std::size_t> partners;
  for (std::size_t row = 0; row < second.table.rows.size(); ++row) {
    std::vector<std::string> settings;
    for (const auto at : places) settings.push_back(second.table.rows[row].settings[at]);
    partners.emplace(std::move(settings), row);
  }
  for (std::size_t row = 0; row < first.table.rows.size(); ++row) {
    const auto at = partners.find(first.table.rows[row].settings);
    if (at == partners.end()) {
      found.only_first.push_back(row);
      continue;
    }
    found.pairs.push_back({row, at->second});
    partners.erase(at);
  }
  for (const auto& [settings, row] : partners) found.only_second.push_back(row);
  std::ranges::sort(found.only_second);
  if (!found.pairs.empty()) return found;
  return fail(ErrorCode::invalid_argument,
              fmt::format("no point is in both sweeps: the values of {} are all different",
                          fmt::join(first.table.settings, ", ")));
}

SweepView differences(const SweepView& first, const SweepView& second, const SweepPairs& pairs) {
  SweepView view;
  view.table.settings = first.table.settings;
  for (const auto& metric : pairs.metrics) {
    view.table.metrics.push_back(metric + ": difference [%]");
  }
  view.shown = pairs.metrics.size();
  view.is_virtual = first.is_virtual || second.is_virtual;
  for (const auto& [a, b] : pairs.pairs) {
    sweep::Row row{view.table.rows.size(), first.table.rows[a].settings, {}};
    for (const auto& metric : pairs.metrics) {
      row.metrics.push_back(percent(first.table.rows[a].metrics[first.column(metric)],
                                    second.table.rows[b].metrics[second.column(metric)]));
    }
    view.table.rows.push_back(std::move(row));
    view.settled.push_back(first.settled[a] && second.settled[b]);
  }
  return view;
}

Result<std::string> sweep_comparison_page(const std::filesystem::path& first_folder,
                                          const std::filesystem::path& second_folder,
                                          const SweepOptions& options) {
  WW_ASSIGN(first, read_sweep(first_folder, options));
  WW_ASSIGN(second, read_sweep(second_folder, options));
  if (fact_of(first, "command") != fact_of(second, "command")) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("sweeps of 'wirewatt {}' and of 'wirewatt {}'; those of one command "
                            "can be compared",
                            fact_of(first, "command"), fact_of(second, "command")),
                second_folder.string());
  }
  WW_ASSIGN(pairs, pair_points(first, second));
  SweepView between = differences(first, second, pairs);
  if (!options.over.empty()) between.over = first.over;
  if (!options.by.empty()) between.by = first.by;
  choose_curves(between, sweep::sensitivity(between.settled_table(), 0));

  Html page(fmt::format("Two sweeps compared: {} and {}", fact_of(first, "name"),
                        fact_of(second, "name")),
            between.is_virtual);
  answer(page, between, pairs, fixed_differences(first, second),
         fmt::format("First: {}. Second: {}.", first_folder.lexically_normal().string(),
                     second_folder.lexically_normal().string()));
  if (const auto unsettled = std::ranges::count(between.settled, false); unsettled > 0) {
    page.warn(
        fmt::format("{} not stable in one of them.",
                    unsettled == 1 ? "One point is" : fmt::format("{} points are", unsettled)),
        "Latency there grows with the length of the run; medians and charts leave them out.");
  }
  add_summary(page, between, pairs);
  for (std::size_t metric = 0; metric < between.shown && !between.over.empty(); ++metric) {
    Plot plot = sweep_curves(between, metric);
    plot.zero_line = true;
    page.chart(plot.title, plot);
  }
  add_unpaired(page, first, second, pairs);
  add_points(page, first, second, between, pairs);
  add_provenance(page, first, second);
  return page.finish();
}

}  // namespace ww::report
