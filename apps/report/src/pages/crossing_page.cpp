// The page of a calibration per crossing of a partitioned L2 (crossing.json).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "html.hpp"
#include "pages/page_kinds.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

std::string crossing_figure(const json& row) {
  if (row.at("value").is_null()) {
    return row.at("status").get<std::string>() + ": " + row.value("reason", "");
  }
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", row.at("value").get<double>(),
                     row.at("low").get<double>(), row.at("high").get<double>());
}

}  // namespace

std::string crossing_page(const json& crossing) {
  const json& energy = crossing.at("energy_pj_per_bit_crossing");
  const std::string device = crossing.value("device", "");
  Html page("L2 crossing of " + device, crossing.value("virtual", false));
  if (energy.at("value").is_null()) {
    page.answer("No figure: " + energy.at("status").get<std::string>(),
                {energy.value("reason", "")});
  } else {
    page.answer(crossing_figure(energy) + " pJ per bit and crossing",
                {"95% interval; random data between the two sides of the L2.",
                 "Per crossing, not per millimetre: no floorplan of this part is public.",
                 "A board sensor's figure includes the losses of the voltage regulators."});
  }
  page.section("Energy");
  Table figures{"Energy per bit and crossing", {{"data", false}, {"pJ/bit", false}}, {}};
  figures.rows.push_back({"random", crossing_figure(energy)});
  figures.rows.push_back({"zeros", crossing_figure(crossing.at("zero_data_pj_per_bit_crossing"))});
  figures.rows.push_back(
      {"random less zeros", crossing_figure(crossing.at("data_part_pj_per_bit_crossing"))});
  page.table(figures);
  page.section("Controls");
  Table controls{"Controls, whose outcome is known in advance",
                 {{"control", false}, {"outcome", false}, {"seen", false}},
                 {}};
  for (const json& control : crossing.at("controls")) {
    controls.rows.push_back({control.at("name").get<std::string>(),
                             control.at("passed").get<bool>() ? "passed" : "FAILED",
                             control.at("detail").get<std::string>()});
  }
  page.table(controls);
  page.section("Interval");
  Table parts{"Half-widths of the 95% interval, added in quadrature",
              {{"source", false}, {"pJ/bit", true}},
              {}};
  for (const auto& [source, half] : crossing.at("half_widths_pj_per_bit_crossing").items()) {
    parts.rows.push_back({source, fmt::format("{:.3f}", half.get<double>())});
  }
  page.table(parts);
  page.section("Runs");
  Table runs{"The campaign", {{"quantity", false}, {"value", true}}, {}};
  for (const char* way : {"near", "far"}) {
    runs.rows.push_back(
        {fmt::format("{}, rate at the shortest wait [bit/s]", way),
         fmt::format("{:.3g}", crossing.at(fmt::format("{}_bits_per_s", way)).get<double>())});
    runs.rows.push_back(
        {fmt::format("{}, power over idle [W]", way),
         fmt::format("{:.2f}", crossing.at(fmt::format("{}_w", way)).get<double>())});
  }
  runs.rows.push_back(
      {"greatest difference of near's and far's rates at one wait [%]",
       fmt::format("{:.2f}", 100 * crossing.at("greatest_rate_mismatch").get<double>())});
  for (const char* count : {"waits", "blocks", "runs", "rejected"}) {
    runs.rows.push_back({count, std::to_string(crossing.at(count).get<int>())});
  }
  page.table(runs);
  return page.finish();
}

}  // namespace ww::report
