// The estimate of a program's interconnect energy beside the sealed truth of the same run.
#include "commands/score_estimate.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "estimate/estimate_command.hpp"
#include "ww/measure/csv.hpp"

namespace ww::cli {
namespace {

// Sums of the columns of joules. Each process of the program has written a table with a header of
// its own.
Result<std::map<std::string, double>> sealed_sums(const std::string& text) {
  const std::string source = "the sealed energies";
  std::map<std::string, double> sums;
  std::vector<std::string> names;
  std::optional<measure::CsvColumns> columns;
  WW_TRY(measure::each_csv_row(text, source, {}, [&](measure::CsvRow& row) -> Status {
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

}  // namespace

Result<calibration::Answer> score_estimate(const std::string& model,
                                           const microbench::DeviceRequest& device,
                                           const std::vector<std::string>& command) {
  EstimateArguments arguments;
  arguments.model = model;
  arguments.device = device;
  arguments.command = command;
  arguments.sealed = true;
  arguments.anyway = true;  // how wrong a flagged model is can be asked; its figures stay marked
  arguments.json = true;    // the program's own output stays away
  WW_ASSIGN(done, read_application(arguments));
  if (done.program_exit_code != 0) {
    return fail(ErrorCode::bad_data,
                fmt::format("the program ended with {}", done.program_exit_code), command.front());
  }
  WW_ASSIGN(sums, sealed_sums(done.sealed));
  return done.model->score_application(done.traffic, done.request, sums);
}

}  // namespace ww::cli
