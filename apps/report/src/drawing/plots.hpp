// The report's plots, from model.json and the raw samples.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "drawing/svg.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::report {

[[nodiscard]] Plot power_over_time(const nlohmann::json& model, const std::vector<StoredRun>& runs);
[[nodiscard]] Plot idle_against_temperature(const nlohmann::json& model);
[[nodiscard]] Plot short_against_long(const nlohmann::json& model);
[[nodiscard]] Plot energy_against_distance(const nlohmann::json& model);
[[nodiscard]] Plot residuals(const nlohmann::json& model);
[[nodiscard]] Plot corrected_against_uncorrected(const nlohmann::json& model,
                                                 const nlohmann::json& score);

}  // namespace ww::report
