#include "sweep/sweep_show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "option.hpp"
#include "output.hpp"
#include "sweep/sweep_program.hpp"
#include "ww/core/log.hpp"
#include "ww/sweep/choices.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ShowArguments {
  std::string folder;
  std::vector<std::string> metrics;
  std::size_t limit{20};
  std::string sort;
  bool descending{};
  std::string pareto;
  std::string sensitivity;
  std::string compare;
  std::string csv;
  bool json{};
};

constexpr std::size_t shown_failures = 10;

struct Shown {
  std::map<std::string, std::string> facts;
  sweep::StatusCounts counts;
  sweep::Table table;  // of the rows that are needed
  sweep::Marks marks;  // of its rows
  std::vector<sweep::Goal> goals;
  std::vector<std::size_t> rows;  // of the table, as they are to be shown
  std::vector<std::string> metrics;
};

std::size_t place(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// A metric, or an axis whose values are numbers.
std::optional<double> key_of(const sweep::Table& table, const sweep::Row& row,
                             const std::string& name) {
  if (const auto at = place(table.metrics, name); at < table.metrics.size()) return row.metrics[at];
  const auto& text = row.settings[place(table.settings, name)];
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? std::nullopt : std::optional(value);
}

Status choose_rows(const ShowArguments& arguments, Shown& shown) {
  const auto& table = shown.table;
  if (!shown.goals.empty()) {
    std::vector<std::size_t> columns;
    for (const auto& goal : shown.goals) columns.push_back(place(table.metrics, goal.metric));
    shown.rows = sweep::settled_front(table, shown.marks.settled, shown.goals, columns);
  } else {
    shown.rows.resize(table.rows.size());
    for (std::size_t i = 0; i < shown.rows.size(); ++i) shown.rows[i] = i;
  }
  if (!arguments.sort.empty()) {
    std::vector<std::optional<double>> keys;
    for (const auto& row : table.rows) keys.push_back(key_of(table, row, arguments.sort));
    std::stable_sort(shown.rows.begin(), shown.rows.end(), [&](std::size_t a, std::size_t b) {
      if (!keys[a] || !keys[b]) return keys[a].has_value() && !keys[b].has_value();
      return arguments.descending ? *keys[a] > *keys[b] : *keys[a] < *keys[b];
    });
  }
  if (shown.goals.empty() && shown.rows.size() > arguments.limit) {
    shown.rows.resize(arguments.limit);
  }
  return {};
}

void need(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && place(names, name) == names.size()) names.push_back(name);
}

Status must_exist(const sweep::Table& table, const std::string& name) {
  const auto at = place(table.metrics, name);
  const bool any = std::any_of(table.rows.begin(), table.rows.end(),
                               [&](const auto& row) { return row.metrics[at].has_value(); });
  if (any) return {};
  return fail(ErrorCode::invalid_argument,
              "no point has such a number among its results; --csv lists them all", name);
}

Result<Shown> look(const ShowArguments& arguments, const sweep::Store& store) {
  Shown shown;
  WW_ASSIGN(facts, store.facts());
  shown.facts = std::move(facts);
  WW_ASSIGN(counts, store.counts());
  shown.counts = std::move(counts);
  shown.metrics = arguments.metrics;
  if (shown.metrics.empty()) {
    WW_ASSIGN(usual, sweep::usual_metrics(store));
    shown.metrics = std::move(usual);
  }
  if (!arguments.pareto.empty()) {
    WW_ASSIGN(goals, sweep::parse_goals(arguments.pareto));
    shown.goals = std::move(goals);
    for (const auto& goal : shown.goals) need(shown.metrics, goal.metric);
  }
  WW_ASSIGN(axes, sweep::axes_of(store));
  auto metrics = shown.metrics;
  need(metrics, arguments.sensitivity);
  const bool sort_by_metric = place(axes, arguments.sort) == axes.size();
  if (sort_by_metric) need(metrics, arguments.sort);
  const bool all = !arguments.sort.empty() || !shown.goals.empty() ||
                   !arguments.sensitivity.empty() || !arguments.compare.empty();
  WW_ASSIGN(marked, sweep::load_marked_table(store, axes, metrics,
                                             all ? std::nullopt : std::optional(arguments.limit)));
  shown.table = std::move(marked.table);
  shown.marks = std::move(marked.marks);
  for (const auto& goal : shown.goals) WW_TRY(must_exist(shown.table, goal.metric));
  if (!arguments.sensitivity.empty()) WW_TRY(must_exist(shown.table, arguments.sensitivity));
  if (sort_by_metric && !arguments.sort.empty()) WW_TRY(must_exist(shown.table, arguments.sort));
  WW_TRY(choose_rows(arguments, shown));
  return shown;
}

