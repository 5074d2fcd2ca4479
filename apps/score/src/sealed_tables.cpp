#include "sealed_tables.hpp"

#include <algorithm>
#include <optional>

#include "ww/measure/csv.hpp"
#include "ww/score/score.hpp"
#include "ww/sim/gpu/sealed_columns.hpp"

namespace ww::score {

Result<std::vector<SealedJoules>> sealed_joules(std::string_view table, const std::string& source) {
  WW_ASSIGN(rows, measure::parse_csv(table, source));
  std::vector<SealedJoules> joules;
  if (rows.empty()) return joules;
  const measure::CsvColumns columns(rows.front(), source);
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    SealedJoules& sum = joules.emplace_back();
    for (const std::string& name : rows.front().fields) {
      if (!name.ends_with("_j")) continue;
      WW_ASSIGN(part, columns.number(*row, name));
      const bool core =
          std::ranges::find(sim::gpu::kCoreColumns, name) != sim::gpu::kCoreColumns.end();
      (core ? sum.core : sum.others) += part;
    }
  }
  return joules;
}

Result<std::map<std::string, double>> sealed_sums(std::string_view tables) {
  const std::string source = "the sealed energies";
  std::map<std::string, double> sums;
  std::vector<std::string> names;
  std::optional<measure::CsvColumns> columns;
  WW_TRY(measure::each_csv_row(tables, source, {}, [&](measure::CsvRow& row) -> Status {
    if (row.fields.front() == "Kernel_Name") {
      columns.emplace(row, source);
      names.clear();
      for (const auto& field : row.fields) {
        if (field.ends_with("_j")) names.emplace_back(field);
      }
      return {};
    }
    if (!columns) return fail(ErrorCode::parse_error, "the table has no header", source);
    for (const std::string& name : names) {
      WW_ASSIGN(joules, columns->number(row, name));
      sums[name] += joules;
    }
    return {};
  }));
  return sums;
}

}  // namespace ww::score
