// Energies of a simulation as people read them.
#pragma once

#include <string>

#include "ww/core/figure.hpp"

namespace ww::cli {

inline constexpr double kJoulesPerPicojoule = 1e-12;

// "6.06 uJ", and "6.06 uJ (3.81..40.4)", of picojoules.
[[nodiscard]] std::string energy_text(double pj);
[[nodiscard]] std::string energy_text(const Interval& pj);

}  // namespace ww::cli
