#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "drawing/floorplan_map.hpp"
#include "drawing/plots.hpp"
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/names.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

// A part of a sum; below what matters it is only said to be small.
std::string small_text(double value, double least) {
  if (value != 0 && std::abs(value) < least) return fmt::format("< {:g}", least);
  return figure_text(value, 3);
}

class Page {
 public:
  explicit Page(const Document& document)
      : model_(document.content),
        score_(document.score),
        document_(document),
        unit_(distance_unit(model_)),
        page_("Interconnect energy of " + text_of(model_, "device"),
              model_.value("virtual", false)) {}

  std::string write() {
    answer();
    warnings();
    tiles();
    map();
    plot("Energy against distance", energy_against_distance(model_));
    plot("Long path over short path", short_against_long(model_));
    plot("Power over time", power_over_time(model_, document_.runs));
    plot("Idle power against temperature", idle_against_temperature(model_));
    plot("Residuals", residuals(model_));
    plot("What the temperature correction does", corrected_against_uncorrected(model_, score_));
    constants();
    scored();
    rejected();
    provenance();
    return page_.finish();
  }

 private:
  void plot(const char* heading, const Plot& plot) { page_.chart(heading, plot); }

  void answer() {
    const json& energy = object_of(model_, in_unit(model_, "energy_fj_per_bit").c_str());
    const std::string status = text_of(energy, "status");
    if (status != "ok" && status != "misfit") {
      page_.answer(text_of(energy, "status"), {text_of(energy, "reason")});
      return;
    }
    const json& reference = object_of(model_, "reference");
    page_.answer(
        fmt::format("{} fJ/bit/{}{}", figure_text(number_of(energy, "value")), unit_,
                    status == "misfit" ? ", misfit" : ""),
        {fmt::format(
             "95% interval {}, with the errors of sensor gain, regulator and {}. Within this "
             "campaign alone: {}.",
             interval_text(number_of(energy, "low"), number_of(energy, "high")),
             unit_ == "mm" ? "positions in the floorplan" : "measured latencies",
             interval_text(number_of(energy, "sensed_low"), number_of(energy, "sensed_high"))),
         in_words(number_of(energy, "value")),
         fmt::format("Per payload bit and extra {}, repeaters, switches and requests along the way "
                     "included; convention {}, random payload, {} V, {} MHz.",
                     unit_ == "mm" ? "routed millimetre" : "nanosecond of flight there and back",
                     text_of(energy, "convention"),
                     figure_text(number_of(reference, "voltage_v"), 5),
                     figure_text(number_of(reference, "clock_hz") / 1e6))});
  }

  // Explains the figure to a reader who meets it for the first time.
  [[nodiscard]] std::string in_words(double energy_fj) const {
    std::string text =
        fmt::format("A bit that travels {} farther between L1 and L2 costs {} fJ more",
                    unit_ == "mm" ? "a millimetre" : "a nanosecond, there and back,",
                    figure_text(energy_fj, 3));
    const double percent = number_of(object_of(model_, "paths"), "long_over_short_percent");
    const json& distances = object_of(model_, "distances");
    const double near = number_of(distances, in_unit(model_, "near").c_str());
    const double far = number_of(distances, in_unit(model_, "far").c_str());
    if (std::isfinite(percent) && std::isfinite(near) && std::isfinite(far)) {
      text += fmt::format(
          "; streaming from the far side of the chip ({} {} instead of {} {}{}) takes {} % more "
          "dynamic power for the same work",
          figure_text(far, 3), unit_, figure_text(near, 3), unit_, beyond_shortest(),
          figure_text(percent, 3));
    }
    return text + ".";
  }

  // Latencies show how much longer ways are, not how long.
  [[nodiscard]] const char* beyond_shortest() const {
    return unit_ == "mm" ? "" : " beyond the shortest";
  }

  void warnings() {
    const std::string control = text_of(object_of(model_, "provenance"), "control");
    if (!control.empty()) {
      page_.warn("This is a control of the method, and no calibration.",
                 "The campaign was fitted " + control + ".");
    }
    if (const auto reason = misfit_of(model_); !reason.empty()) {
      page_.warn("The model does not fit.", reason + ". Do not rely on the figure above.");
    }
  }

