// XY meshes of one-cycle routers, sixteen routers at a time: the same cycles as VcNetwork's, bit
// for bit, on hosts with AVX-512.
#pragma once

#include <memory>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// Whether the host and the configuration allow it. Precondition: validate_mesh_router() has
// succeeded.
[[nodiscard]] bool fits_lanes(const NetworkConfig& config);

// Precondition: fits_lanes(config).
[[nodiscard]] std::unique_ptr<Network> make_lane_mesh(const NetworkConfig& config);

}  // namespace ww::sim::net
