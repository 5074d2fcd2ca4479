// The constructors behind the factory table. Precondition: validate(config) has succeeded.
#pragma once

#include <memory>
#include <vector>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

std::unique_ptr<Network> make_ideal(const NetworkConfig& config);
std::unique_ptr<Network> make_mesh(const NetworkConfig& config);  // also adaptive, priority
std::unique_ptr<Network> make_deflection(const NetworkConfig& config);
std::unique_ptr<Network> make_dapper(const NetworkConfig& config);
// Compressors around the network that carries the packets, of the same size and classes.
std::unique_ptr<Network> make_approx_noc(const NetworkConfig& config,
                                         std::unique_ptr<Network> mesh);
std::unique_ptr<Network> make_photonic(const NetworkConfig& config);  // all three of light
// config.planes: one network of one class for each of config.classes.
std::unique_ptr<Network> make_planes(const NetworkConfig& config,
                                     std::vector<std::unique_ptr<Network>> planes);

}  // namespace ww::sim::net