  void tiles() {
    const json& paths = object_of(model_, "paths");
    const json& distances = object_of(model_, "distances");
    page_.tiles(
        {{figure_text(number_of(paths, "long_over_short_percent"), 3) + " %",
          "long over short path, dynamic power"},
         {fmt::format("{} / {} {}",
                      figure_text(number_of(distances, in_unit(model_, "near").c_str()), 3),
                      figure_text(number_of(distances, in_unit(model_, "far").c_str()), 3), unit_),
          std::string("mean short and long path") + beyond_shortest()},
         {figure_text(100 * number_of(paths, "l1_l2_bandwidth_fraction"), 3) + " %",
          "of peak L1–L2 bandwidth, saturated runs"},
         {figure_text(number_of(model_, "residual_rms_w"), 2) + " W",
          "residual of stream plateaus, rms"},
         {figure_text(100 * number_of(object_of(model_, "misfit"), "statistic"), 2) + " %",
          "of the signal unexplained by distance"},
         {fmt::format("{} / {}", figure_text(number_of(model_, "runs"), 6),
                      figure_text(number_of(model_, "rejected"), 6)),
          "runs / rejected"}});
  }

  void map() {
    const auto plan = model::parse_floorplan(document_.floorplan_toml, "floorplan of the campaign");
    const json& energy = object_of(model_, "energy_fj_per_bit_mm");
    const double constant = number_of(energy, "value");
    if (!plan || !std::isfinite(constant)) return;
    const json& distances = object_of(model_, "distances");
    const json& table = list_of(distances, "engine_to_quadrant_mm");
    const auto picojoules = [&](int engine, int quadrant) {
      const auto e = static_cast<std::size_t>(engine);
      const auto q = static_cast<std::size_t>(quadrant);
      if (e >= table.size() || !table[e].is_array() || q >= table[e].size()) return std::nan("");
      return table[e][q].is_number() ? table[e][q].get<double>() * constant * 1e-3 : std::nan("");
    };
    page_.section("Where a bit costs what");
    page_.drawing(
        route_map(*plan, picojoules, "Energy of a bit by route", "pJ/bit"),
        fmt::format("Floorplan {} ({}): fitted energy per bit and millimetre times the "
                    "routed distance of every engine and quadrant. Routes are drawn side "
                    "by side along their Manhattan way; point at one for its figure. Squares: "
                    "compute units below their engine's name, L2 channels at q0, q1, ... (the "
                    "quadrants), memory controllers at the rim.",
                    plan->name, plan->estimated ? "distances estimated" : "distances sourced"));
    Table values{"Energy of a bit by route", {{"engine"}}, {}};
    for (std::size_t q = 0; q < plan->quadrants.size(); ++q) {
      values.columns.push_back({fmt::format("quadrant {} [pJ/bit]", q), true});
    }
    for (std::size_t e = 0; e < plan->compute_units.size(); ++e) {
      values.rows.push_back({std::to_string(e)});
      for (std::size_t q = 0; q < plan->quadrants.size(); ++q) {
        values.rows.back().push_back(
            figure_text(picojoules(static_cast<int>(e), static_cast<int>(q))));
      }
    }
    page_.table(values);
  }

  void constants() {
    page_.section("Constants");
    Table table{"Fitted constants",
                {{"constant"},
                 {"value", true},
                 {"95% absolute", true},
                 {"95% sensed", true},
                 {"unit"},
                 {"status"}},
                {}};
    for (const json& c : list_of(model_, "constants")) {
      const auto reason = text_of(c, "reason");
      const std::string unit = text_of(c, "unit");
      table.rows.push_back({constant_name(text_of(c, "name")), figure_text(number_of(c, "value")),
                            interval_text(number_of(c, "low"), number_of(c, "high")),
                            interval_text(number_of(c, "sensed_low"), number_of(c, "sensed_high")),
                            unit == "1" ? std::string() : unit,
                            text_of(c, "status") + (reason.empty() ? "" : ": " + reason)});
    }
    page_.table(table);
    budget();
    Table idle{"Idle power by voltage and clock state",
               {{"state", true},
                {"idle power [W], u = (T - reference) / 10 K"},
                {"reference [°C]", true},
                {"from [°C]", true},
                {"to [°C]", true},
                {"rms [W]", true}},
               {}};
    for (const json& curve : list_of(model_, "idle")) {
      std::string polynomial;
      int power = 0;
      for (const json& coefficient : list_of(curve, "coefficients_w")) {
        if (!coefficient.is_number()) continue;
        polynomial += fmt::format("{}{:.4g}{}", power > 0 ? " + " : "", coefficient.get<double>(),
                                  power == 0 ? "" : fmt::format(" u^{}", power));
        ++power;
      }
      idle.rows.push_back(
          {std::to_string(curve.value("dvfs_state", 0)), polynomial,
           figure_text(number_of(curve, "reference_c")), figure_text(number_of(curve, "low_c"), 3),
           figure_text(number_of(curve, "high_c"), 3), figure_text(number_of(curve, "rms_w"), 2)});
    }
    if (!idle.rows.empty()) page_.table(idle);
  }

