// What a network's routers look like to the energy accounting.
#pragma once

#include "ww/sim/net/config.hpp"
#include "ww/sim/power/accounting.hpp"

namespace ww::sim::net {

// Ports, virtual channels, buffers and width of the routers; the rest as EnergyConfig has it.
[[nodiscard]] power::EnergyConfig energy_config(const NetworkConfig& network);

}  // namespace ww::sim::net
