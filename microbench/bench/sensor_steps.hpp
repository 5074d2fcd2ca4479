// Finds the steps of a sensor from its recorded readings.
#pragma once

#include <optional>
#include <span>

#include "ww/core/campaign_store.hpp"

namespace ww::microbench {

// How far apart the steps of the energy accumulator are [s]; nothing where there is none to go by,
// or one that departs from the power register by more than 5%.
// `period_s`: of a sensor that moves it with every refresh.
[[nodiscard]] std::optional<double> energy_interval_s(std::span<const StoredRun> runs,
                                                      double period_s);

// The smallest difference between two power readings [W]: the sensor resolves no less; 0 where all
// are equal.
[[nodiscard]] double smallest_step_w(std::span<const StoredRun> runs);

}  // namespace ww::microbench
