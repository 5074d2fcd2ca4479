// A fit beside the sealed truth, which comes in as data.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/calibration/calibration.hpp"

namespace ww::calibration {

// A number of an object; nothing where it is absent or null.
[[nodiscard]] std::optional<double> number_at(const nlohmann::json& object, const char* key);
// Nothing without both ends.
[[nodiscard]] std::optional<bool> covers(const std::optional<double>& low, double truth,
                                         const std::optional<double>& high);
// The sum of a column. Error bad_data: there is no such column.
[[nodiscard]] Result<double> sealed_joules(const std::map<std::string, double>& sealed_j,
                                           const std::string& column);
// Puts an estimate beside the truth: joules with their ends, whether they hold it, the error and
// the half-width [%]. Nothing where there is no estimate.
void judge(nlohmann::json& row, const std::optional<Interval>& estimate_j, double truth_j);
// Returns the results of judge() as columns of a table: joules, low, high, error, covered.
[[nodiscard]] std::vector<Cell> judged_cells(const nlohmann::json& row);
// "-3% +- 20%, covered yes".
[[nodiscard]] std::string judged_text(const nlohmann::json& row);
// A number of a row in four digits, or a dash.
[[nodiscard]] std::string number_text(const nlohmann::json& row, const char* key);

// The answer of a kind whose figures are all that there is to score: a row for each of them that
// the truth names, too.
[[nodiscard]] Answer score_figures(const Calibration& calibration, const Revealed& truth);

}  // namespace ww::calibration
