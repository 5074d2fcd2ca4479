#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plots.hpp"
#include "style.hpp"
#include "svg.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

std::string figure_text(double value, int digits = 4) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "&ndash;";
}

std::string interval_text(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "&ndash;";
  return fmt::format("{:.4g} to {:.4g}", low, high);
}

json object_of(const json& parent, const char* key) {
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? *found : json::object();
}

class Page {
 public:
  Page(const json& model, const json& score, const std::vector<StoredRun>& runs)
      : model_(model), score_(score), runs_(runs) {}

  std::string write() {
    const std::string device = escape(text_of(model_, "device"));
    const bool is_virtual = model_.value("virtual", false);
    add("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<title>{}wirewatt: {}</title><style>{}</style></head><body><main>",
        is_virtual ? "VIRTUAL · " : "", device, style);
    add("<h1>Interconnect energy of {}</h1>", device);
    if (is_virtual) {
      add("<p class=\"warn\" role=\"note\"><strong>VIRTUAL.</strong> These figures come from a "
          "simulated chip. They are not a measurement of any real device.</p>");
    }
    answer();
    warnings();
    tiles();
    plot("Power over time", power_over_time(model_, runs_));
    plot("Idle power against temperature", idle_against_temperature(model_));
    plot("Short against long path", short_against_long(model_));
    plot("Energy against distance", energy_against_distance(model_));
    plot("Residuals", residuals(model_));
    plot("What the temperature correction does", corrected_against_uncorrected(model_, score_));
    constants();
    scored();
    rejected();
    provenance();
    add("</main></body></html>");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void answer() {
    const json energy = object_of(model_, "energy_fj_per_bit_mm");
    add("<section class=\"answer\" aria-label=\"Result\">");
    if (text_of(energy, "status") == "ok") {
      add("<p class=\"big\">{} fJ/bit/mm</p>", figure_text(number_of(energy, "value")));
      add("<p>95% interval <strong>{}</strong>, with the declared tolerances of sensor gain, "
          "regulator and floorplan. Within this campaign alone: {}.</p>",
          interval_text(number_of(energy, "low"), number_of(energy, "high")),
          interval_text(number_of(energy, "sensed_low"), number_of(energy, "sensed_high")));
      const json reference = object_of(model_, "reference");
      add("<p class=\"mut\">Extra interconnect energy per payload bit and extra routed millimetre, "
          "convention {}, random payload, {} V, {} MHz.</p>",
          escape(text_of(energy, "convention")), figure_text(number_of(reference, "voltage_v"), 5),
          figure_text(number_of(reference, "clock_hz") / 1e6));
    } else {
      add("<p class=\"big\">{}</p><p>{}</p>", escape(text_of(energy, "status")),
          escape(text_of(energy, "reason")));
    }
    add("</section>");
  }

  void warnings() {
    const json misfit = object_of(model_, "misfit");
    if (misfit.value("flagged", false)) {
      add("<p class=\"warn\" role=\"alert\"><strong>The model does not fit.</strong> {}. Do not "
          "rely "
          "on the figure above.</p>",
          escape(text_of(misfit, "reason")));
    }
  }

  void tiles() {
    const json paths = object_of(model_, "paths");
    const json misfit = object_of(model_, "misfit");
    add("<section class=\"tiles\" aria-label=\"Key figures\">");
    const auto tile = [&](const std::string& value, const char* what) {
      add("<div><b>{}</b>{}</div>", value, what);
    };
    tile(figure_text(number_of(paths, "long_over_short_percent"), 3) + " %",
         "long over short path, dynamic power");
    tile(fmt::format("{} / {} mm",
                     figure_text(number_of(object_of(model_, "distances"), "near_mm"), 3),
                     figure_text(number_of(object_of(model_, "distances"), "far_mm"), 3)),
         "mean short and long path");
    tile(figure_text(100 * number_of(paths, "l1_l2_bandwidth_fraction"), 3) + " %",
         "of peak L1&ndash;L2 bandwidth, saturated runs");
    tile(figure_text(number_of(model_, "residual_rms_w"), 2) + " W",
         "residual of stream plateaus, rms");
    tile(figure_text(100 * number_of(misfit, "statistic"), 2) + " %",
         "of the signal unexplained by distance");
    tile(fmt::format("{} / {}", figure_text(number_of(model_, "runs"), 6),
                     figure_text(number_of(model_, "rejected"), 6)),
         "runs / rejected");
    add("</section>");
  }

  void plot(const char* heading, const Plot& plot) {
    add("<section><h2>{}</h2><figure>{}<figcaption>{}</figcaption></figure></section>", heading,
        to_svg(plot), escape(plot.description));
  }

  void constants() {
    add("<section><h2>Constants</h2><div class=\"scroll\"><table><thead><tr><th>name</th>"
        "<th class=\"n\">value</th><th class=\"n\">95% absolute</th><th class=\"n\">95% sensed</th>"
        "<th>unit</th><th>convention</th><th>status</th></tr></thead><tbody>");
    for (const json& c : model_.value("constants", json::array())) {
      add("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td>{}</td><td>{}</td><td>{}{}</td></tr>",
          escape(text_of(c, "name")), figure_text(number_of(c, "value")),
          interval_text(number_of(c, "low"), number_of(c, "high")),
          interval_text(number_of(c, "sensed_low"), number_of(c, "sensed_high")),
          escape(text_of(c, "unit")), escape(text_of(c, "convention")),
          escape(text_of(c, "status")),
          text_of(c, "reason").empty() ? "" : ": " + escape(text_of(c, "reason")));
    }
    for (const json& curve : model_.value("idle", json::array())) {
      std::string polynomial;
      int power = 0;
      for (const json& coefficient : curve.value("coefficients_w", json::array())) {
        if (!coefficient.is_number()) continue;
        polynomial += fmt::format("{}{:.4g}{}", power > 0 ? " + " : "", coefficient.get<double>(),
                                  power == 0 ? "" : fmt::format(" u<sup>{}</sup>", power));
        ++power;
      }
      add("<tr><td>idle power, state {}</td><td colspan=\"3\">{}; u = (T - {} °C) / 10 K, "
          "{} to {} °C, rms {} W</td><td>W</td><td></td><td>ok</td></tr>",
          curve.value("dvfs_state", 0), polynomial, figure_text(number_of(curve, "reference_c")),
          figure_text(number_of(curve, "low_c"), 3), figure_text(number_of(curve, "high_c"), 3),
          figure_text(number_of(curve, "rms_w"), 2));
    }
    add("</tbody></table></div></section>");
  }

  void scored() {
    if (score_.empty()) return;
    add("<section><h2>Against the sealed truth</h2><div class=\"scroll\"><table><thead><tr>"
        "<th>name</th><th class=\"n\">truth</th><th class=\"n\">fit</th><th "
        "class=\"n\">interval</th>"
        "<th>covered</th></tr></thead><tbody>");
    for (const json& c : score_.value("constants", json::array())) {
      add("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td>{}</td></tr>",
          escape(text_of(c, "name")), figure_text(number_of(c, "truth")),
          figure_text(number_of(c, "fit")),
          interval_text(number_of(c, "low"), number_of(c, "high")),
          c.value("covered", false) ? "yes" : "no");
    }
    add("</tbody></table></div><p>Error {} %, as sensed {} %.</p></section>",
        figure_text(number_of(score_, "error_percent"), 3),
        figure_text(number_of(score_, "error_sensed_percent"), 3));
  }

  void rejected() {
    add("<section><h2>Rejected runs</h2>");
    std::size_t count = 0;
    std::string rows;
    for (const json& row : model_.value("plateaus", json::array())) {
      if (row.value("used", true) || text_of(row, "reason").empty()) continue;
      ++count;
      rows += fmt::format(
          "<tr><td class=\"n\">{}</td><td "
          "class=\"n\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          row.value("block", std::int64_t{0}), row.value("position", std::int64_t{0}),
          escape(text_of(row, "kind")), escape(text_of(row, "pattern")),
          escape(text_of(row, "reason")));
    }
    if (count == 0) {
      add("<p>None.</p></section>");
      return;
    }
    add("<div class=\"scroll\"><table><thead><tr><th class=\"n\">block</th><th "
        "class=\"n\">position</th>"
        "<th>kind</th><th>payload</th><th>reason</th></tr></thead><tbody>{}</tbody></table></div>"
        "</section>",
        rows);
  }

  void provenance() {
    add("<section><h2>Provenance</h2><div class=\"scroll\"><table><tbody>");
    const auto row = [&](const std::string& name, const std::string& value) {
      add("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value));
    };
    row("device", text_of(model_, "device") + (model_.value("virtual", false) ? " (virtual)" : ""));
    row("floorplan", text_of(object_of(model_, "distances"), "floorplan"));
    const json origin = object_of(model_, "provenance");
    for (const auto& [key, value] : origin.items()) {
      row(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    add("</tbody></table></div></section>");
  }

  const json& model_;
  const json& score_;
  const std::vector<StoredRun>& runs_;
  std::string text_;
};

Result<json> read_object(const std::filesystem::path& file) {
  WW_ASSIGN(text, read_file(file));
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object()) {
    return fail(ErrorCode::parse_error, "is not a JSON object; run 'wirewatt fit' again",
                file.string());
  }
  return value;
}

}  // namespace

Status write_report(const std::filesystem::path& run_folder, const std::filesystem::path& html) {
  WW_ASSIGN(model, read_object(run_folder / "model.json"));
  if (text_of(model, "format") != "wirewatt-model/1") {
    return fail(ErrorCode::parse_error, "is not a wirewatt model; run 'wirewatt fit' again",
                (run_folder / "model.json").string());
  }
  json score = json::object();
  if (std::error_code ec; std::filesystem::exists(run_folder / "score.json", ec)) {
    WW_ASSIGN(found, read_object(run_folder / "score.json"));
    score = std::move(found);
  }
  WW_ASSIGN(store, CampaignStore::open_read_only(run_folder / "campaign.db"));
  WW_ASSIGN(runs, store.runs());
  std::string page;
  try {
    page = Page(model, score, runs).write();
  } catch (const json::exception& e) {
    // A key that is there with another type than this program writes.
    return fail(ErrorCode::parse_error, std::string("damaged model or score: ") + e.what(),
                run_folder.string());
  }
  return write_file_atomically(html, page);
}

}  // namespace ww::report
