// The recording of a campaign by a command: its line of progress, and what is said where it ends
// early.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ww/microbench/campaign.hpp"

namespace ww::cli {

// Records a campaign. `label` and `unit` are those of the line of progress; `go_on` says how an
// interrupted recording goes on. The summary of a complete campaign. Otherwise nothing: the reason
// is printed then, and `exit_code` is what the command returns.
std::optional<microbench::CampaignSummary> record(
    const std::string& label, const std::string& unit, const std::string& go_on, int& exit_code,
    const std::function<Result<microbench::CampaignSummary>(const microbench::ProgressFunction&)>&
        run);

// How a campaign of `calibrate` goes on.
[[nodiscard]] std::string resumed_calibration(const std::string& folder);

}  // namespace ww::cli
