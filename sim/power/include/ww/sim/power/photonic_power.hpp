// Computes the energy of a photonic network: lasers, ring tuning, modulators and detectors.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/power/link_budget.hpp"
#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {

struct PhotonicPowerConfig {
  OpticalLosses losses;
  Crosstalk crosstalk;
  BudgetScope scope{BudgetScope::all_rings};
  // Numbers that replace those of the scope, if set.
  std::optional<int> splitters, off_rings, crossings;
  double receiver_uw{36};  // GPUOPT, table 3, "photodetector power", read as the light it needs
  double laser_efficiency{0.25};  // wall plug to light: DSENT's default; GPUOPT gives none
  // DSENT (Sun et al., NOCS 2012) for 64 wavelengths and 16 banks: 63.6 mW of heaters, 1024 rings
  // (thermal tuning with bit reshuffling).
  double tuning_uw_per_ring{62.13};
  // dsent_link() at 22 nm, 10 Gb/s, table 3's losses and random data: drivers at their optimum, and
  // the sampler and latch of a receiver. (36 uW read as electrical power are 3.6 fJ.)
  double modulator_fj_per_bit{44.61};
  double detector_fj_per_bit{4.05};
};

struct PhotonicEnergy {
  Picojoule laser{}, tuning{}, modulators{}, detectors{};
  LinkBudget budget;
  Watt unit{};  // electrical, of the lasers of one lit unit

  [[nodiscard]] std::array<std::pair<const char*, Picojoule>, 4> components() const;
};
// Adds the components to an object that may have other keys: {laser, tuning, modulators, detectors}
// in pJ and "photonic": {link budget, wavelength_uw, unit_w}.
void add_to_json(nlohmann::json& json, const PhotonicEnergy& energy);

// Errors, by key: those of link_budget; out_of_range for an efficiency outside 0 to 1, energies or
// tuning below 0, a network without lasers (photonic.data_units).
[[nodiscard]] Result<PhotonicEnergy> photonic_energy(const PhotonicEvents& events,
                                                     const PhotonicPowerConfig& config);

}  // namespace ww::sim::power