json variation_json(const std::vector<sweep::PartValue>& parts,
                    const sweep::PartVariation& variation) {
  auto each = json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    each.push_back({{"name", parts[i].name},
                    {"value", parts[i].value},
                    {"low", parts[i].low},
                    {"high", parts[i].high},
                    {"distance_sd", variation.distance[i]}});
  }
  return {{"parts", each},
          {"mean",
           {{"value", variation.mean}, {"low", variation.mean_low}, {"high", variation.mean_high}}},
          {"deviation",
           {{"value", variation.deviation},
            {"low", variation.deviation_low},
            {"high", variation.deviation_high}}},
          {"same_p", variation.same_p}};
}

void print_variation(const std::string& metric, const std::vector<sweep::PartValue>& parts,
                     const sweep::PartVariation& variation) {
  std::vector<std::vector<std::string>> rows{{"PART", metric, "95%", "FROM THE MEAN"}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    rows.push_back({parts[i].name, fmt::format("{:.5g}", parts[i].value),
                    fmt::format("{:.5g}..{:.5g}", parts[i].low, parts[i].high),
                    fmt::format("{:+.2f} sd", variation.distance[i])});
  }
  print_table(rows);
  fmt::print("mean of such parts  {:.5g} ({:.5g}..{:.5g})\n", variation.mean, variation.mean_low,
             variation.mean_high);
  fmt::print(
      "part to part        {:.3g} ({:.3g}..{:.3g}) standard deviation, {:.3g}% of the mean\n",
      variation.deviation, variation.deviation_low, variation.deviation_high,
      100 * variation.relative_deviation());
  fmt::print("equal parts would scatter like this with a chance of {}\n",
             variation.same_p < 1e-3 ? "less than 0.001" : fmt::format("{:.3g}", variation.same_p));
}

std::string number_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

void print_rows(const Shown& shown) {
  std::vector<std::vector<std::string>> rows{{"POINT"}};
  for (const auto& axis : shown.table.settings) rows[0].push_back(axis);
  for (const auto& metric : shown.metrics) rows[0].push_back(metric);
  const bool some_unsettled =
      std::ranges::any_of(shown.rows, [&](std::size_t row) { return !shown.marks.settled[row]; });
  if (some_unsettled) rows[0].emplace_back();
  for (const auto at : shown.rows) {
    const auto& row = shown.table.rows[at];
    std::vector<std::string> cells{std::to_string(row.index)};
    for (const auto& setting : row.settings) cells.push_back(setting.empty() ? "-" : setting);
    for (std::size_t i = 0; i < shown.metrics.size(); ++i) {
      cells.push_back(number_text(row.metrics[place(shown.table.metrics, shown.metrics[i])]));
    }
    if (some_unsettled) cells.emplace_back(shown.marks.settled[at] ? "" : "unstable");
    rows.push_back(std::move(cells));
  }
  print_table(rows);
}

// Prints what the front and the shares leave out, if anything.
void print_left_out(const ShowArguments& arguments, const Shown& shown) {
  const auto unsettled = std::ranges::count(shown.marks.settled, false);
  if (unsettled == 0 || (shown.goals.empty() && arguments.sensitivity.empty())) return;
  fmt::print(
      "{} not stable: latency there grows with the length of the run. The front and the shares of "
      "axes leave {} out.\n",
      unsettled == 1 ? "one point is" : fmt::format("{} points are", unsettled),
      unsettled == 1 ? "it" : "them");
}

std::vector<sweep::AxisEffect> effects_of(const ShowArguments& arguments, const Shown& shown) {
  return sweep::sensitivity(sweep::settled_rows(shown.table, shown.marks.settled),
                            place(shown.table.metrics, arguments.sensitivity));
}

