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

// Records a campaign. `label` and `unit` are those of the line of progress; `resume_hint` says how
// an interrupted recording goes on. The summary of a complete campaign. Otherwise nothing: the
// reason is printed then, and `exit_code` is what the command returns.
std::optional<microbench::CampaignSummary> record(
    const std::string& label, const std::string& unit, const std::string& resume_hint,
    int& exit_code,
    const std::function<Result<microbench::CampaignSummary>(const microbench::ProgressFunction&)>&
        run);

// Error invalid_argument: the folder has a calibration without the recording (a file's name) that
// would go on, so the recording lies elsewhere, or nowhere any more.
Status refuse_foreign_model(const std::filesystem::path& folder, const char* recording);

// Name of the folder of a new recording: "wirewatt-virtual-w9100-20260131-120000", with `what`
// behind "wirewatt-" unless it is empty.
[[nodiscard]] std::string new_folder(const std::string& what, const std::string& device);

}  // namespace ww::cli
