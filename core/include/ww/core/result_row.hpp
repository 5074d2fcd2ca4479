// One figure with everything needed to trust it. A failed or missing figure has a status and a
// reason. It is never 0, because 0 would be taken for a measurement.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ww {

enum class RowStatus {
  ok,
  not_identified,  // the data cannot determine the figure
  transferred,     // carried over from another segment or device, not measured here
  unavailable,     // the device or the file does not offer it
  rejected,        // measured, but not to be trusted; the reason says why
  misfit,          // fitted by a form that the data contradict; it has a value, not to be relied on
  failed,
};
[[nodiscard]] std::string_view to_string(RowStatus status);

struct ResultRow {
  std::string name;
  std::optional<double> value;  // absent unless status is ok, transferred or misfit
  std::optional<double> low;    // 95% interval
  std::optional<double> high;
  std::string unit;
  RowStatus status{RowStatus::ok};
  std::string reason;
  std::string device;  // "virtual:w9100"; a virtual device says so
};

void to_json(nlohmann::json& json, const ResultRow& row);

}  // namespace ww
