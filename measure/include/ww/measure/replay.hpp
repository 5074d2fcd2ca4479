// Replays a recorded campaign as a sensor. The readings return in their order and at their times.
#pragma once

#include <memory>

#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

// Replays one session. The clock starts at the session's first reading and moves only by
// sleep_until; new_readings returns what was read up to then. Errors: not_found (no such session),
// bad_data (no readings), and those of the store.
[[nodiscard]] Result<std::unique_ptr<Sensor>> make_replay_sensor(const CampaignStore& campaign,
                                                                 std::int64_t session);

}  // namespace ww::measure
