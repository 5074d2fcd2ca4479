// Keys of the photonic networks, checked.
#pragma once

#include "ww/core/result.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::sim::net::photonic {

// Errors, by key (photonic.llc_stations, ...): out_of_range, invalid_argument. Precondition: width,
// height and concentration are those of a network.
[[nodiscard]] Status validate(const NetworkConfig& config);

}  // namespace ww::sim::net::photonic