void print_sensitivity(const std::string& metric, const std::vector<sweep::AxisEffect>& effects) {
  fmt::print("how {} follows each axis, the others averaged over\n", metric);
  std::vector<std::vector<std::string>> rows{{"AXIS", "OF THE VARIANCE", "RANGE", "MEANS"}};
  for (const auto& effect : effects) {
    std::string means;
    constexpr std::size_t most = 6;
    for (std::size_t i = 0; i < std::min(most, effect.levels.size()); ++i) {
      means += fmt::format("{}{}: {:.5g}", i > 0 ? ", " : "", effect.levels[i].value,
                           effect.levels[i].mean);
    }
    if (effect.levels.size() > most) means += fmt::format(", ... ({})", effect.levels.size());
    rows.push_back({effect.axis, effect.share ? fmt::format("{:.1f}%", 100 * *effect.share) : "-",
                    fmt::format("{:.5g}", effect.range), means});
  }
  print_table(rows);
}

json shown_json(const ShowArguments& arguments, const Shown& shown) {
  json document{{"name", shown.facts.at("name")},   {"command", shown.facts.at("command")},
                {"axes", shown.table.settings},     {"metrics", shown.metrics},
                {"points", shown.counts.total()},   {"pareto", !shown.goals.empty()},
                {"virtual", shown.marks.is_virtual}};
  document["status"] = json::object();
  for (const auto& [status, count] : shown.counts.of) {
    document["status"][std::string(to_string(status))] = count;
  }
  auto rows = json::array();
  for (const auto at : shown.rows) {
    const auto& row = shown.table.rows[at];
    json one{{"point", row.index}, {"stable", static_cast<bool>(shown.marks.settled[at])}};
    for (std::size_t i = 0; i < row.settings.size(); ++i) {
      one["settings"][shown.table.settings[i]] = row.settings[i];
    }
    for (std::size_t i = 0; i < row.metrics.size(); ++i) {
      auto& cell = one["metrics"][shown.table.metrics[i]];
      if (row.metrics[i]) cell = *row.metrics[i];
    }
    rows.push_back(std::move(one));
  }
  document["rows"] = std::move(rows);
  if (!arguments.sensitivity.empty()) {
    auto& list = document["sensitivity"] = json::array();
    for (const auto& effect : effects_of(arguments, shown)) {
      json one{{"axis", effect.axis}, {"range", effect.range}, {"levels", json::array()}};
      one["share"] = effect.share ? json(*effect.share) : json();
      for (const auto& level : effect.levels) {
        one["levels"].push_back(
            {{"value", level.value}, {"points", level.points}, {"mean", level.mean}});
      }
      list.push_back(std::move(one));
    }
  }
  return document;
}

Status show(const ShowArguments& arguments) {
  const fs::path folder = arguments.folder;
  refresh_sweep(folder);
  WW_ASSIGN(store, sweep::Store::open(folder / "sweep.db"));
  if (!arguments.csv.empty()) {
    WW_TRY(sweep::write_csv(store, arguments.csv));
    log::info("wrote {}", arguments.csv);
  }
  WW_ASSIGN(shown, look(arguments, store));
  std::vector<sweep::PartValue> parts;
  std::optional<sweep::PartVariation> variation;
  if (!arguments.compare.empty()) {
    WW_ASSIGN(found, sweep::load_parts(store, shown.table.settings, arguments.compare));
    parts = std::move(found);
    WW_ASSIGN(made, sweep::part_variation(parts));
    variation = std::move(made);
  }
  if (arguments.json) {
    auto document = shown_json(arguments, shown);
    if (variation) document["variation"] = variation_json(parts, *variation);
    print_json(document);
    return {};
  }
  const auto failures = failures_text(shown.counts);
  fmt::print("{}: {} points of 'wirewatt {}'{}, {} ok{}{}\n", shown.facts["name"],
             shown.counts.total(), shown.facts["command"],
             shown.marks.is_virtual ? " (virtual, not a measurement)" : "",
             shown.counts.at(sweep::PointStatus::ok), failures.empty() ? "" : "; ", failures);
  if (!shown.goals.empty()) fmt::print("the Pareto front of {}\n", arguments.pareto);
  print_rows(shown);
  if (shown.goals.empty() && shown.counts.total() > shown.rows.size()) {
    fmt::print("({} more: --limit, --sort, --csv)\n", shown.counts.total() - shown.rows.size());
  }
  if (!arguments.sensitivity.empty()) {
    print_sensitivity(arguments.sensitivity, effects_of(arguments, shown));
  }
  print_left_out(arguments, shown);
  if (variation) print_variation(arguments.compare, parts, *variation);
  if (!failures.empty()) WW_TRY(print_failures(folder / "sweep.db"));
  return {};
}

}  // namespace

