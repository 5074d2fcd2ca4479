// The published rows, kept apart from what is derived from them.
#pragma once

#include <vector>

#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::power {

[[nodiscard]] std::vector<RouterEnergy> build_router_table();

}  // namespace ww::sim::power
