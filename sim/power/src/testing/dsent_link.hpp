// A ring-based link as DSENT models it (Sun et al., NOCS 2012): the light that its receiver needs,
// the energy of its modulator, and the laser for both at their best. It is a reference for
// link_budget(), and the source of the default energies of modulators and detectors.
#pragma once

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"

namespace ww::sim::power {

// Losses in dB. Defaults are DSENT's. DSENT has names for coupler and splitter losses, but reads
// neither.
struct DsentLosses {
  double laser_diode_db{1};
  double waveguide_db_per_cm{1};
  double ring_through_db{0.01};
  double ring_drop_db{1};
  double detector_db{1};
};
// The losses of GPUOPT's table 3 that DSENT has parameters for.
[[nodiscard]] DsentLosses gpuopt_losses();

struct DsentLinkConfig {
  int node_nm{22};  // 45, 22 or 11: DSENT's bulk, bulk and tri-gate low-threshold processes
  DsentLosses losses{};
  int wavelengths{64};
  double bits_per_second{10e9};  // a wavelength
  int readers{15};               // along the waveguide; the worst one is lit
  double length_cm{10};
  double efficiency{0.25};  // of the laser
  // The modulator's insertion loss and extinction ratio. If both are 0, they are chosen so that
  // laser and modulator together need least power, at half use.
  double insertion_db{};
  double extinction_db{};
};

struct DsentLink {
  Watt laser{};   // electrical, all wavelengths
  Watt tuning{};  // heaters of all rings, writer's and readers'; data shifted to the nearest ring
  double sensitivity_uw{};        // light at the detector
  double modulator_fj_per_bit{};  // random data: a quarter of the bits rise
  double detector_fj_per_bit{};   // sampler and latch of one reader
  double insertion_db{};
  double extinction_db{};
};

// Errors, by key: not_found (node_nm), out_of_range (a loss, length or count below 0, one of
// insertion_db and extinction_db alone), bad_data (no modulator reaches these values at this rate).
[[nodiscard]] Result<DsentLink> dsent_link(const DsentLinkConfig& config);

}  // namespace ww::sim::power
