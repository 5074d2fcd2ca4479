#pragma once

#include <memory>

#include "ww/sim/net/i_network.hpp"

namespace ww::examples {

std::unique_ptr<ww::sim::net::Network> make_fixed_delay(const ww::sim::net::NetworkConfig& config);

}  // namespace ww::examples
