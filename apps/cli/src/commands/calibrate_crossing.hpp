// Calibration of parts without a public floorplan: energy per bit and crossing of the L2's sides.
#pragma once

#include <filesystem>
#include <optional>

#include "commands/recording.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/microbench/crossing.hpp"

namespace ww::cli {

struct CrossingArguments {
  microbench::CrossingRequest request;
  bool json{};
};
// The exit code.
int calibrate_crossing(const CrossingArguments& arguments);
// Prints the answer of a recorded campaign of crossings; the exit code, or nothing where the file
// is another kind of campaign. `folder` holds the recording.
std::optional<int> fit_recorded_crossing(const CampaignStore& store,
                                         const std::filesystem::path& folder,
                                         const RecordedFit& wanted);

}  // namespace ww::cli
