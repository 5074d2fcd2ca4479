// The link budget: how much light a wavelength needs, so that the farthest detector sees enough.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "ww/core/result.hpp"
#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {

// Losses in dB, as positive numbers. Defaults: GPUOPT (Bashir and Sarangi, ACM JETC), table 3,
// which prints them negative.
struct OpticalLosses {
  double coupler_db{3.0103};  // "coupling loss 50%"
  double waveguide_db_per_cm{0.274};
  double bend_db{0.005};     // a quarter turn
  double splitter_db{0.36};  // each power splitter
  double crossing_db{0.05};
  double off_ring_db{0.005};  // a ring passed by that is tuned to another wavelength, or off
  double modulator_db{0.6};   // an on-state ring
  double drop_db{0.6};        // an on-state ring
  double detector_db{0.1};
};

// The elements between the laser and the detector. The numbers of splitters and of off-resonance
// rings decide the answer (7.4 to 20.5 dB for GPUOPT). The paper gives neither, so both are
// explicit.
struct OpticalPath {
  double waveguide_cm{};
  int bends{};
  int splitters{};
  int crossings{};
  int off_rings{};
  int broadcast_readers{1};  // readers that share the light; 1 if the others' detectors are off
};

// Crosstalk (the structure of Duong et al., the model that GPUOPT, section 3.4, names): the drop
// ring, a Lorentzian of quality factor Q, lets a little of each other wavelength through. Worst
// case: all of them carry light in phase with the noise.
struct Crosstalk {
  double low_nm{1450};  // of the comb: GPUOPT, section 5.3.3
  double high_nm{1650};
  double quality{9000};  // of the rings: an assumption
};

struct LinkBudget {
  double coupler_db{}, waveguide_db{}, bends_db{}, splitters_db{}, crossings_db{}, off_rings_db{};
  double modulator_db{}, drop_db{}, detector_db{}, broadcast_db{}, crosstalk_db{};
  double receiver_uw{};  // light that a detector needs

  [[nodiscard]] double total_db() const;
  // Light at the laser, a wavelength: receiver x 10^(total/10).
  [[nodiscard]] double wavelength_uw() const;
  [[nodiscard]] std::array<std::pair<std::string_view, double>, 11> terms() const;
};

// Noise over signal at a detector whose waveguide carries `wavelengths`, evenly spaced.
[[nodiscard]] double crosstalk_ratio(const Crosstalk& crosstalk, int wavelengths);
// The penalty of crosstalk: -10 log10(1 - 2 x ratio), because noise closes the eye from both sides.
[[nodiscard]] double crosstalk_penalty_db(double ratio);

// Errors, by key: out_of_range for a negative loss, length or count (loss.waveguide_db_per_cm,
// ...), a receiver that needs no light, a comb of no width; bad_data where crosstalk closes the
// eye. `wavelengths`: on the waveguide; 0 leaves crosstalk out.
[[nodiscard]] Result<LinkBudget> link_budget(const OpticalLosses& losses, const OpticalPath& path,
                                             double receiver_uw, const Crosstalk& crosstalk = {},
                                             int wavelengths = 0);

// The splitters, rings and lengths that the light of a network is assumed to pass.
enum class BudgetScope {
  worked,      // one splitter, the stations' own-wavelength rings, one pass: the minimum
  power_path,  // the cascade of splitters, the power waveguide and the data waveguide
  all_rings,   // power_path, and every ring of every bank on the data waveguide
};
[[nodiscard]] std::string_view to_string(BudgetScope scope);
// Error invalid_argument, key link_budget.
[[nodiscard]] Result<BudgetScope> budget_scope_from_string(std::string_view text);
[[nodiscard]] OpticalPath path_of(const PhotonicStructure& structure, BudgetScope scope);

}  // namespace ww::sim::power
