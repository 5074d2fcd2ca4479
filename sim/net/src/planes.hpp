// A network for each message class, side by side.
#pragma once

#include <memory>
#include <vector>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// config.planes: one network of one class for each of config.classes.
std::unique_ptr<Network> make_planes(const NetworkConfig& config,
                                     std::vector<std::unique_ptr<Network>> planes);

}  // namespace ww::sim::net
