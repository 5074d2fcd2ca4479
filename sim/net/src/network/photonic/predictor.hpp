// Does a station need power in the next epoch? GPUOPT, section 6.2, equations (1) and (2).
#pragma once

#include <cstdint>

#include "ww/sim/net/photonic_config.hpp"

namespace ww::sim::net::photonic {

// A station's counts of one epoch.
struct StationCounts {
  std::uint64_t received{};  // M_R, messages
  std::uint64_t sent{};      // M_S, messages
  std::uint64_t waited{};    // W, core cycles, summed over messages: see LaserControl
  std::uint64_t pending{};   // P_E, messages that wait in the station
};

// Psi: (M_R >= RT and M_S <= alpha RT) or (W >= WT) or (M_R <= RT and M_S < alpha M_R).
[[nodiscard]] bool restr_pred(const StationCounts& counts, const PhotonicConfig& keys);

// zeta: (M_R >= alpha RT) or (W >= alpha WT) or (P_E >= beta M_R); without flex_literal the last
// asks for P_E > 0 too.
[[nodiscard]] bool flex_pred(const StationCounts& counts, const PhotonicConfig& keys);

}  // namespace ww::sim::net::photonic
