#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "html.hpp"
#include "page_kinds.hpp"
#include "values.hpp"

namespace ww::report {

using nlohmann::json;

std::string reproduction_page(const json& reproduction) {
  Html page("Reproduction of " + text_of(reproduction, "paper"),
            reproduction.value("virtual", true));
  std::map<std::string, int> count;
  for (const json& row : reproduction.at("rows")) ++count[text_of(row, "status")];
  std::string statuses;
  for (const auto& [status, rows] : count) {
    statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", rows, status);
  }
  page.answer(
      fmt::format("{} of {} figures match", count["matches"], reproduction.at("rows").size()),
      {statuses + ".",
       fmt::format("The paper's figure where its text states it, beside ours from {}. "
                   "by_construction: the figure set a constant of the virtual chip or of "
                   "the method, so agreement proves nothing.",
                   text_of(reproduction, "device"))});
  for (const json& figure : list_of(reproduction, "charts")) {
    BarChart chart;
    chart.title = text_of(figure, "title");
    chart.description = text_of(figure, "description");
    chart.unit = text_of(figure, "unit");
    chart.mark_name = text_of(figure, "mark");
    for (const json& name : figure.at("legend")) chart.legend.push_back(name.get<std::string>());
    for (const json& entry : figure.at("bars")) {
      Bar bar;
      bar.name = text_of(entry, "name");
      for (const json& part : entry.at("parts")) {
        bar.parts.push_back(part.is_number() ? part.get<double>() : 0.0);
      }
      if (const double mark = number_of(entry, "mark"); std::isfinite(mark)) bar.mark = mark;
      chart.bars.push_back(std::move(bar));
    }
    if (chart.bars.empty()) {
      page.section(chart.title);
      page.add("<p>No data: the rows below say why.</p>");
      continue;
    }
    page.chart(chart.title, chart);
  }
  Table table{
      "Every row of the paper's figures and tables",
      {{"figure"}, {"quantity"}, {"paper", true}, {"ours", true}, {"unit"}, {"status"}, {"note"}},
      {}};
  for (const json& row : reproduction.at("rows")) {
    table.rows.push_back({text_of(row, "figure"), text_of(row, "quantity"),
                          cell_text(row.at("paper")), cell_text(row.at("ours")),
                          text_of(row, "unit"), text_of(row, "status"), text_of(row, "note")});
  }
  page.section("All rows");
  page.table(table);
  return page.finish();
}

}  // namespace ww::report
