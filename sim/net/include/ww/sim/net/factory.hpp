// Networks by name. A new one is one file in src/impl and one line in factory.cpp.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// Errors: those of validate(config); not_found for an unknown config.network.
[[nodiscard]] Result<std::unique_ptr<Network>> make_network(const NetworkConfig& config);

// "ideal", "mesh", ...
[[nodiscard]] std::vector<std::string_view> network_names();

}  // namespace ww::sim::net
