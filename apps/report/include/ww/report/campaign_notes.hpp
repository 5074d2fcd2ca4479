// What a campaign noted of how its device was opened, in a line.
#pragma once

#include <string>

#include "ww/core/campaign_store.hpp"

namespace ww::report {

// What was seen of the caches of shader arrays; empty on devices that have none.
[[nodiscard]] std::string array_cache_note(const CampaignStore& campaign);

}  // namespace ww::report
