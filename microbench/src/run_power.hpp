// What a run drew.
#pragma once

#include <optional>

#include "ww/core/campaign_store.hpp"

namespace ww::microbench {

// Mean power [W] from `settle_s` after the run's start to its end: from the energy counter where it
// moved often enough, else the mean reading. Nothing where there are too few readings.
[[nodiscard]] std::optional<double> power_of(const StoredRun& run, double settle_s);

// Mean voltage [V] over the same time; nothing where the sensor shows none.
[[nodiscard]] std::optional<double> voltage_of(const StoredRun& run, double settle_s);

}  // namespace ww::microbench
