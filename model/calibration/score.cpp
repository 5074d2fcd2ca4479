#include "score.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::calibration {

std::optional<double> number_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                     : std::nullopt;
}

std::optional<bool> covers(const std::optional<double>& low, double truth,
                           const std::optional<double>& high) {
  return low && high ? std::optional(*low <= truth && truth <= *high) : std::nullopt;
}

Result<double> sealed_joules(const std::map<std::string, double>& sealed_j,
                             const std::string& column) {
  const auto found = sealed_j.find(column);
  if (found != sealed_j.end()) return found->second;
  return fail(ErrorCode::bad_data, fmt::format("no column '{}'", column), "the sealed energies");
}

void judge(nlohmann::json& row, const std::optional<Interval>& estimate_j, double truth_j) {
  if (!estimate_j) return;
  const Interval& energy = *estimate_j;
  row["estimate_j"] = energy.value;
  row["low_j"] = energy.low;
  row["high_j"] = energy.high;
  row["covered"] = energy.holds(truth_j);
  if (energy.value > 0) {
    row["half_width_percent"] = 50 * (energy.high - energy.low) / energy.value;
  }
  if (truth_j > 0) row["error_percent"] = 100 * (energy.value / truth_j - 1);
}

std::string number_text(const nlohmann::json& row, const char* key) {
  return row.is_object() && row.contains(key) ? fmt::format("{:.4g}", row[key].get<double>())
                                              : std::string("-");
}

std::vector<Cell> judged_cells(const nlohmann::json& row) {
  return {number_text(row, "estimate_j"), number_text(row, "low_j"), number_text(row, "high_j"),
          number_text(row, "error_percent"), row.value("covered", false) ? "yes" : "no"};
}

std::string judged_text(const nlohmann::json& row) {
  return fmt::format("{}% +- {}%, covered {}", number_text(row, "error_percent"),
                     number_text(row, "half_width_percent"),
                     row.is_object() && row.value("covered", false) ? "yes" : "no");
}

Answer score_figures(const Calibration& calibration, const Revealed& truth) {
  Table table{"The sealed truth beside the fit",
              {{"FIGURE", false, "name"},
               {"TRUTH", true, "truth"},
               {"SENSED", true, "sensed_truth"},
               {"FIT (95%)", true, "fit"},
               {"COVERED", false, "covered"},
               {"UNIT", false, "unit"},
               {"STATUS", false, "status"}},
              {}};
  const auto number = [](double value) { return Cell(fmt::format("{:.4g}", value), value); };
  for (const Figure& fit : calibration.figures()) {
    const auto found = std::ranges::find(truth.figures, fit.name, &RevealedFigure::name);
    if (found == truth.figures.end()) continue;
    const auto covered = covers(fit.low, found->truth, fit.high);
    table.rows.push_back({fit.name, number(found->truth), number(found->sensed), fit.interval(),
                          covered ? Cell(*covered ? "yes" : "no", *covered) : Cell("-", nullptr),
                          fit.unit, to_string(fit.status)});
  }
  const Provenance& provenance = calibration.provenance();
  Answer answer;
  answer.json = {{"kind", calibration.kind()},
                 {"device", provenance.device},
                 {"virtual", true},
                 {"chip_class", truth.chip_class},
                 {"figures", table_json(table)}};
  answer.text.emplace_back(std::move(table));
  return answer;
}

}  // namespace ww::calibration
