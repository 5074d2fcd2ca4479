#include "ladder/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kinds/kinds.hpp"
#include "requests.hpp"
#include "score.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

constexpr const char* kRows = "ladder_pj_per_bit";
constexpr std::array<std::string_view, 7> kForeignToEstimate{
    "--floorplan", "--segments",        "--out", "--timeline", "--rocpd",
    "--voltage",   "a program after --"};
constexpr std::array<std::string_view, 12> kForeignToProject{
    "--wire-to-logic", "--share", "--voltage", "--clock",     "--optimise", "--seed",
    "--trace",         "--l1",    "--l2",      "--card-node", "--moved",    "--crossing-mm"};
constexpr const char* kHas =
    "has energy per bit by level of the memory's hierarchy, no millimetre and no voltage";

// Never tuned to: they stand beside ours.
constexpr std::array kPublished{
    PublishedLevel{"GDDR6X of an RTX 3090, read", 30, 30, "at board level, whole way from DRAM",
                   "an open ladder of a board's power"},
    PublishedLevel{"GDDR6X of an RTX 3090, write", 31, 32, "at board level, whole way to DRAM",
                   "an open ladder of a board's power"},
    PublishedLevel{"GDDR6X of an RTX 3090, beyond the L2", 21, 21,
                   "at board level, 15% rms; the L2 beyond the L1: 1.35", "gpupower0701"},
    PublishedLevel{"HBM", 4, 7, "the stack and its interface alone", "published range"},
    PublishedLevel{"DRAM and interface, 2010", 28, 45, "access 8 to 15, interface 20 to 30",
                   "Keckler et al., IEEE Micro 31(5), 2011, table 2"},
    PublishedLevel{"SRAM of 8 KB, 40 nm", 0.22, 0.22, "array alone, 14 pJ for 64 bits",
                   "Keckler et al., IEEE Micro 31(5), 2011, table 1"},
};

}  // namespace

std::span<const PublishedLevel> published_levels() {
  return kPublished;
}

Table published_table() {
  Table table{"Published energies, each by its own convention",
              {{"PUBLISHED", false, "what"},
               {"pJ/bit", true},
               {"CONVENTION", false, "convention"},
               {"SOURCE", false, "source"},
               {"", false, "low"},
               {"", false, "high"}},
              {}};
  for (const PublishedLevel& level : kPublished) {
    const std::string text = level.low == level.high
                                 ? fmt::format("{:g}", level.low)
                                 : fmt::format("{:g}..{:g}", level.low, level.high);
    table.rows.push_back({level.what, Cell::shown(text), level.convention, level.source,
                          Cell("", level.low), Cell("", level.high)});
  }
  return table;
}

Result<std::unique_ptr<Calibration>> parse_ladder(json document, const std::string& origin,
                                                  Admission admission) {
  const auto rows = document.find(kRows);
  if (rows == document.end() || !rows->is_array()) {
    return fail(ErrorCode::parse_error, fmt::format("is no ladder: it has no list '{}'", kRows),
                origin);
  }
  const auto identified = [](const json& row) { return figure_of(row).value.has_value(); };
  if (admission != Admission::any && std::ranges::none_of(*rows, identified)) {
    const std::string reason = rows->empty() ? "it has no row" : figure_of(rows->front()).reason;
    return fail(ErrorCode::bad_data, "the ladder has no figure: " + reason, origin);
  }
  return std::make_unique<Ladder>(std::move(document));
}

Ladder::Ladder(json document) : document_(std::move(document)) {
  provenance_.device = document_.value("device", "");
  provenance_.is_virtual = document_.contains("virtual") && document_["virtual"] == json(true);
  if (const auto chip = document_.find("chip"); chip != document_.end() && chip->is_object()) {
    provenance_.target = chip->value("target", "");
  }
  provenance_.source = "ladder" + (provenance_.device.empty() ? "" : " of " + provenance_.device);
}

std::vector<Figure> Ladder::figures() const {
  std::vector<Figure> figures;
  for (const json& row : document_.at(kRows)) figures.push_back(figure_of(row));
  return figures;
}

std::vector<Figure> Ladder::circumstances() const {
  std::vector<Figure> rows;
  for (const auto& [name, unit, key] :
       {std::tuple{"idle power's growth", "W/K", "idle_w_per_k"},
        std::tuple{"residual of the runs", "W", "residual_w"}, std::tuple{"runs", "", "runs"},
        std::tuple{"rejected", "", "rejected"}}) {
    Figure& row = rows.emplace_back();
    row.name = name;
    row.unit = unit;
    row.value = number_at(document_, key);
  }
  return rows;
}

Figure Ladder::figure(std::string_view name) const {
  for (Figure& figure : figures()) {
    if (figure.name == name) return figure;
  }
  Figure none;
  none.name = name;
  none.status = RowStatus::unavailable;
  none.reason = fmt::format("the ladder has no '{}'", name);
  return none;
}

Foreign Ladder::foreign(Use use) const {
  if (use == Use::estimate) return {kForeignToEstimate, kHas};
  return {kForeignToProject, kHas};
}

Result<Answer> Ladder::project(const ProjectRequest& /*request*/) const {
  return fail(ErrorCode::unsupported,
              "a level's energy is of arrays, wires and instructions together, and no published "
              "table scales their sum with the node",
              provenance_.device);
}

Result<LinkConstants> Ladder::link_constants() const {
  return fail(ErrorCode::unsupported, std::string(kHas) + ", so it prices no network's links",
              provenance_.device);
}

Result<Answer> Ladder::score(const Revealed& truth) const {
  Table table{"The sealed truth beside the fit",
              {{"FIGURE", false, "name"},
               {"TRUTH", true, "truth"},
               {"SENSED", true, "sensed_truth"},
               {"FIT (95%)", true, "fit"},
               {"COVERED", false, "covered"},
               {"ERROR", true, "error_sensed_percent"},
               {"UNIT", false, "unit"},
               {"STATUS", false, "status"},
               {"", false, "covered_sensed"}},
              {}};
  const auto number = [](double value) { return Cell(fmt::format("{:.4g}", value), value); };
  const auto yes = [](const std::optional<bool>& value) {
    return value ? Cell(*value ? "yes" : "no", *value) : Cell("-", nullptr);
  };
  for (const json& row : document_.at(kRows)) {
    const Figure fit = figure_of(row);
    const auto found = std::ranges::find(truth.figures, fit.name, &RevealedFigure::name);
    if (found == truth.figures.end()) continue;
    const auto error = fit.value && found->sensed != 0
                           ? std::optional(100 * (*fit.value / found->sensed - 1))
                           : std::nullopt;
    table.rows.push_back(
        {fit.name, number(found->truth), number(found->sensed), fit.interval(),
         yes(covers(fit.low, found->truth, fit.high)),
         Cell(error ? fmt::format("{:+.2f}%", *error) : "-", or_null(error)), fit.unit,
         to_string(fit.status),
         yes(covers(number_at(row, "sensed_low"), found->sensed, number_at(row, "sensed_high")))});
  }
  Answer answer;
  answer.json = {{"kind", kind()},
                 {"device", provenance_.device},
                 {"virtual", true},
                 {"chip_class", truth.chip_class},
                 {"figures", table_json(table)},
                 {"controls", document_.value("controls", json::array())}};
  answer.text.emplace_back(std::move(table));
  answer.text.emplace_back("ERROR is of what the sensor's gain lets any fit sense.");
  return answer;
}

}  // namespace ww::calibration
