// Energies of a simulation as people read them.
#pragma once

#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/sim/power/accounting.hpp"

namespace ww::cli {

inline constexpr double kJoulesPerPicojoule = 1e-12;

// "6.06 uJ", and "6.06 uJ (3.81..40.4)", of picojoules.
[[nodiscard]] std::string energy_text(double pj);
[[nodiscard]] std::string energy_text(const Interval& pj);

// A figure with its interval and a prefix of its unit, or why there is none.
[[nodiscard]] std::string prefixed(const Figure& figure);

// Energy, power, energy a flit and a bit, and the wires' share, as rows of a table.
[[nodiscard]] std::vector<std::vector<std::string>> figure_rows(
    const sim::power::EnergyFigures& figures);

}  // namespace ww::cli
