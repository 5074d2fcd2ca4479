#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "drawing/floorplan_map.hpp"
#include "drawing/svg_writer.hpp"
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/names.hpp"
#include "values/values.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/figure.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

std::string workload_of(const json& run) {
  const auto workload = text_of(run, "workload");
  return workload.empty() ? text_of(run, "traffic") : workload;
}

std::string name_of(const json& run) {
  return fmt::format("{}, {}, rate {}", text_of(run, "network"), workload_of(run),
                     figure_text(number_of(run, "rate"), 3));
}

// Whether a virtual GPU made its trace or the calibration of its wires. Older runs name the latter
// alone.
bool is_virtual_run(const json& run) {
  const auto said = run.find("virtual");
  return (said != run.end() && *said == true) ||
         text_of(object_of(run, "energy_pj"), "wire_source").find(kVirtualPrefix) !=
             std::string::npos;
}

// Draws energy by component, one bar for each report.
BarChart energy_bars(const std::vector<std::pair<std::string, json>>& reports) {
  BarChart chart;
  chart.title = "Energy by component";
  chart.description =
      "Energy of the window that was simulated, by component; whose model of routers it is stands "
      "beside each bar.";
  chart.unit = "µJ";
  for (const auto& [name, report] : reports) {
    for (const auto& [key, value] : report.items()) {
      if (value.is_number() && key != "total" && value.get<double>() > 0 &&
          std::ranges::find(chart.legend, key) == chart.legend.end()) {
        chart.legend.push_back(key);
      }
    }
  }
  for (const auto& [name, report] : reports) {
    Bar bar;
    bar.name = name;
    for (const auto& key : chart.legend) bar.parts.push_back(number_of(report, key.c_str()) * 1e-6);
    if (report.contains("total")) chart.bars.push_back(std::move(bar));
  }
  for (std::string& name : chart.legend) name = in_words(name);
  return chart;
}

// Routers in rows, both directions of every link side by side, coloured by use.
std::string link_map(const json& map) {
  const int width = map.at("width").get<int>();
  const int height = map.at("height").get<int>();
  double most = 0;
  for (const json& link : map.at("links")) most = std::max(most, number_of(link, "use"));
  SvgWriter svg({0, 0, static_cast<double>(width), height + 0.7, "Use of links",
                 fmt::format("Routers of a {} by {} network; each link coloured by flits a cycle, "
                             "at most {:.3g}.",
                             width, height, most),
                 R"(class="map" style="font-size:.28px")"});
  for (const json& link : map.at("links")) {
    const int from = link.at("from").get<int>();
    const int to = link.at("to").get<int>();
    const double x1 = from % width + 0.5;
    const double y1 = from / width + 0.5;  // NOLINT(bugprone-integer-division): a row
    const double x2 = to % width + 0.5;
    const double y2 = to / width + 0.5;  // NOLINT(bugprone-integer-division)
    const double dx = y2 == y1 ? 0 : (y2 > y1 ? 0.06 : -0.06);
    const double dy = x2 == x1 ? 0 : (x2 > x1 ? -0.06 : 0.06);
    const double use = number_of(link, "use");
    svg.add(
        "<path class=\"wire h{}\" stroke-width=\".09\" d=\"M{:.2f} {:.2f}L{:.2f} "
        "{:.2f}\"><title>{} to {}: {:.4g} flits a cycle</title></path>",
        heat_step(use, 0, most), x1 + dx, y1 + dy, x2 + dx, y2 + dy, from, to, use);
  }
  for (int router = 0; router < width * height; ++router) {
    const double x = router % width + 0.5;
    const double y = router / width + 0.5;  // NOLINT(bugprone-integer-division)
    svg.add(
        "<rect class=\"part\" style=\"stroke-width:.02\" x=\"{:.2f}\" y=\"{:.2f}\" "
        "width=\".36\" height=\".36\" rx=\".06\"/><text class=\"key\" "
        "style=\"font-size:.18px\" x=\"{:.2f}\" y=\"{:.2f}\" "
        "text-anchor=\"middle\">{}</text>",
        x - 0.18, y - 0.18, x, y + 0.06, router);
  }
  const double step = width / 18.0;  // of the key
  for (int i = 1; i <= 8; ++i) {
    svg.add(
        "<rect class=\"cell h{}\" style=\"stroke-width:.01\" x=\"{:.3f}\" y=\"{:.2f}\" "
        "width=\"{:.3f}\" height=\".14\"/>",
        i, step * (i + 1), height + 0.2, step);
  }
  svg.add(
      "<text style=\"font-size:.14px\" x=\"{0:.2f}\" y=\"{1:.2f}\" "
      "text-anchor=\"end\">0</text><text style=\"font-size:.14px\" x=\"{2:.2f}\" "
      "y=\"{1:.2f}\">{3:.3g} flits a cycle</text>",
      step * 1.6, height + 0.32, step * 10.4, most);
  return svg.finish();
}

