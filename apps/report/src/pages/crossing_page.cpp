// The page of a calibration per crossing of a partitioned L2 (crossing.json).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pages/html.hpp"
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

Table latency_table(const json& latency) {
  Table table{
      "Latency of far less that of near, a round trip", {{"quantity", false}, {"value", true}}, {}};
  const auto add = [&](const char* name, const char* key, const char* format, double scale) {
    const json& value = latency.at(key);
    table.rows.push_back({name, value.is_number()
                                    ? fmt::format(fmt::runtime(format), scale * value.get<double>())
                                    : "not known"});
  };
  add("cycles", "far_less_near_cycles", "{:.1f}", 1);
  add("95% half-width [cycles]", "far_less_near_cycles_95", "{:.2f}", 1);
  add("ns", "far_less_near_ns", "{:.2f}", 1);
  add("clock of the SMs [MHz]", "sm_clock_hz", "{:.0f}", 1e-6);
  add("R2 as a sum of SM and line", "additive_r2", "{:.3f}", 1);
  add("R2 with a product", "with_product_r2", "{:.3f}", 1);
  return table;
}

}  // namespace

std::string crossing_page(const json& crossing) {
  const bool by_latency = crossing.value("kind", "crossing") == "latency";
  const std::string per = by_latency ? "between_ends" : "crossing";
  const auto row = [&](const char* data) -> const json& {
    return crossing.at(fmt::format("{}_pj_per_bit_{}", data, per));
  };
  const json& energy = by_latency ? crossing.at("energy_pj_per_bit_ns") : row("energy");
  const std::string device = crossing.value("device", "");
  Html page((by_latency ? "L2 ways of " : "L2 crossing of ") + device,
            crossing.value("virtual", false));
  if (energy.at("value").is_null()) {
    page.answer("No figure: " + energy.at("status").get<std::string>(),
                {energy.value("reason", "")});
  } else if (by_latency) {
    page.answer(crossing_figure(energy) + " pJ per bit and ns",
                {"95% interval; random data. " + crossing.at("meaning").get<std::string>(),
                 "A board sensor's figure includes the losses of the voltage regulators."});
  } else {
    page.answer(crossing_figure(energy) + " pJ per bit and crossing",
                {"95% interval; random data between the two sides of the L2.",
                 "Per crossing, not per millimetre: no floorplan of this part is public.",
                 "A board sensor's figure includes the losses of the voltage regulators."});
  }
  page.section("Energy");
  Table figures{by_latency ? "Energy per bit between the ends of the latencies"
                           : "Energy per bit and crossing",
                {{"data", false}, {"pJ/bit", false}},
                {}};
  figures.rows.push_back({"random", crossing_figure(row("energy"))});
  figures.rows.push_back({"zeros", crossing_figure(row("zero_data"))});
  figures.rows.push_back({"random less zeros", crossing_figure(row("data_part"))});
  page.table(figures);
  if (by_latency) page.table(latency_table(crossing.at("latency")));
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
  Table parts{"Half-width of the 95% interval that each source alone would leave",
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
