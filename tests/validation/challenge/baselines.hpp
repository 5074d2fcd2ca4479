// Applies simpler methods to the same campaign. They see the readings, the floorplan and the
// payload, and none of the truth.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "die.hpp"
#include "ww/core/campaign_store.hpp"

namespace ww::challenge {

// Two answers, each with value_fj_per_bit_mm (null where it has none):
//   two_plateaus: the farthest pair's mean power less the nearest pair's of the same quadrant, over
//     rate and distance; low and high from the scatter of its repetitions.
//   iiswc16: the same of all quadrants' nearest and farthest engines, after idle power as a cubic
//   of
//     the sensor's temperature is taken off (Adhinarayanan et al., IISWC 2016, sections IV and V).
//     The paper prints no interval.
// `settle_s` of a plateau is left out.
[[nodiscard]] nlohmann::json baselines(const std::vector<StoredRun>& runs, const Blocks& published,
                                       double settle_s);

}  // namespace ww::challenge