// Area of the routers and links, and the longest paths beside the clock.
void area_of(Html& page, const json& area) {
  Table table{"Area and longest path", {{"what"}, {"value", true}, {"unit"}}, {}};
  const auto row = [&](const char* name, const json& value, const char* unit) {
    table.rows.push_back({name, cell_text(value), unit});
  };
  row("routers", area.at("routers"), "");
  for (const auto& [part, value] : object_of(area, "router_mm2").items()) {
    row(("a router: " + in_words(part)).c_str(), value, "mm²");
  }
  row("repeaters of all links", area.at("repeaters_mm2"), "mm²");
  row("all cells", area.at("cells_mm2"), "mm²");
  row("wires of all links, above the cells", area.at("wiring_mm2"), "mm²");
  row("longest path of a router", area.at("router_path_ps"), "ps");
  row("a link", area.at("link_ps"), "ps");
  row("a cycle of the clock", area.at("clock_ps"), "ps");
  table.rows.push_back({"Sums of standard cells, without the space between them. Computed by " +
                            text_of(area, "source"),
                        "", ""});
  page.section("Area and longest path");
  page.table(table);
}

// "12.8 uJ (10..15)" of one of the run's sums of energy; a run of an older program has none.
std::string energy_text(const json& run, const char* name) {
  const ww::Figure figure = ww::figure_of(object_of(object_of(run, "energy_figures"), name));
  return figure.value ? ww::interval_text(figure.interval(), std::nullopt, figure.unit.c_str())
                      : std::string("-");
}

// Joules, watts and the wires' part, each with its range.
std::string energy_sentence(const json& run) {
  return fmt::format(
      "Energy of the measured cycles: {}, which is {} and {}; share of the wires: {}.",
      energy_text(run, "energy"), energy_text(run, "power"), energy_text(run, "per_bit"),
      energy_text(run, "wire_share"));
}

// Latencies do not follow from the calibration.
void warn_of_misfit(Html& page, const std::string& reason) {
  if (reason.empty()) return;
  page.warn("The calibration of the wires is flagged as a misfit.",
            reason + ". Do not rely on the energies.");
}

