// The page of a ladder.
#include <fmt/format.h>

#include "ladder/ladder.hpp"
#include "requests.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

Table stairs_table(const json& document) {
  Table table{
      "Latency of a load by the size of its set", {{"set [KiB]", true}, {"cycles", true}}, {}};
  for (const json& point : document.at("staircase")) {
    table.rows.push_back({fmt::format("{:.0f}", point.at("bytes").get<double>() / 1024),
                          fmt::format("{:.0f}", point.at("cycles").get<double>())});
  }
  return table;
}

Table missing_table(const json& document) {
  Table table{"Levels that are not reported", {{"level"}, {"why"}}, {}};
  for (const json& missing : document.at("not_reported")) {
    table.rows.push_back(
        {missing.at("name").get<std::string>(), missing.at("reason").get<std::string>()});
  }
  return table;
}

Table runs_table(const json& document) {
  Table table{"The campaign", {{"quantity"}, {"value", true}}, {}};
  const json& rates = document.at("rates_bits_per_s");
  table.rows.push_back({"rates [bit/s]", fmt::format("{:.3g} to {:.3g}", rates[0].get<double>(),
                                                     rates[1].get<double>())});
  table.rows.push_back(
      {"scatter of the runs [W]", fmt::format("{:.2g}", document.at("residual_w").get<double>())});
  for (const char* count : {"blocks", "runs", "rejected"}) {
    table.rows.push_back({count, std::to_string(document.at(count).get<int>())});
  }
  return table;
}

}  // namespace

Page Ladder::page() const {
  Page page;
  page.title = "Energy of a bit by level of " + provenance_.device;
  for (const char* level : {"l1", "l2", "cache", "memory"}) {
    const Figure found = figure(fmt::format("{}_read", level));
    if (!found.value) continue;
    if (!page.answer.empty()) page.answer += ", ";
    page.answer += fmt::format("{} {:.3g}", level, *found.value);
  }
  page.answer = page.answer.empty() ? "No figure" : page.answer + " pJ per bit read";
  page.notes = {
      "Marginal energy at the power sensor of a bit of random data, with the instructions that "
      "move "
      "it and all levels before: a mean over the rates of the campaign.",
      "The intervals (95%) have the sensor's gain and the regulator in them. Differences between "
      "levels share their instructions."};
  page.sections.push_back({"Energy", false, {ladder_table(document_)}});
  page.sections.push_back({"Levels", false, {levels_table(document_), stairs_table(document_)}});
  if (!document_.at("not_reported").empty()) {
    page.sections.back().tables.push_back(missing_table(document_));
  }
  page.sections.push_back({"Controls", false, {controls_table(document_)}});
  page.sections.push_back({"Published", false, {published_table()}});
  page.sections.push_back({"Runs", false, {runs_table(document_)}});
  return page;
}

}  // namespace ww::calibration
