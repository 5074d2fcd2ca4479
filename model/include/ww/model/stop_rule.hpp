// When a campaign has measured enough: how wide the answer's interval is so far.
#pragma once

#include <optional>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::model {

// Half-width of the sensed interval of the energy per bit and mm, relative to the value. nullopt
// while the runs so far do not identify the energy. A quick fit with few bootstrap replicates,
// which suffices to decide whether to measure on. Errors: those of fit_campaign.
[[nodiscard]] Result<std::optional<double>> sensed_half_width(const CampaignStore& campaign);

}  // namespace ww::model