void one_run(Html& page, const json& run) {
  const auto cycles = number_of(run, "avg_packet_latency");
  const json& intervals = object_of(run, "intervals");
  if (intervals.empty()) {
    page.answer(
        figure_text(cycles) + " cycles",
        {fmt::format("Mean packet latency; 99 of 100 packets within {} cycles, in the network {}.",
                     figure_text(number_of(run, "p99_packet_latency")),
                     figure_text(number_of(run, "avg_network_latency"))),
         fmt::format("Accepted {} flits per node and cycle of {} offered; {} hops a packet; {} pJ "
                     "a flit. One run with one seed: the latencies have no interval.",
                     figure_text(number_of(run, "accepted_flits_per_node_cycle")),
                     figure_text(number_of(run, "offered_flits_per_node_cycle")),
                     figure_text(number_of(run, "avg_hops")),
                     figure_text(number_of(run, "energy_pj_per_flit"))),
         energy_sentence(run)});
  } else {
    page.answer(
        interval_cell(object_of(intervals, "avg_packet_latency")) + " cycles",
        {fmt::format("Mean packet latency over {} runs with other random numbers; 95% intervals "
                     "of chance alone.",
                     figure_text(number_of(intervals, "runs"))),
         fmt::format("Accepted {} flits per node and cycle; {} pJ a flit.",
                     interval_cell(object_of(intervals, "accepted_flits_per_node_cycle")),
                     interval_cell(object_of(intervals, "energy_pj_per_flit")))});
  }
  if (!run.value("stable", true)) {
    page.warn("Not stable.",
              "The network takes less than it is offered; latency grows with the "
              "length of the run and is no property of the network.");
  }
  warn_of_misfit(page, misfit_of(run));
  std::vector<std::pair<std::string, json>> reports;
  for (const auto& [name, report] : object_of(run, "estimators_pj").items()) {
    reports.emplace_back(name, report);
  }
  if (reports.empty()) reports.emplace_back("energy", object_of(run, "energy_pj"));
  page.chart("Energy by component", energy_bars(reports));
  if (const json& map = object_of(run, "heatmap"); !map.empty()) {
    page.section("Use of links");
    page.drawing(link_map(map), "Both directions of a link lie side by side.");
    Table table{"Use of links", {{"from", true}, {"to", true}, {"flits a cycle", true}}, {}};
    for (const json& link : map.at("links")) {
      table.rows.push_back({std::to_string(link.at("from").get<int>()),
                            std::to_string(link.at("to").get<int>()), cell_text(link.at("use"))});
    }
    page.table(table);
  }
  if (const json& area = object_of(run, "area"); !area.empty()) {
    area_of(page, area);
  }
  Table rejected{"Estimators without a figure", {{"estimator"}, {"why"}}, {}};
  for (const auto& [name, report] : reports) {
    if (text_of(report, "status") == "unavailable") {
      rejected.rows.push_back({name, text_of(report, "reason")});
    }
  }
  if (!rejected.rows.empty()) {
    page.section("What has no figure, and why");
    page.table(rejected);
  }
  page.section("All figures and provenance");
  Table table{"All figures", {{"what"}, {"value"}}, {}};
  for (const auto& [key, value] : run.items()) {
    if (!value.is_object() && !value.is_array()) {
      table.rows.push_back({in_words(key), cell_text(value)});
    }
  }
  for (const auto& [key, value] : object_of(run, "energy_pj").items()) {
    table.rows.push_back(
        {"energy of " + in_words(key) + (value.is_number() ? " [pJ]" : ""), cell_text(value)});
  }
  page.table(table);
}

