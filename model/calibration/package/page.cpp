// The page of a calibration of a package's dies.
#include <fmt/format.h>

#include "package/package.hpp"
#include "requests.hpp"
#include "ww/calibration/way_name.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

Table runs_table(const json& model) {
  Table table{"The campaign", {{"quantity"}, {"value", true}}, {}};
  const json& closure = model.at("closure");
  if (closure.at("slope").is_number()) {
    table.rows.push_back({"the socket's power over the sum of its parts, slope",
                          fmt::format("{:.3f}", closure.at("slope").get<double>())});
    table.rows.push_back({"what that leaves, of the largest load [%]",
                          fmt::format("{:.2f}", 100 * closure.at("residual").get<double>())});
  }
  table.rows.push_back(
      {"bits behind the L2s [bit/s]", fmt::format("{:.3g}", model.at("bits_per_s").get<double>())});
  for (const char* count : {"blocks", "runs", "rejected"}) {
    table.rows.push_back({count, std::to_string(model.at(count).get<int>())});
  }
  return table;
}

}  // namespace

Page Package::page() const {
  Page page;
  page.title = "Ways between the dies of " + provenance_.device;
  Table ways{"Energy per bit by way, 95% intervals with the rails' gains",
             {{"way"}, {"value", true}, {"low", true}, {"high", true}, {"unit"}, {"status"}},
             {}};
  Table reasons{"What the rails do not separate", {{"way"}, {"why"}}, {}};
  int identified = 0;
  const auto all = figures();
  for (const Figure& figure : all) {
    const std::string name = way_name(figure.name);
    const auto number = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.3f}", *value) : std::string("-");
    };
    ways.rows.push_back({name, number(figure.value), number(figure.low), number(figure.high),
                         figure.unit, to_string(figure.status)});
    if (!figure.value) {
      reasons.rows.push_back({name, figure.reason});
      continue;
    }
    ++identified;
    if (figure.name == "row_hop") page.answer = number(figure.value) + " pJ per bit and row's link";
    if (figure.name == "xgmi") {
      page.answer = number(figure.value) + " pJ per bit and link between the parts";
    }
  }
  if (page.answer.empty()) page.answer = fmt::format("{} ways identified", identified);
  // Two parts with links between them have no other row.
  const bool pair = all.size() == 1 && all.front().name == "xgmi";
  if (pair) {
    page.notes = {"Each of two parts reads its own memory and the other's, at one rate.",
                  "The figure is the interaction of part and memory in the socket's power."};
  } else {
    page.notes = {
        "Every compute die reads pages of its own I/O die, of its neighbours and of the "
        "one across, from the Infinity Cache and from memory, at one rate.",
        "Each figure is a difference between conditions on one rail."};
  }
  page.sections.push_back({"Ways", !pair, {std::move(ways)}});
  if (!reasons.rows.empty()) page.sections.back().tables.push_back(std::move(reasons));
  page.sections.push_back({"Controls", false, {controls_table(document_)}});
  page.sections.push_back({"Runs", false, {runs_table(document_)}});
  return page;
}

}  // namespace ww::calibration
