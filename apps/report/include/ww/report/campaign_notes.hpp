// A line about how a campaign opened its device.
#pragma once

#include <string>

#include "ww/core/campaign_store.hpp"

namespace ww::report {

// A line about the caches of shader arrays; empty on devices that have none.
[[nodiscard]] std::string array_cache_note(const CampaignStore& campaign);

}  // namespace ww::report