Plot rate_plot(const std::map<std::string, Series>& networks, const char* title,
               const std::string& what, const char* y_label) {
  Plot plot;
  plot.title = title;
  plot.description =
      what +
      " of every network; points where the network takes less than it is offered are left "
      "out.";
  plot.x_label = "offered rate [flits per node and cycle]";
  plot.y_label = y_label;
  int colour = 1;
  for (auto [name, series] : networks) {
    series.name = name;
    series.colour = (colour++ - 1) % 8 + 1;
    series.line = true;
    series.dotted = true;
    series.radius = 3;
    std::ranges::sort(series.dots, {}, &Dot::x);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// Close to saturation a latency grows without end; what differs between networks lies far below.
constexpr double kShownLatencies = 5;  // times the least

Plot latency_plot(const std::map<std::string, Series>& networks) {
  Plot plot = rate_plot(networks, "Latency against offered rate", "Mean packet latency",
                        "mean packet latency [cycles]");
  double least = 0;
  double most = 0;
  for (const Series& series : plot.series) {
    for (const Dot& dot : series.dots) {
      least = least == 0 ? dot.y : std::min(least, dot.y);
      most = std::max(most, dot.y);
    }
  }
  constexpr double kRound = 25;  // cycles
  const double end = std::ceil(kShownLatencies * least / kRound) * kRound;
  if (most <= end) return plot;
  plot.y_most = end;
  plot.description +=
      fmt::format(" The axis ends at {:g} cycles; \"Show all\" shows the rest.", end);
  return plot;
}

Plot energy_plot(const std::map<std::string, Series>& networks) {
  return rate_plot(networks, "Energy against offered rate", "Energy a flit", "energy [pJ a flit]");
}

}  // namespace

std::string simulation_page(const std::vector<Document>& runs) {
  if (runs.size() == 1) {
    const json& run = runs.front().content;
    Html page("Simulation: " + name_of(run), is_virtual_run(run));
    one_run(page, run);
    return page.finish();
  }
  const bool is_virtual =
      std::ranges::any_of(runs, [](const Document& run) { return is_virtual_run(run.content); });
  Html page(fmt::format("{} simulations", runs.size()), is_virtual);
  const auto best = std::ranges::min_element(runs, {}, [](const Document& run) {
    const double energy = number_of(run.content, "energy_pj_per_flit");
    return std::isfinite(energy) ? energy : 1e300;
  });
  page.answer(figure_text(number_of(best->content, "energy_pj_per_flit")) + " pJ a flit at least",
              {fmt::format("{}: the least energy of the {} runs. One seed each: no interval.",
                           name_of(best->content), runs.size())});
  std::map<std::string, Series> networks;
  std::vector<std::pair<std::string, json>> energies;
  Table table{"Every run",
              {{"file"},
               {"network"},
               {"traffic"},
               {"rate", true},
               {"latency [cycles]", true},
               {"p99 [cycles]", true},
               {"accepted", true},
               {"hops", true},
               {"pJ a flit", true},
               {"power", true},
               {"share of wires", true},
               {"stable"}},
              {}};
  std::string misfit;
  for (const Document& document : runs) {
    const json& run = document.content;
    const auto flagged = misfit_of(run);
    if (misfit.empty() && !flagged.empty()) {
      misfit = fmt::format("{}: {}", document.path.filename().string(), flagged);
    }
    if (run.value("stable", true) && std::isfinite(number_of(run, "rate"))) {
      networks[text_of(run, "network") + ", " + workload_of(run)].dots.push_back(
          {number_of(run, "rate"), number_of(run, "avg_packet_latency"), 0, {}});
    }
    energies.emplace_back(name_of(run), object_of(run, "energy_pj"));
    table.rows.push_back(
        {document.path.filename().string(), text_of(run, "network"), workload_of(run),
         figure_text(number_of(run, "rate")), figure_text(number_of(run, "avg_packet_latency")),
         figure_text(number_of(run, "p99_packet_latency")),
         figure_text(number_of(run, "accepted_flits_per_node_cycle")),
         figure_text(number_of(run, "avg_hops")),
         figure_text(number_of(run, "energy_pj_per_flit")) + (flagged.empty() ? "" : ", misfit"),
         energy_text(run, "power"), energy_text(run, "wire_share"),
         run.value("stable", true) ? "yes" : "no"});
  }
  warn_of_misfit(page, misfit);
  page.chart("Latency against rate", latency_plot(networks));
  page.chart("Energy by component", energy_bars(energies));
  page.section("Every run");
  page.table(table);
  return page.finish();
}

std::string curves_page(const json& content) {
  std::vector<json> curves;
  if (content.contains("curves")) {
    for (const json& curve : content.at("curves")) curves.push_back(curve);
  } else {
    curves.push_back(content);
  }
  std::map<std::string, Series> networks;
  std::map<std::string, Series> energies;
  Table table{"Every point",
              {{"network"},
               {"traffic"},
               {"rate", true},
               {"latency [cycles]", true},
               {"p99 [cycles]", true},
               {"accepted", true},
               {"energy", true},
               {"pJ a flit", true},
               {"power", true},
               {"share of wires", true},
               {"stable"}},
              {}};
  std::string misfit;
  bool is_virtual = false;
  std::pair<std::string, double> best{"", -1};
  for (const json& curve : curves) {
    const auto name = text_of(curve, "network");
    is_virtual = is_virtual || curve.value("virtual", false);
    if (misfit.empty()) misfit = misfit_of(curve);
    for (const json& point : curve.at("points")) {
      const bool stable = point.value("stable", true);
      const double rate = number_of(point, "rate");
      if (stable) {
        networks[name].dots.push_back({rate, number_of(point, "avg_packet_latency"), 0, {}});
        energies[name].dots.push_back({rate, number_of(point, "energy_pj_per_flit"), 0, {}});
        if (rate > best.second) best = {name, rate};
      }
      table.rows.push_back(
          {name, text_of(curve, "traffic"), figure_text(rate),
           figure_text(number_of(point, "avg_packet_latency")),
           figure_text(number_of(point, "p99_packet_latency")),
           figure_text(number_of(point, "accepted_flits_per_node_cycle")),
           energy_text(point, "energy"), figure_text(number_of(point, "energy_pj_per_flit")),
           energy_text(point, "power"), energy_text(point, "wire_share"), stable ? "yes" : "no"});
    }
  }
  Html page("Latency and energy curves of networks", is_virtual);
  page.answer(
      best.second < 0 ? "no stable point" : best.first + " stays stable longest",
      {best.second < 0 ? std::string()
                       : fmt::format("up to {} flits per node and cycle, of the rates tried. "
                                     "One seed a point: no interval.",
                                     figure_text(best.second))});
  warn_of_misfit(page, misfit);
  page.chart("Latency against rate", latency_plot(networks));
  page.chart("Energy against rate", energy_plot(energies));
  page.section("Every point");
  page.table(table);
  return page.finish();
}

}  // namespace ww::report
