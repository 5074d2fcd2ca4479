// The fitted constants of one die's wires beside the sealed truth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "score.hpp"
#include "wires/wires.hpp"
#include "ww/core/statistics.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

json bool_or_null(const std::optional<bool>& value) {
  return value ? json(*value) : json(nullptr);
}

// Toggles on request and tag wires that the campaign's random streams at full rate counted, per
// payload bit.
std::optional<double> control_toggles(const json& model) {
  const auto rows = model.find("variant_wires");
  if (rows == model.end() || !rows->is_array()) return std::nullopt;
  for (const auto& row : *rows) {
    if (!row.is_object() || row.value("pattern", "") != "random" ||
        row.value("throttle", -1) != 0) {
      continue;
    }
    if (const auto toggles = number_at(row, "control_toggles_per_bit")) return toggles;
  }
  return std::nullopt;
}

// One of the tolerances that a model declares beside its own noise: relative, 95% half-width.
std::optional<double> declared_95(const json& model, std::string_view source) {
  const auto budget = model.find("budget");
  if (budget == model.end() || !budget->is_object() || !budget->contains("rows")) {
    return std::nullopt;
  }
  for (const auto& row : (*budget)["rows"]) {
    if (row.value("source", "") == source) {
      return kNormal95 * row.value("standard_uncertainty", 0.0);
    }
  }
  return std::nullopt;
}

// Errors of the sensor and of the distances, each beside the one that the model declares for it.
json score_parts(const json& model, const RevealedFigure& figure, double sensor_factor) {
  const bool by_flight = figure.unit == "fJ/bit/ns";
  const auto part = [](double error, const std::optional<double>& declared) {
    return json{{"error", error},
                {"declared_95", or_null(declared)},
                {"covered", declared ? json(std::abs(error) <= *declared) : json(nullptr)}};
  };
  const auto gain = declared_95(model, "sensor's gain");
  const auto regulator = declared_95(model, "regulator's marginal efficiency");
  std::optional<double> sensor;
  if (gain && regulator) sensor = std::hypot(*gain, *regulator);
  return {{"sensor", part(sensor_factor - 1, sensor)},
          {"distance", part(figure.sensed / figure.truth / sensor_factor - 1,
                            declared_95(model, by_flight ? "measured latencies"
                                                         : "positions in the floorplan"))}};
}

const RevealedFigure& truth_of(const Revealed& truth, std::string_view name) {
  static const RevealedFigure kNone;
  const auto found = std::ranges::find(truth.figures, name, &RevealedFigure::name);
  return found != truth.figures.end() ? *found : kNone;
}

std::string text_of(const json& value) {
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : std::string("-");
}

Table constants_table() {
  return {"The sealed truth beside the fit",
          {{"CONSTANT", false, "name"},
           {"TRUTH", true, "truth"},
           {"FIT", true, "fit"},
           {"LOW", true, "low"},
           {"HIGH", true, "high"},
           {"COVERED", false, "covered"},
           {"UNIT", false, "unit"},
           {"", false, "status"},
           {"", false, "reason"},
           {"", true, "sensed_truth"},
           {"", true, "sensed_low"},
           {"", true, "sensed_high"},
           {"", false, "covered_sensed"}},
          {}};
}

}  // namespace

Result<Answer> Wires::score(const Revealed& truth) const {
  const RevealedFigure& energy = truth_of(truth, "energy_fj_per_bit_mm");
  Answer answer;
  json& result = answer.json;
  result = {{"truth_fj_per_bit_mm", energy.truth},
            {"truth_wire_fj_per_bit_mm", truth_of(truth, "wire_energy_fj_per_bit_mm").truth},
            {"sensed_truth_fj_per_bit_mm", energy.sensed},
            {"sensed_truth_fj_per_bit_ns", truth_of(truth, "energy_fj_per_bit_ns").sensed},
            {"error_percent", nullptr},
            {"error_sensed_percent", nullptr},
            {"covered", false},
            {"covered_wire", nullptr}};
  Table table = constants_table();
  const auto number = [](const std::optional<double>& value) {
    return Cell(text_of(or_null(value)), or_null(value));
  };
  const auto constants = document_.value("constants", json::array());
  for (const RevealedFigure& figure : truth.figures) {
    const auto row = std::ranges::find_if(constants, [&](const json& constant) {
      return constant.is_object() && constant.value("name", "") == figure.name;
    });
    if (row == constants.end()) continue;
    const auto value = number_at(*row, "value");
    const auto low = number_at(*row, "low");
    const auto high = number_at(*row, "high");
    const bool covered = covers(low, figure.truth, high).value_or(false);
    const auto own_low = number_at(*row, "sensed_low");
    const auto own_high = number_at(*row, "sensed_high");
    const auto own_covered = covers(own_low, figure.sensed, own_high);
    const std::string status = row->value("status", "");
    table.rows.push_back({figure.name, number(figure.truth), number(value), number(low),
                          number(high),
                          Cell(!value    ? status
                               : covered ? "yes"
                                         : "no",
                               covered),
                          figure.unit, status, row->value("reason", ""), number(figure.sensed),
                          number(own_low), number(own_high), Cell("", bool_or_null(own_covered))});
    if (!value) continue;
    if (figure.name == "wire_energy_fj_per_bit_mm") result["covered_wire"] = covered;
    // One of both has a value.
    if (figure.name != "energy_fj_per_bit_mm" && figure.name != "energy_fj_per_bit_ns") continue;
    result["error_percent"] = 100.0 * (*value / figure.truth - 1.0);
    result["error_sensed_percent"] = 100.0 * (*value / figure.sensed - 1.0);
    result["covered"] = covered;
    result["parts"] = score_parts(document_, figure, truth.sensor_factor);
    if (own_low && own_high) {
      result["covered_sensed"] = bool_or_null(own_covered);
      result["sensed_half_width_percent"] = 50.0 * (*own_high - *own_low) / std::abs(*value);
    }
  }
  result["constants"] = table_json(table);
  result["control_toggles_per_bit"] = {{"sealed", or_null(truth.control_toggles_per_bit)},
                                       {"campaign", or_null(control_toggles(document_))}};
  const auto misfit = document_.value("misfit", json::object());
  const bool flagged = misfit.is_object() && misfit.value("flagged", false);
  result["misfit_flagged"] = flagged;
  result["chip_class"] = truth.chip_class;
  result["virtual"] = true;
  result["device"] = document_.value("device", std::string{});
  answer.text.emplace_back(std::move(table));
  answer.text.emplace_back(
      fmt::format("error {}% of the truth, {}% of what any fit could sense; misfit {}",
                  text_of(result["error_percent"]), text_of(result["error_sensed_percent"]),
                  flagged ? "flagged" : "not flagged"));
  return answer;
}

}  // namespace ww::calibration