void refresh_sweep(const fs::path& folder) {
  std::error_code ec;
  if (!fs::exists(folder / "sweep.json", ec)) return;
  const auto made = fs::last_write_time(folder / "sweep.db", ec);
  bool newer = static_cast<bool>(ec);
  fs::recursive_directory_iterator at(folder / "results", ec);
  for (; !ec && !newer && at != fs::recursive_directory_iterator(); at.increment(ec)) {
    newer = at->is_regular_file(ec) && at->last_write_time(ec) > made;
  }
  if (!newer) return;
  const auto updated = [&]() -> Status {
    WW_ASSIGN(program, swept_program());
    WW_ASSIGN(sweep, sweep::open_sweep(folder, program));
    WW_ASSIGN(points, sweep::Points::expand(*sweep.plan, sweep.program_hash,
                                            program.input_files(sweep.plan->command)));
    sweep.points = std::make_unique<sweep::Points>(std::move(points));
    WW_TRY(sweep::write_store(sweep.database(), *sweep.plan, *sweep.points, sweep.program_hash,
                              sweep.results()));
    return {};
  }();
  if (!updated) log::warn("newer results are left out: {}", updated.error().text());
}

Status print_failures(const fs::path& database) {
  WW_ASSIGN(store, sweep::Store::open(database));
  std::vector<std::vector<std::string>> rows{{"POINT", "STATUS", "REASON", "CONFIGURATION"}};
  std::size_t failed = 0;
  WW_TRY(store.each([&](sweep::StoredPoint&& point) -> Status {
    if (point.status == sweep::PointStatus::ok) return {};
    if (++failed <= shown_failures) {
      rows.push_back({std::to_string(point.index), std::string(to_string(point.status)),
                      point.reason, point.configuration});
    }
    return {};
  }));
  if (failed > 0) print_table(rows);
  if (failed > shown_failures) fmt::print("({} more: --csv)\n", failed - shown_failures);
  return {};
}

void add_sweep_show(CLI::App& sweep, Outcome& outcome) {
  auto* command =
      sweep.add_subcommand("show", "Show a sweep as a table, a Pareto front, sensitivities or CSV");
  auto arguments = std::make_shared<ShowArguments>();
  command->add_option("folder", arguments->folder, "Folder of the sweep")->required();
  command->add_option("--metric", arguments->metrics,
                      "A number of the results, as energy_pj.total; may be repeated");
  command->add_option("--top", arguments->limit, "How many points the table shows")
      ->check(kAtLeastZero)
      ->capture_default_str();
  command->add_option("--sort", arguments->sort, "By a metric or an axis");
  command->add_flag("--descending", arguments->descending, "Largest first");
  command->add_option("--pareto", arguments->pareto, "The front of min:METRIC,max:METRIC,...");
  command->add_option("--sensitivity", arguments->sensitivity, "How this metric follows each axis");
  command->add_option("--compare", arguments->compare,
                      "How parts differ in a metric that has value, low and high");
  as_output_file(command->add_option("--csv", arguments->csv,
                                     "Write all points and all results to this file"));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt sweep show mesh.sweep --sort avg_packet_latency\n"
      "  wirewatt sweep show mesh.sweep --pareto min:avg_packet_latency,min:energy_pj.total\n"
      "  wirewatt sweep show mesh.sweep --sensitivity energy_pj.total --csv mesh.csv\n"
      "  wirewatt sweep show chips.sweep --compare energy_fj_per_bit_mm");
  command->callback([arguments, &outcome] {
    const auto status = show(*arguments);
    outcome.exit_code = status ? 0 : report_error(status.error());
  });
}

}  // namespace ww::cli
