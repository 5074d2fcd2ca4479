// Calibration of packages of several compute dies: energy per bit of the ways between dies.
#pragma once

#include <filesystem>
#include <optional>

#include "commands/recording.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/microbench/chiplet.hpp"

namespace ww::cli {

// Runs the campaign, and writes model.json and the report beside it; the exit code.
int calibrate_chiplet(const microbench::ChipletRequest& request, bool json);
// Prints the answer of a recorded campaign of dies; the exit code, or nothing where the file is
// another kind of campaign.
std::optional<int> fit_recorded_chiplet(const CampaignStore& store, const RecordedFit& wanted);

}  // namespace ww::cli
