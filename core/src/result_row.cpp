#include "ww/core/result_row.hpp"

#include <nlohmann/json.hpp>

namespace ww {

std::string_view to_string(RowStatus status) {
  switch (status) {
    case RowStatus::ok: return "ok";
    case RowStatus::not_identified: return "not_identified";
    case RowStatus::transferred: return "transferred";
    case RowStatus::unavailable: return "unavailable";
    case RowStatus::rejected: return "rejected";
    case RowStatus::misfit: return "misfit";
    case RowStatus::failed: return "failed";
  }
  return "unknown";
}

void to_json(nlohmann::json& json, const ResultRow& row) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  json = {{"name", row.name},       {"value", number(row.value)},
          {"low", number(row.low)}, {"high", number(row.high)},
          {"unit", row.unit},       {"status", to_string(row.status)},
          {"reason", row.reason},   {"device", row.device}};
}

}  // namespace ww
