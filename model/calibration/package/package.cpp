#include "package/package.hpp"

#include <fmt/format.h>

#include <array>

#include "kinds/kinds.hpp"
#include "score.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> kForeignToEstimate{"--floorplan", "--segments",
                                                             "--timeline", "--rocpd", "--voltage"};
constexpr std::array<std::string_view, 12> kForeignToProject{
    "--wire-to-logic", "--share",       "--voltage",
    "--clock",         "--optimise",    "--seed",
    "--trace",         "--l1",          "--l2",
    "--card-node",     "--crossing-mm", "--crossing-mm-source"};

}  // namespace

Result<std::unique_ptr<Calibration>> parse_package(json document, const std::string& origin,
                                                   Admission /*admission*/) {
  WW_ASSIGN(model, parse_chiplet_model(document, origin));
  return std::make_unique<Package>(std::move(document), std::move(model));
}

Package::Package(json document, ChipletModel model)
    : document_(std::move(document)), model_(std::move(model)) {
  provenance_.device = model_.device;
  provenance_.target = model_.target;
  provenance_.source = model_.source;
  provenance_.is_virtual = model_.is_virtual;
  provenance_.assumed_architecture = model_.target;
}

std::vector<Figure> Package::figures() const {
  std::vector<Figure> figures;
  for (const json& row : document_.at("hop_classes")) figures.push_back(figure_of(row));
  return figures;
}

Foreign Package::foreign(Use use) const {
  constexpr const char* kHas =
      "has energy per bit and way between dies, no millimetre and no voltage";
  if (use == Use::estimate) return {kForeignToEstimate, kHas};
  return {kForeignToProject, kHas};
}

Result<LinkConstants> Package::link_constants() const {
  for (const HopClass which : {HopClass::row_hop, HopClass::column_hop}) {
    const ChipletModel::Energy& energy = model_.of(which);
    if (energy.pj) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("the calibration has no energy of {}: {}",
                            kHopClasses[static_cast<std::size_t>(which)], energy.why_not));
  }
  LinkConstants links;
  links.pj_per_hop = {*model_.of(HopClass::row_hop).pj, *model_.of(HopClass::column_hop).pj};
  return links;
}

Result<Answer> Package::score(const Revealed& truth) const {
  Table table{"The sealed truth beside the fit",
              {{"WAY", false, "name"},
               {"TRUTH", true, "truth"},
               {"SENSED", true, "sensed_truth"},
               {"FIT", true, "fit"},
               {"LOW", true, "low"},
               {"HIGH", true, "high"},
               {"COVERED", false, "covered"},
               {"ERROR", true, "error_sensed_percent"},
               {"UNIT", false, "unit"},
               {"STATUS", false, "status"},
               {"", false, "covered_sensed"}},
              {}};
  const auto number = [](const std::optional<double>& value) {
    return Cell(value ? fmt::format("{:.4f}", *value) : "-", or_null(value));
  };
  const auto yes = [](const std::optional<bool>& value) {
    return value ? Cell(*value ? "yes" : "no", *value) : Cell("-", nullptr);
  };
  for (const RevealedFigure& way : truth.figures) {
    for (const json& row : document_.at("hop_classes")) {
      const Figure fit = figure_of(row);
      if (fit.name != way.name) continue;
      const auto error =
          fit.value ? std::optional(100 * (*fit.value / way.sensed - 1)) : std::nullopt;
      table.rows.push_back(
          {way.name, number(way.truth), number(way.sensed), number(fit.value), number(fit.low),
           number(fit.high), yes(covers(fit.low, way.truth, fit.high)),
           Cell(error ? fmt::format("{:+.2f}%", *error) : "-", or_null(error)), fit.unit,
           row.value("status", ""),
           yes(covers(number_at(row, "sensed_low"), way.sensed, number_at(row, "sensed_high")))});
    }
  }
  Answer answer;
  answer.json = {{"ways", table_json(table)},
                 {"controls", document_.value("controls", json::array())},
                 {"closure", document_.value("closure", json::object())},
                 {"chip_class", truth.chip_class},
                 {"virtual", true},
                 {"device", provenance_.device}};
  answer.text.emplace_back(std::move(table));
  answer.text.emplace_back("ERROR is of what the rail's gain lets any fit sense.");
  return answer;
}

}  // namespace ww::calibration
