// Declares what each kind gives to the table of kinds.
#pragma once

#include <nlohmann/json.hpp>

#include "ww/calibration/kinds.hpp"

namespace ww::calibration {

using CalibrationResult = Result<std::unique_ptr<Calibration>>;

CalibrationResult parse_wires(nlohmann::json document, const std::string& origin, Admission);
CalibrationResult parse_crossings(nlohmann::json document, const std::string& origin, Admission);
CalibrationResult parse_package(nlohmann::json document, const std::string& origin, Admission);
CalibrationResult parse_ladder(nlohmann::json document, const std::string& origin, Admission);

Result<Fitted> fit_wires(const CampaignStore& campaign, const FitRequest& request);
Result<Fitted> fit_crossings(const CampaignStore& campaign, const FitRequest& request);
Result<Fitted> fit_package(const CampaignStore& campaign, const FitRequest& request);
Result<Fitted> fit_ladder(const CampaignStore& campaign, const FitRequest& request);

// Returns the recorded device's fact that a kind puts into its document.
[[nodiscard]] std::string fact(const CampaignStore& campaign, std::string_view key);
// The line above an answer: the device, and whether it is a virtual one.
[[nodiscard]] std::string device_line(const std::string& device, bool is_virtual);

}  // namespace ww::calibration
