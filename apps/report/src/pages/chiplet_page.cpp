// The page of a calibration of the ways between a package's dies.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "pages/ways.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

PackageWays identified_ways(const json& model) {
  std::map<std::string, double> figures;
  for (const json& row : model.at("hop_classes")) {
    if (row.at("value").is_number()) figures[row.at("name")] = row.at("value");
  }
  return package_ways(figures);
}

// Two parts with links between them: there is no other row.
bool is_pair(const json& model) {
  return model.at("hop_classes").size() == 1 && model.at("hop_classes").at(0).at("name") == "xgmi";
}

}  // namespace

std::string chiplet_page(const json& model) {
  Html page("Ways between the dies of " + model.value("device", ""), model.value("virtual", false));
  int identified = 0;
  Table ways{"Energy per bit by way, 95% intervals with the rails' gains",
             {{"way", false},
              {"value", true},
              {"low", true},
              {"high", true},
              {"unit", false},
              {"status", false}},
             {}};
  Table reasons{"What the rails do not separate", {{"way", false}, {"why", false}}, {}};
  std::string answer;
  for (const json& row : model.at("hop_classes")) {
    const std::string name = way_name(row.at("name").get<std::string>());
    const auto text = [&row](const char* key) {
      return row.at(key).is_number() ? fmt::format("{:.3f}", row.at(key).get<double>())
                                     : std::string("-");
    };
    ways.rows.push_back({name, text("value"), text("low"), text("high"),
                         row.at("unit").get<std::string>(), row.at("status").get<std::string>()});
    if (row.at("value").is_null()) {
      reasons.rows.push_back({name, row.value("reason", "")});
      continue;
    }
    ++identified;
    if (row.at("name") == "row_hop") answer = text("value") + " pJ per bit and row's link";
    if (row.at("name") == "xgmi") answer = text("value") + " pJ per bit and link between the parts";
  }
  if (answer.empty()) answer = fmt::format("{} ways identified", identified);
  if (is_pair(model)) {
    page.answer(answer,
                {"Each of two parts reads its own memory and the other's, at one rate.",
                 "The figure is the interaction of part and memory in the socket's power."});
    page.section("Ways");
  } else {
    page.answer(answer,
                {"Every compute die reads pages of its own I/O die, of its neighbours and of the "
                 "one across, from the Infinity Cache and from memory, at one rate.",
                 "Each figure is a difference between conditions on one rail."});
    page.section("Ways");
    page.drawing(
        package_map(identified_ways(model), "energy per bit by way between dies", "pJ/bit"),
        "The package as a block diagram: four I/O dies, two compute dies (XCDs) on each, two "
        "memory stacks (HBM) beside each. Which die stands where is its maker's drawing; "
        "nothing is to scale. A way without colour is not identified.");
  }
  page.table(ways);
  if (!reasons.rows.empty()) page.table(reasons);
  page.section("Controls");
  Table controls{"Controls, whose outcome is known in advance",
                 {{"control", false}, {"outcome", false}, {"seen", false}},
                 {}};
  for (const json& control : model.at("controls")) {
    controls.rows.push_back({control.at("name").get<std::string>(),
                             control.at("passed").get<bool>() ? "passed" : "FAILED",
                             control.at("detail").get<std::string>()});
  }
  page.table(controls);
  page.section("Runs");
  Table runs{"The campaign", {{"quantity", false}, {"value", true}}, {}};
  const json& closure = model.at("closure");
  if (closure.at("slope").is_number()) {
    runs.rows.push_back({"the socket's power over the sum of its parts, slope",
                         fmt::format("{:.3f}", closure.at("slope").get<double>())});
    runs.rows.push_back({"what that leaves, of the largest load [%]",
                         fmt::format("{:.2f}", 100 * closure.at("residual").get<double>())});
  }
  runs.rows.push_back(
      {"bits behind the L2s [bit/s]", fmt::format("{:.3g}", model.at("bits_per_s").get<double>())});
  for (const char* count : {"blocks", "runs", "rejected"}) {
    runs.rows.push_back({count, std::to_string(model.at(count).get<int>())});
  }
  page.table(runs);
  return page.finish();
}

}  // namespace ww::report
