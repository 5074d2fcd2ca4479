#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

constexpr std::size_t kMaxDrawnFigures = 12;  // figures in the chart

bool has_interval(const Figure& figure) {
  return std::isfinite(figure.low) && std::isfinite(figure.high);
}

std::string agreement(const Figure& a, const Figure& b) {
  if (!std::isfinite(a.value) || !std::isfinite(b.value)) return "not in both";
  if (!has_interval(a) || !has_interval(b)) return a.value == b.value ? "same" : "no interval";
  return a.low <= b.high && b.low <= a.high ? "intervals overlap" : "intervals apart";
}

std::string shown(const Figure& figure) {
  if (!has_interval(figure)) return figure_text(figure.value);
  return fmt::format("{} ({})", figure_text(figure.value), interval_text(figure.low, figure.high));
}

// How much a figure changed: those whose intervals lie apart before all others, then by the change
// over the first value.
std::pair<bool, double> change_of(const Figure& a, const Figure& b) {
  const double relative = std::abs((b.value - a.value) / a.value);
  return {agreement(a, b) == "intervals apart", std::isfinite(relative) ? relative : 0};
}

std::string difference(const Figure& a, const Figure& b) {
  const double percent = 100 * (b.value - a.value) / std::abs(a.value);
  return std::isfinite(percent) ? fmt::format("{:+.2f}", percent) : "–";
}

}  // namespace

std::string comparison_page(const Document& first, const Document& second) {
  const auto ones = figures_of(first);
  const auto others = figures_of(second);
  std::vector<std::pair<Figure, Figure>> pairs;
  for (const Figure& one : ones) {
    for (const Figure& other : others) {
      if (one.name == other.name && one.unit == other.unit) {
        pairs.emplace_back(one, other);
        break;
      }
    }
  }
  // The pair that changed most comes first, in the answer, the chart and the table; the chart has
  // the runs' own answer in any case.
  const std::string own_answer = pairs.empty() ? std::string() : pairs.front().first.name;
  std::ranges::stable_sort(pairs, std::greater(),
                           [](const auto& pair) { return change_of(pair.first, pair.second); });
  const auto answer = std::ranges::find(
      pairs, own_answer, [](const auto& pair) -> const auto& { return pair.first.name; });
  if (const auto last = pairs.begin() + std::ptrdiff_t{kMaxDrawnFigures} - 1;
      pairs.size() > kMaxDrawnFigures && answer > last) {
    std::rotate(last, answer, answer + 1);
  }
  const auto label = [](const Document& document) {
    const auto device = text_of(document.content, "device");
    const auto name = document.path.lexically_normal().string();
    return device.empty() ? name : fmt::format("{} ({})", name, device);
  };
  const bool is_virtual =
      first.content.value("virtual", false) || second.content.value("virtual", false);
  Html page(fmt::format("Two runs compared: {}", name_of(first)), is_virtual);
  std::size_t apart = 0;
  std::size_t judged = 0;
  for (const auto& pair : pairs) {
    const Figure& a = pair.first;
    const Figure& b = pair.second;
    if (!std::isfinite(a.value) || !std::isfinite(b.value) || !has_interval(a) ||
        !has_interval(b)) {
      continue;
    }
    ++judged;
    if (agreement(a, b) == "intervals apart") ++apart;
  }
  std::string big = "Nothing that both have";
  if (!pairs.empty()) {
    const auto& [a, b] = pairs.front();
    big = fmt::format("{}: {} to {} {} ({} %)", a.name, figure_text(a.value), figure_text(b.value),
                      a.unit, difference(a, b));
  }
  page.answer(
      big, {fmt::format("What changed most. First: {}. Second: {}.", label(first), label(second)),
            fmt::format("{} figures in both; of {} with 95% intervals on both sides, {} have "
                        "intervals that lie apart.",
                        pairs.size(), judged, apart)});
  for (const auto& [which, document] : {std::pair{"first", &first}, std::pair{"second", &second}}) {
    const auto misfit = misfit_of(document->content);
    if (misfit.empty()) continue;
    page.warn(fmt::format("The calibration of the {} run is flagged as a misfit.", which),
              misfit + ". Do not rely on its figures of wires.");
  }
  Plot plot;
  plot.title = "Difference with its interval";
  plot.description =
      "Each figure of the second run over the same of the first, and the 95% interval of either, "
      "divided by the first value.";
  plot.y_label = "relative to the first run";
  plot.height = 360;
  Series one{"first", 1, {}, false, 4};
  Series other{"second", 4, {}, false, 4};
  for (const auto& pair : pairs) {
    const Figure& a = pair.first;
    const Figure& b = pair.second;
    if (!std::isfinite(a.value) || a.value == 0 || !std::isfinite(b.value)) continue;
    if (plot.x_names.size() >= kMaxDrawnFigures) break;
    const auto place = static_cast<double>(plot.x_names.size());
    const auto dot = [&](const Figure& of, double at) {
      const double half = has_interval(of) ? (of.high - of.low) / 2 / std::abs(a.value) : 0;
      return Dot{at, of.value / a.value, half,
                 fmt::format("{}: {} {}", of.name, shown(of), of.unit)};
    };
    one.dots.push_back(dot(a, place - 0.08));
    other.dots.push_back(dot(b, place + 0.08));
    plot.x_names.push_back(shortened(a.name, 27));
  }
  plot.series = {std::move(one), std::move(other)};
  page.chart("Difference", plot);
  page.section("Every figure");
  Table table{"Every figure of both runs",
              {{"figure"},
               {"unit"},
               {"first", true},
               {"second", true},
               {"difference [%]", true},
               {"verdict"}},
              {}};
  for (const auto& [a, b] : pairs) {
    table.rows.push_back({a.name, a.unit, shown(a), shown(b), difference(a, b), agreement(a, b)});
  }
  page.table(table);
  page.section("Provenance");
  Table origin{"Provenance", {{"what"}, {"first"}, {"second"}}, {}};
  origin.rows.push_back({"run", first.path.string(), second.path.string()});
  const auto& one_origin = object_of(first.content, "provenance");
  const auto& other_origin = object_of(second.content, "provenance");
  for (const auto& [key, value] : one_origin.items()) {
    origin.rows.push_back(
        {key, cell_text(value), other_origin.contains(key) ? cell_text(other_origin[key]) : "–"});
  }
  page.table(origin);
  return page.finish();
}

}  // namespace ww::report
