// Describes a network's routers to the energy accounting.
#pragma once

#include "ww/sim/net/config.hpp"
#include "ww/sim/power/accounting.hpp"

namespace ww::sim::net {

// Fills in ports, virtual channels, buffers and width of the routers. The rest keeps the defaults
// of EnergyConfig.
[[nodiscard]] power::EnergyConfig energy_config(const NetworkConfig& network);

}  // namespace ww::sim::net
