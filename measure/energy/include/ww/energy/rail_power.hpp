// Mean power of a rail in a stored run.
#pragma once

#include <optional>
#include <string_view>

#include "ww/core/campaign_store.hpp"

namespace ww::energy {

// Mean power [W] from `settle_s` after the run's start to its end: the energy between the first and
// the last reading of the rail's accumulator in that time, over the firmware's own time between
// them where it says that. Absent with fewer than three readings, or where the accumulator stood
// still or ran backward.
[[nodiscard]] std::optional<double> rail_power(const StoredRun& run, std::string_view rail,
                                               double settle_s);

// Mean power of the power sensor: by its energy accumulator, or the mean of its power where it has
// none.
[[nodiscard]] std::optional<double> sensor_power(const StoredRun& run, double settle_s);

}  // namespace ww::energy
