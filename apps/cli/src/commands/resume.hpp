// calibrate --resume: what the user leaves out is in the campaign.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::cli {

// Sets device, seed, chip and mode of the request from the campaign in its folder, except what the
// command line gives; what it gives differently is refused where the campaign is opened. Errors:
// invalid_argument (no campaign to resume), those of reading it.
Status take_from_campaign(microbench::CampaignRequest& request, const CLI::App& command);

// Error invalid_argument: the recording that a command is about to use is of another device, chip
// or seed than the command line names.
Status refuse_other_recording(const CampaignStore& store, const CLI::App& command);

// "go on with: wirewatt calibrate --resume --out FOLDER", as a shell takes it. `more`: options
// whose values no campaign has.
[[nodiscard]] std::string resumed_calibration(const std::filesystem::path& folder,
                                              const std::vector<std::string>& more = {});

}  // namespace ww::cli
