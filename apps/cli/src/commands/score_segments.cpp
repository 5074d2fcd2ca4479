#include "commands/score_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/microbench/segments.hpp"

namespace ww::cli {

using nlohmann::json;

Result<json> score_segments(const std::filesystem::path& recording,
                            const sim::gpu::Revealed& revealed) {
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(fit, microbench::fit_segments(store));
  const auto or_null = [](const std::optional<double>& value) {
    return value ? json(*value) : json(nullptr);
  };
  json rows = json::array();
  struct Judged {
    const ResultRow* row;
    const char* constant;
  };
  for (const auto& [row, name] :
       {Judged{&fit.legs, "legs_energy_fj_per_bit_mm"},
        Judged{&fit.l2_memory, "l2_memory_energy_fj_per_bit_mm"},
        Judged{&fit.registers_l1, "registers_l1_energy_fj_per_bit_mm"},
        Judged{&fit.registers_l1_per_bit, "registers_l1_energy_fj_per_bit"}}) {
    const auto truth =
        std::ranges::find(revealed.constants, name, &sim::gpu::RevealedConstant::name);
    json entry{{"segment", row->name},      {"status", to_string(row->status)},
               {"reason", row->reason},     {"fit", or_null(row->value)},
               {"low", or_null(row->low)},  {"high", or_null(row->high)},
               {"truth", nullptr},          {"sensed_truth", nullptr},
               {"covered_sensed", nullptr}, {"unit", row->unit}};
    if (truth != revealed.constants.end()) {
      entry["truth"] = truth->truth;
      entry["sensed_truth"] = truth->sensed;
      if (row->low && row->high) {
        entry["covered_sensed"] = *row->low <= truth->sensed && truth->sensed <= *row->high;
      }
    }
    rows.push_back(std::move(entry));
  }
  return rows;
}

void print_score_segments(const json& rows) {
  const auto text = [](const json& value) {
    return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : std::string("-");
  };
  std::vector<std::vector<std::string>> table{
      {"SEGMENT", "UNIT", "TRUTH", "SENSED", "FIT", "LOW", "HIGH", "COVERED"}};
  for (const auto& row : rows) {
    table.push_back({row["segment"], row["unit"], text(row["truth"]), text(row["sensed_truth"]),
                     text(row["fit"]), text(row["low"]), text(row["high"]),
                     row["covered_sensed"].is_boolean()
                         ? row["covered_sensed"].get<bool>() ? "yes" : "no"
                         : row["status"].get<std::string>()});
  }
  print_table(table);
}

}  // namespace ww::cli
