// The page of a calibration of crossings.
#include <fmt/format.h>

#include "crossings/crossings.hpp"
#include "requests.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

Table latency_table(const json& latency) {
  Table table{
      "Latency of far less that of near, a round trip", {{"quantity"}, {"value", true}}, {}};
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

Table interval_table(const json& half_widths) {
  Table table{"Half-width of the 95% interval that each source alone would leave",
              {{"source"}, {"pJ/bit", true}},
              {}};
  for (const auto& [source, half] : half_widths.items()) {
    table.rows.push_back({source, fmt::format("{:.3f}", half.get<double>())});
  }
  return table;
}

Table runs_table(const json& crossing) {
  Table table{"The campaign", {{"quantity"}, {"value", true}}, {}};
  for (const char* way : {"near", "far"}) {
    table.rows.push_back(
        {fmt::format("{}, rate at the shortest wait [bit/s]", way),
         fmt::format("{:.3g}", crossing.at(fmt::format("{}_bits_per_s", way)).get<double>())});
    table.rows.push_back(
        {fmt::format("{}, power over idle [W]", way),
         fmt::format("{:.2f}", crossing.at(fmt::format("{}_w", way)).get<double>())});
  }
  table.rows.push_back(
      {"greatest difference of near's and far's rates at one wait [%]",
       fmt::format("{:.2f}", 100 * crossing.at("greatest_rate_mismatch").get<double>())});
  for (const char* count : {"waits", "blocks", "runs", "rejected"}) {
    table.rows.push_back({count, std::to_string(crossing.at(count).get<int>())});
  }
  return table;
}

}  // namespace

Page Crossings::page() const {
  const bool latency = by_latency();
  const auto known = figures();
  const Figure& energy = known.front();
  Page page;
  page.title = (latency ? "L2 ways of " : "L2 crossing of ") + provenance_.device;
  const char* const losses =
      "A board sensor's figure includes the losses of the voltage regulators.";
  if (!energy.value) {
    page.answer = fmt::format("No figure: {}", to_string(energy.status));
    page.notes = {energy.reason};
  } else if (latency) {
    page.answer = interval_text(energy.interval()) + " pJ per bit and ns";
    page.notes = {"95% interval; random data. " + document_.at("meaning").get<std::string>(),
                  losses};
  } else {
    page.answer = interval_text(energy.interval()) + " pJ per bit and crossing";
    page.notes = {"95% interval; random data between the two sides of the L2.",
                  "Per crossing, not per millimetre: no floorplan of this part is public.", losses};
  }
  Table rows{
      latency ? "Energy per bit between the ends of the latencies" : "Energy per bit and crossing",
      {{"data"}, {"pJ/bit"}},
      {}};
  for (const auto& [name, key] : {std::pair{"random", "energy"}, std::pair{"zeros", "zero_data"},
                                  std::pair{"random less zeros", "data_part"}}) {
    Figure figure = row(key);
    figure.unit.clear();
    rows.rows.push_back({name, text(figure)});
  }
  page.sections.push_back({"Energy", false, {std::move(rows)}});
  if (latency) page.sections.back().tables.push_back(latency_table(document_.at("latency")));
  page.sections.push_back({"Controls", false, {controls_table(document_)}});
  page.sections.push_back(
      {"Interval", false, {interval_table(document_.at("half_widths_pj_per_bit_crossing"))}});
  page.sections.push_back({"Runs", false, {runs_table(document_)}});
  return page;
}

}  // namespace ww::calibration
