// Energy of a device over a stretch of time, from its sensor's readings.
#pragma once

#include <cstdint>
#include <vector>

#include "ww/core/campaign_store.hpp"
#include "ww/session/bracket.hpp"

namespace ww::session {

// Readings as the sensor gave them, oldest first. From the accumulator where there is one, else the
// power readings integrated. The interval is what the readings at both ends leave open (one step of
// time at the highest power seen) and the gain's tolerance where it is declared. Unavailable with
// the reason where fewer than three readings fall inside.
[[nodiscard]] Joules energy_between(const std::vector<StoredSample>& readings, std::int64_t from_ns,
                                    std::int64_t to_ns, double gain_tolerance_95);

}  // namespace ww::session
