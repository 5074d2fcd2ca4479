// The page of a calibration that consists of tables.
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "pages/ways.hpp"

namespace ww::report {
namespace {

PackageWays identified_ways(const calibration::Calibration& calibration) {
  std::map<std::string, double> figures;
  for (const ww::Figure& figure : calibration.figures()) {
    if (figure.value) figures[figure.name] = *figure.value;
  }
  return package_ways(figures);
}

// The columns that people see.
Table table_of(const ww::Table& from) {
  Table table{from.heading, {}, {}};
  for (const ww::Column& column : from.columns) {
    if (!column.title.empty()) table.columns.push_back({column.title, column.number});
  }
  for (const auto& row : from.rows) {
    auto& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!from.columns[i].title.empty()) cells.push_back(row[i].text);
    }
  }
  return table;
}

}  // namespace

std::string tables_page(const calibration::Calibration& calibration) {
  const calibration::Page page = calibration.page();
  Html html(page.title, calibration.provenance().is_virtual);
  html.answer(page.answer, page.notes);
  for (const calibration::Section& section : page.sections) {
    html.section(section.heading);
    if (section.package_map) {
      html.drawing(
          package_map(identified_ways(calibration), "energy per bit by way between dies", "pJ/bit"),
          "The package as a block diagram: four I/O dies, two compute dies (XCDs) on each, two "
          "memory stacks (HBM) beside each. Which die stands where is its maker's drawing; "
          "nothing is to scale. A way without colour is not identified.");
    }
    for (const ww::Table& table : section.tables) html.table(table_of(table));
  }
  return html.finish();
}

}  // namespace ww::report
