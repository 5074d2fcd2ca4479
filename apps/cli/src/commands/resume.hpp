// --resume: what the user leaves out is in the recording.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/campaign.hpp"

namespace ww::cli {

// Sets device, chip and seed from the recording, except what the command line gives. Returns its
// plan, or what was asked for where it ended before it had one; null where it ended before that.
// Errors: invalid_argument (no recording to resume), those of reading it.
Result<nlohmann::json> take_recorded(const std::filesystem::path& file, const CLI::App& command,
                                     microbench::DeviceRequest& request, std::uint64_t& seed);

// Sets device, seed, chip and mode of the request from the campaign in its folder, except what the
// command line gives; what it gives differently is refused where the campaign is opened. Errors:
// invalid_argument (no campaign to resume), those of reading it.
Status take_from_campaign(microbench::CampaignRequest& request, const CLI::App& command);

// Error invalid_argument: the recording that a command is about to use is of another device, chip
// or seed than the command line names.
Status refuse_other_recording(const CampaignStore& store, const CLI::App& command);

// "go on with: wirewatt COMMAND --resume --out FOLDER", as a shell takes it. `more`: options whose
// values no recording has.
[[nodiscard]] std::string resumed_by(const std::string& command,
                                     const std::filesystem::path& folder,
                                     const std::vector<std::string>& more = {});

}  // namespace ww::cli
