// The recording of a campaign by a command: its line of progress, what is said where it ends early,
// and what all answers of recorded campaigns share.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "ww/core/campaign_store.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::cli {

// Records a campaign. `label` and `unit` are those of the line of progress; `go_on` says how an
// interrupted recording goes on. The summary of a complete campaign. Otherwise nothing: the reason
// is printed then, and `exit_code` is what the command returns.
std::optional<microbench::CampaignSummary> record(
    const std::string& label, const std::string& unit, const std::string& go_on, int& exit_code,
    const std::function<Result<microbench::CampaignSummary>(const microbench::ProgressFunction&)>&
        run);

}  // namespace ww::cli
