// Decides when a campaign has measured enough: how wide the answer's interval is so far.
#pragma once

#include <optional>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::model {

// Half-width of the energy per bit and mm as the campaign's own noise leaves it, relative to the
// value: the part of the sensed interval that more blocks narrow. nullopt while the runs so far do
// not identify the energy, or leave undecided whether the fit is a misfit. A quick fit with few
// bootstrap replicates, which suffices to decide whether to measure on. Errors: those of
// fit_campaign.
[[nodiscard]] Result<std::optional<double>> sensed_half_width(const CampaignStore& campaign);

}  // namespace ww::model