  // Shows the budget as JCGM 100 lays it out: what contributes how much, and three intervals.
  void budget() {
    const json& budget = object_of(model_, "budget");
    Table lines{"Uncertainty budget of the energy",
                {{"source"},
                 {"type"},
                 {"distribution"},
                 {"standard uncertainty", true},
                 {"sensitivity", true},
                 {"contribution [fJ/bit/" + unit_ + "]", true},
                 {"share of the variance", true}},
                {}};
    for (const json& row : list_of(budget, "rows")) {
      const std::string unit = text_of(row, "unit");
      lines.rows.push_back(
          {text_of(row, "source"), text_of(row, "type"), text_of(row, "distribution"),
           small_text(number_of(row, "standard_uncertainty"), 0.001) +
               (unit == "1" ? "" : " " + unit),
           figure_text(number_of(row, "sensitivity")),
           small_text(number_of(row, in_unit(model_, "contribution_fj_per_bit").c_str()), 0.001),
           small_text(100 * number_of(row, "share"), 0.01) + " %"});
    }
    if (lines.rows.empty()) return;
    page_.table(lines);
    Table levels{"Expanded uncertainty",
                 {{"level", true}, {"coverage factor", true}, {"± [fJ/bit/" + unit_ + "]", true}},
                 {}};
    for (const json& row : list_of(budget, "expanded")) {
      levels.rows.push_back(
          {figure_text(100 * number_of(row, "level"), 2) + " %",
           figure_text(number_of(row, "coverage_factor"), 4),
           figure_text(number_of(row, in_unit(model_, "half_width_fj_per_bit").c_str()))});
    }
    page_.table(levels);
  }

  void scored() {
    if (score_.empty()) return;
    page_.section("Against the sealed truth");
    Table table{"Fit beside the virtual chip's truth",
                {{"name"}, {"truth", true}, {"fit", true}, {"interval", true}, {"covered"}},
                {}};
    for (const json& c : list_of(score_, "constants")) {
      table.rows.push_back({constant_name(text_of(c, "name")), figure_text(number_of(c, "truth")),
                            figure_text(number_of(c, "fit")),
                            interval_text(number_of(c, "low"), number_of(c, "high")),
                            c.value("covered", false) ? "yes" : "no"});
    }
    page_.table(table);
    page_.add("<p>Error {} %, as sensed {} %.</p>",
              figure_text(number_of(score_, "error_percent"), 3),
              figure_text(number_of(score_, "error_sensed_percent"), 3));
  }

  void rejected() {
    page_.section("Rejected runs");
    Table table{"Rejected runs",
                {{"block", true}, {"position", true}, {"kind"}, {"payload"}, {"reason"}},
                {}};
    for (const json& row : list_of(model_, "plateaus")) {
      if (row.value("used", true) || text_of(row, "reason").empty()) continue;
      table.rows.push_back({std::to_string(row.value("block", std::int64_t{0})),
                            std::to_string(row.value("position", std::int64_t{0})),
                            text_of(row, "kind"), text_of(row, "pattern"), text_of(row, "reason")});
    }
    if (table.rows.empty()) {
      page_.add("<p>None.</p>");
    } else {
      page_.table(table);
    }
  }

  void provenance() {
    page_.section("Provenance");
    Table table{"Provenance", {{"what"}, {"value"}}, {}};
    table.rows.push_back({"device", text_of(model_, "device") +
                                        (model_.value("virtual", false) ? " (virtual)" : "")});
    table.rows.push_back({"floorplan", text_of(object_of(model_, "distances"), "floorplan")});
    for (const auto& [key, what] : {std::pair{"started_utc", "measured from (UTC)"},
                                    {"elapsed_s", "took [s]"},
                                    {"driver", "driver"},
                                    {"finished", "campaign finished"}}) {
      const auto fact = document_.facts.find(key);
      if (fact != document_.facts.end()) table.rows.push_back({what, fact->second});
    }
    if (const auto sensor = document_.facts.find("sensor"); sensor != document_.facts.end()) {
      const json info = json::parse(sensor->second, nullptr, false);
      if (info.is_object()) table.rows.push_back({"power sensor", text_of(info, "name")});
    }
    if (!document_.array_caches.empty()) {
      table.rows.push_back({"caches of shader arrays (GL1)", document_.array_caches});
    }
    const json& origin = object_of(model_, "provenance");
    for (const auto& [key, value] : origin.items()) {
      table.rows.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
    }
    page_.table(table);
  }

  const json& model_;
  const json& score_;
  const Document& document_;
  const std::string unit_;  // of distances
  Html page_;
};

}  // namespace

std::string calibration_page(const Document& calibration) {
  return Page(calibration).write();
}

}  // namespace ww::report
