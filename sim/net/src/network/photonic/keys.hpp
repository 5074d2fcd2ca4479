// Keys of the photonic networks: their rows, and the checks beyond them.
#pragma once

#include "ww/core/result.hpp"
#include "ww/sim/net/config.hpp"

namespace ww::sim::net::photonic {

void photonic_keys(NetworkConfig& config, BoundKeys& keys);

// Checks rules that concern several keys. Errors, by key: out_of_range, invalid_argument.
// Precondition: width, height and concentration are those of a network.
[[nodiscard]] Status validate(const NetworkConfig& config);

}  // namespace ww::sim::net::photonic
