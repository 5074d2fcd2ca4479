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

// What `wirewatt fit` asks of a recording that is no campaign of one die's wires.
struct RecordedFit {
  std::filesystem::path out;  // file for the answer; empty: none
  std::string of_wires;  // an option that was given and goes with such a campaign alone; or empty
  bool json{};
};
// Error invalid_argument: `of_wires` was given. `what` names what the campaign in the store is of.
Status refuse_of_wires(const RecordedFit& wanted, const char* what, const CampaignStore& store);

// Prints the line above an answer: the device, and whether it is a virtual one.
void print_campaign_of(const CampaignStore& store);

}  // namespace ww::cli
