// Facts that every campaign has beside campaign_keys.
#pragma once

namespace ww::microbench {

// The plan before the device was tuned, as JSON: what a campaign that was killed early was asked
// for.
inline constexpr const char* kAskedFact = "asked";

}  // namespace ww::microbench
