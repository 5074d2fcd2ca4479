#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "drawing/floorplan_map.hpp"
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/values.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

constexpr std::array kSegments{model::WireSegment::registers_l1, model::WireSegment::l1_l2,
                               model::WireSegment::l2_memory};
constexpr std::string_view kInAll = ", in all";

// The figures that a page shows: joules where the run's time is known, else watts.
struct EnergyUnit {
  const char* key;
  const char* unit;
  double times;
};

EnergyUnit unit_for(const json& run) {
  const double seconds = number_of(run, "seconds");
  if (!(seconds > 0)) return {"power_w", "W", 1};
  const double joules = seconds * number_of(run, "measured_w");
  if (joules >= 1) return {"energy_j", "J", 1};
  return joules >= 1e-3 ? EnergyUnit{"energy_j", "mJ", 1e3} : EnergyUnit{"energy_j", "µJ", 1e6};
}

MapPart part_of(const json& row, const std::string& name, const EnergyUnit& unit) {
  const json& figure = object_of(row, unit.key);
  const bool known = text_of(row, "status") == "ok";
  const auto scaled = [&](const char* key) { return unit.times * number_of(figure, key); };
  return {name, known ? scaled("value") : 0, known ? scaled("low") : 0,
          known ? scaled("high") : scaled("at_most"), known};
}

// Each part once: its total where it has several coefficients, else its one coefficient. The
// dearest comes first, what is not identified last.
std::vector<MapPart> parts_of(const json& run, const EnergyUnit& unit) {
  std::vector<MapPart> parts;
  std::set<std::string> totals;
  for (const json& row : list_of(run, "parts")) {
    const std::string name = text_of(row, "name");
    if (!row.value("sum", false) || !name.ends_with(kInAll)) continue;
    const std::string part = name.substr(0, name.size() - kInAll.size());
    totals.insert(part);
    parts.push_back(part_of(row, part, unit));
  }
  for (const json& row : list_of(run, "parts")) {
    if (row.value("sum", false) || totals.contains(text_of(row, "part"))) continue;
    parts.push_back(part_of(row, text_of(row, "name"), unit));
  }
  std::ranges::stable_sort(parts, [](const MapPart& a, const MapPart& b) {
    return a.known != b.known ? a.known : a.known && a.value > b.value;
  });
  return parts;
}

struct MapSegments {
  std::array<std::optional<double>, 3> values;
  std::array<std::string, 3> said;
};

std::optional<MapPart> find_part(const json& run, const std::string& name, const EnergyUnit& unit) {
  for (const json& row : list_of(run, "parts")) {
    if (text_of(row, "name") == name) return part_of(row, name, unit);
  }
  return std::nullopt;
}

// The wires' segments by their own figures. If none has one, all have that of their sum.
MapSegments segments_of(const json& run, const EnergyUnit& unit) {
  MapSegments segments;
  std::array<std::optional<MapPart>, 3> own;
  bool parted = false;
  for (std::size_t s = 0; s < own.size(); ++s) {
    own[s] = find_part(run, std::string(model::to_string(kSegments[s])), unit);
    parted = parted || (own[s] && own[s]->known);
  }
  const auto all = find_part(run, "wires" + std::string(kInAll), unit);
  for (std::size_t s = 0; s < own.size(); ++s) {
    const std::string_view name = model::to_string(kSegments[s]);
    if (!own[s]) {
      segments.said[s] = fmt::format("{}: not a term of the model", name);
    } else if (own[s]->known) {
      segments.values[s] = own[s]->value;
      segments.said[s] = fmt::format("{}: {:.3g} {}", name, own[s]->value, unit.unit);
    } else if (!parted && all && all->known) {
      segments.values[s] = all->value;
      segments.said[s] =
          fmt::format("{}: the counters do not part the segments; all wires {:.3g} {}", name,
                      all->value, unit.unit);
    } else {
      segments.said[s] =
          fmt::format("{}: not identified, at most {:.3g} {}", name, own[s]->high, unit.unit);
    }
  }
  return segments;
}

std::string cell_of(const json& row, const char* key, double times) {
  const json& figure = object_of(row, key);
  if (text_of(row, "status") == "ok") return interval_cell(figure, times);
  const double most = times * number_of(figure, "at_most");
  return std::isfinite(most) ? "at most " + figure_text(most) : "–";
}

void add_picture(Html& page, const json& run, const EnergyUnit& unit) {
  const std::string device = text_of(run, "device");
  const auto plan = known_floorplan(device.substr(0, device.find(' ')));
  const auto parts = parts_of(run, unit);
  const bool watts = unit.unit == std::string("W");
  const char* heading = watts ? "Where the watts went" : "Where the joules went";
  if (plan) {
    page.section(heading);
    const MapSegments segments = segments_of(run, unit);
    page.drawing(
        energy_map(*plan, segments.values, segments.said, parts,
                   "Where the energy of " + text_of(run, "run") + " went", unit.unit),
        fmt::format("Floorplan {}: compute units show registers_l1, lines between engines and L2 "
                    "show l1_l2, lines to the controllers l2_memory. If the counters "
                    "part no segment, each has the colour of all wires together; one without a "
                    "figure is not drawn. Bars: the parts of the chip, with their 95% intervals. A "
                    "line without a "
                    "bar ends at the most that a part can be. {}; {}; {}.",
                    plan->name, segments.said[0], segments.said[1], segments.said[2]));
    return;
  }
  BarChart chart;
  chart.title = "Parts of the chip";
  chart.description =
      "Each part with its 95% interval. The device has no published floorplan here.";
  chart.unit = unit.unit;
  chart.legend = {watts ? "power" : "energy"};
  for (const MapPart& part : parts) {
    Bar bar;
    bar.name = part.name;
    bar.parts = {part.value};
    bar.interval = {part.low, part.high};
    chart.bars.push_back(std::move(bar));
  }
  page.chart(heading, chart);
}

}  // namespace

std::string attribution_page(const json& run) {
  const EnergyUnit unit = unit_for(run);
  const std::string name = text_of(run, "run");
  const std::string device = text_of(run, "device");
  Html page("Where the energy of " + name + " went" + (device.empty() ? "" : " on " + device),
            run.value("virtual", false));
  const double times =
      unit.key == std::string("power_w") ? 1 : unit.times * number_of(run, "seconds");
  page.answer(fmt::format("{} {}", figure_text(times * number_of(run, "measured_w")), unit.unit),
              {fmt::format("Measured, idle power included: {} W. The model has {} W.",
                           figure_text(number_of(run, "measured_w")),
                           figure_text(number_of(run, "fitted_w"))),
               fmt::format("A run of an application that the fit did not see deviates by {}% "
                           "(standard deviation).",
                           figure_text(100 * number_of(run, "scatter"), 2))});
  add_picture(page, run, unit);
  Table table{"Parts and terms",
              {{"term"},
               {"part"},
               {fmt::format("energy [{}]", unit.unit), true},
               {"power [W]", true},
               {"status"},
               {"why"}},
              {}};
  if (unit.unit == std::string("W")) table.columns.erase(table.columns.begin() + 2);
  for (const json& row : list_of(run, "parts")) {
    std::vector<std::string> cells{
        text_of(row, "name"),       text_of(row, "part"),   cell_of(row, "energy_j", unit.times),
        cell_of(row, "power_w", 1), text_of(row, "status"), text_of(row, "reason")};
    if (unit.unit == std::string("W")) cells.erase(cells.begin() + 2);
    table.rows.push_back(std::move(cells));
  }
  page.section("All figures");
  page.table(table);
  return page.finish();
}

}  // namespace ww::report
