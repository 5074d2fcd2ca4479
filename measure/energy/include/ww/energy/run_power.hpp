// Mean power, voltage and temperature of a stored run.
#pragma once

#include <optional>
#include <span>

#include "ww/core/campaign_store.hpp"

namespace ww::energy {

// Mean power [W] from `settle_s` after the run's start to its end, as energy_between has
// it. Absent if that gives no figure.
[[nodiscard]] std::optional<double> power_of(const StoredRun& run, double settle_s);

// Standard deviation [W] of single readings of the power register over the same time. Absent where
// power_of() takes it from an accumulator, or has none.
[[nodiscard]] std::optional<double> power_spread_of(const StoredRun& run, double settle_s);

// Smallest difference [W] between two powers that the register showed in any of the runs; 0 where
// none differ.
[[nodiscard]] double power_step_of(std::span<const StoredRun> runs);

// Mean voltage [V] over the same time; nothing where the sensor shows none.
[[nodiscard]] std::optional<double> voltage_of(const StoredRun& run, double settle_s);

// Standard deviation [V] of single readings over the same time; nothing below two of them.
[[nodiscard]] std::optional<double> voltage_spread_of(const StoredRun& run, double settle_s);

// Smallest difference [V] between two voltages that the sensor showed in any of the runs; 0 where
// none differ.
[[nodiscard]] double voltage_step_of(std::span<const StoredRun> runs);

// Mean temperature [C] over the same time; nothing where the sensor shows none.
[[nodiscard]] std::optional<double> temperature_of(const StoredRun& run, double settle_s);

}  // namespace ww::energy
